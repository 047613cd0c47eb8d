// SPDX-License-Identifier: MIT
// openmp/runtime/affinity.hpp -- places: which CPUs the members of a region run on (OMP_PLACES, OMP_PROC_BIND, GOMP_CPU_AFFINITY)
#ifndef LOCKSTEP_OPENMP_RUNTIME_AFFINITY_HPP
#define LOCKSTEP_OPENMP_RUNTIME_AFFINITY_HPP

#include <vector>

#include "platform/topology.hpp"

#include "abi.hpp"
#include "part.hpp"
#include "text_reader.hpp"

namespace lockstep::openmp::affinity {

/// Whether threads are bound at all in this process: places are known, and the first level is not bind(false).
bool is_on() noexcept;
/// How many CPUs the calling thread may use now (if threads are bound: the process), at most the container's quota.
int available_cpus() noexcept;
/// The places of a thread that is in no region.
thread_places initial_places() noexcept;
/// The places of member `rank` of a region of `size` members, bound as `how` says. A thread with the places `parent`
/// encountered the region. Pure, except that it reads the list of places.
thread_places places_of_member(const thread_places& parent, unsigned rank, unsigned size,
                               proc_bind how) noexcept;
/// Binds the calling thread to a place, unless it is there already; -1 lets it go where the process may.
void bind_this_thread(int place) noexcept;
/// Binds the calling thread to these CPUs. False where the system refuses, or can not: it runs where it did.
bool bind_to(const std::vector<unsigned>& cpus) noexcept;

/// Called before a thread's first region, and before the first question where it is. If threads are bound, it gets a
/// place.
void place_initial_thread(part& of) noexcept;

/// Whether this process could run on a CPU when it started.
bool may_use(unsigned cpu) noexcept;
/// Reads OMP_PLACES or GOMP_CPU_AFFINITY. False: the text is wrong, or names no CPU that this process may use.
bool read_places(const char* text) noexcept;
bool read_cpu_affinity(const char* text) noexcept;
/// KMP_AFFINITY, which makes places. False: the text is wrong.
struct kmp_request {
  proc_bind bind = proc_bind::no;  ///< no: it asks for no binding
  bool is_verbose = false;
  bool is_reset = false;  ///< outside of regions initial threads may use all CPUs of the process
};
bool read_kmp_affinity(const char* text, kmp_request& asked) noexcept;
/// KMP_HW_SUBSET: from now on the process uses only a part of its CPUs. False: the text is wrong.
bool read_hardware_subset(const char* text) noexcept;
/// Units of the machine, the outermost first. key_of() numbers the unit that a CPU is in; take_level() reads a name.
enum level : int { package, node, cache, core, thread, levels };
unsigned key_of(const cpu_place& at, level of) noexcept;
bool take_level(text_reader& from, level& result) noexcept;
/// Reads the rest of a place "{0,2:3,!3}" after the '{'.
bool take_rest_of_place(text_reader& from, std::vector<unsigned>& result);
/// CPUs "first[-last][:stride]", each a place: first <= last, stride > 0.
bool take_range(text_reader& from, std::vector<std::vector<unsigned>>& result);
/// Adds `cpu` to the place that `key` says; keys are in `keys`, in the order of their first CPU.
void add_by_key(std::vector<std::vector<unsigned>>& to, std::vector<unsigned>& keys, unsigned key,
                unsigned cpu);
/// For the two variables: all CPUs that the process may use. use_only() makes them fewer. use_places() takes those of
/// the places that may be used, or returns false.
const std::vector<unsigned>& usable_cpus() noexcept;
void use_only(const std::vector<unsigned>& cpus) noexcept;
bool use_places(const std::vector<std::vector<unsigned>>& list, const char* variable) noexcept;
void reset_after_regions() noexcept;
/// Whether bound threads are released when their regions are over.
bool resets() noexcept;

/// From now on threads are bound, if there are places.
void turn_on() noexcept;
/// One place for each CPU, if threads are to be bound and no variable says to what.
void use_each_cpu() noexcept;
int count() noexcept;
/// The CPUs of a place, ascending or in the order of the text. Requires: 0 <= place < count().
const std::vector<unsigned>& cpus_of(int place) noexcept;

}  // namespace lockstep::openmp::affinity

#endif  // LOCKSTEP_OPENMP_RUNTIME_AFFINITY_HPP
