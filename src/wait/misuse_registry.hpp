// SPDX-License-Identifier: MIT
// src/wait/misuse_registry.hpp -- who owns and waits on objects, where misuse is diagnosed (layer: wait)
#ifndef LOCKSTEP_SRC_WAIT_MISUSE_REGISTRY_HPP
#define LOCKSTEP_SRC_WAIT_MISUSE_REGISTRY_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/system.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include "../platform/fork.hpp"
#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if LOCKSTEP_DIAGNOSE_MISUSE
/// What a thread has to do with an object.
struct misuse_entry : list_node<misuse_entry> {
  enum class role { owner, reader, waiter, plan };

  const void* const object;
  const role as;
  const thread_label who;

  misuse_entry(const void* of, role is) : object(of), as(is), who(label_of_this_thread()) {}
};
#endif

namespace misuse {

/// The calling thread waits on `object` while this lives.
class waiting_scope {
 public:
  explicit waiting_scope(const void* object) : object_(object) { waiting(object_); }
  ~waiting_scope() {
    if (diagnosed) let_go(object_, detail::number_of_this_thread());
  }
  waiting_scope(const waiting_scope&) = delete;
  waiting_scope& operator=(const waiting_scope&) = delete;

 private:
  const void* object_;
};

#if LOCKSTEP_DIAGNOSE_MISUSE

/// Which thread holds or waits on which object. One table for the process. It is never destroyed, because static
/// objects may be used until the program ends.
class registry {
 public:
  using role = misuse_entry::role;
  static constexpr std::uint64_t any_thread = 0;

  /// ATFORK-3.
  static void watch_forks() noexcept { detail::watch_forks<around_fork>(); }

  static void add(const void* object, role as) {
    misuse_entry* const made = new misuse_entry(object, as);
    const home of(object);
    of.bucket.entries.push_back(*made);
  }
  /// Removes one entry of that thread; false if there is none.
  static bool remove(const void* object, role as, std::uint64_t thread = number_of_this_thread()) {
    const home of(object);
    misuse_entry* const found = of.find(object, as, thread);
    if (found != nullptr) of.bucket.entries.remove(*found);
    delete found;
    return found != nullptr;
  }
  /// Any thread in that role; its number is 0 if there is none.
  static thread_label find(const void* object, role as) {
    const home of(object);
    const misuse_entry* const found = of.find(object, as, any_thread);
    return found != nullptr ? found->who : thread_label();
  }

 private:
  /// The bucket of an object's entries, locked while this lives.
  struct home {
    misuse_bucket& bucket;
    const holding<system_mutex> lock;

    explicit home(const void* object) : bucket(bucket_of(object)), lock(bucket.lock) {}
    misuse_entry* find(const void* object, role as, std::uint64_t thread) const noexcept {
      misuse_entry* each = bucket.entries.first();
      while (each != nullptr && (each->object != object || each->as != as ||
                                 (thread != any_thread && each->who.number != thread))) {
        each = each->next();
      }
      return each;
    }
  };
  static misuse_bucket& bucket_of(const void* object) {
    watch_forks();
    const std::size_t place = reinterpret_cast<std::uintptr_t>(object) / 8;
    return process().misuse[place % process_state::misuse_size];
  }

  /// The child's table is consistent, and keeps only the entries of the thread that is left and those of plans.
  struct around_fork : guarded_by_section {
    static fork_section& section() { return process().misuse_forks; }
    static void lock() {
      for (misuse_bucket& each : process().misuse) each.lock.lock();
    }
    static void unlock() {
      for (misuse_bucket& each : process().misuse) each.lock.unlock();
    }
    static void in_child() {
      for (misuse_bucket& each : process().misuse) {
        for (misuse_entry *at = each.entries.first(), *next; at != nullptr; at = next) {
          next = at->next();
          if (at->as == role::plan || at->who.number == number_of_this_thread()) continue;
          each.entries.remove(*at);
          delete at;
        }
        each.lock.unlock();
      }
    }
  };
};

#endif

}  // namespace misuse
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_MISUSE_REGISTRY_HPP
