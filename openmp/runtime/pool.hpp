// SPDX-License-Identifier: MIT
// openmp/runtime/pool.hpp -- the threads that a thread has for the regions that it encounters
//
// Each thread that encounters regions has a pool for each level of nesting. A pool has threads of its own. Thread r is
// member r of the pool's regions as long as it lives, so the program finds its data of that thread again in the next
// region. The threads serve one team of the pool at a time.
//
//   POOL-3  If a region is larger than the team, the pool makes another team and the missing threads. A smaller region
//           runs on the first members of the team. After shrink_after_ smaller regions in a row, the pool makes a team
//           for the largest of them, so that the other threads do not disturb it. This costs 60 us, and so does the way
//           back. With 8 threads on 2 CPUs a region of 2 takes 6 us beside the others, and 0.4 without them. If such a
//           team has run 32 regions, the next one comes after half as many smaller regions, otherwise after twice as
//           many. Threads never end before the pool.
//   POOL-4  In a child of fork() there are no threads. The next region makes new ones, and a new team. The old team
//           stays as it is, because the forking thread may be in it.
//   POOL-5  Members read the data of the thread that encountered their region where that thread has it, and in `frame`.
//           Both are written only if they change. Otherwise each member would fetch lines again in every region.
//   POOL-6  Only the thread that has the pool calls it, and only while none of its regions runs.
#ifndef LOCKSTEP_OPENMP_RUNTIME_POOL_HPP
#define LOCKSTEP_OPENMP_RUNTIME_POOL_HPP

#include <pthread.h>

#include <cstdint>
#include <mutex>

#include "platform/fork.hpp"
#include "platform/process.hpp"
#include "team/team_core.hpp"

#include "control_variables.hpp"
#include "part.hpp"
#include "shared_region.hpp"

namespace lockstep::openmp {

/// What the members of a region read of it, besides the function, its data and what `outer` has.
struct region_frame {
  part* outer = nullptr;
  const task_variables* variables = nullptr;
  task_group* group =
      nullptr;  ///< the group of the implicit tasks; null except for parallel with task reductions
  bool is_special = false;  ///< members are bound or displayed, or a tool is told of them
  bool is_bound = false, is_displayed = false;
  proc_bind bind = proc_bind::no;
  task_variables own;  ///< used if `variables` points here: they differ from those of `outer`

  bool operator==(const region_frame&) const = default;
};

/// Whether a region needs only a team: no places, no lists of variables by level, no display of threads, no tool.
bool is_process_plain() noexcept;

/// A region, as its members get it.
struct member_call {
  outlined_function function;  ///< of the program
  void* data;
  const void* more;      ///< without `body`: the loop with which the part begins, or null
  part_body body;        ///< calls the function; null: function(data) does
  std::uintptr_t where;  ///< the pool; bit 0: it ends with a barrier, since it may make tasks

  pool& of() const noexcept { return *reinterpret_cast<pool*>(where & ~std::uintptr_t{1}); }
  bool ends_with_barrier() const noexcept { return (where & 1) != 0; }
  const loop_spec* loop() const noexcept {
    return body == nullptr ? static_cast<const loop_spec*>(more) : nullptr;
  }
  void call(part& self) const {
    if (body == nullptr) return function(data);
    body(self, *this);
  }

  void operator()(member& me) const noexcept;
};

}  // namespace lockstep::openmp

/// It travels with the announcement of the region. A copy cannot be told from the original.
template <>
struct lockstep::detail::may_be_copied<lockstep::openmp::member_call, true> : std::true_type {};
static_assert(lockstep::detail::job::travels_as<const lockstep::openmp::member_call>(),
              "no line of its own");

namespace lockstep::openmp {

class pool {
 public:
  pool() noexcept = default;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  /// Ends the threads.
  ~pool();

  /// A pool that is not in use, of the thread that has the record.
  static pool& idle_one(thread_record& of) noexcept {
    pool* const first = of.pools;
    return __builtin_expect(first != nullptr && !first->is_used_, 1) ? *first : next_idle_one(of);
  }
  /// Ends all pools of a thread that is in no region, with their threads.
  static void end_all(thread_record& of) noexcept;

  /// The next regions of the thread have new teams of the same threads, with the settings of that time.
  static void renew_teams(thread_record& of) noexcept;
  /// How many threads the thread has, itself among them.
  static int count_threads(const thread_record& of) noexcept;

  /// Before a region of `size` members, 2 or more.
  void prepare(unsigned size) noexcept {
    if (__builtin_expect(size != fitting_size_, 0)) fit(size);
  }
  /// Runs the region. False if it was cancelled.
  bool run(unsigned size, const member_call& what, call_site where) noexcept {
    is_used_ = true;
    served_team& team = *team_;
    const bool goes_on =
        team.host.run(size, detail::job::of<lockstep::member>(what), where, "parallel");
    is_used_ = false;
    return goes_on;
  }

  /// Nothing has to be set or bound at the begin of a part, and all levels of nesting are alike.
  const bool is_plain = is_process_plain();

  region_frame frame;
  ompt::region_info* told = nullptr;  ///< the region that runs; used only if there is a tool
  alignas(64) shared_region shared;
  pool* next = nullptr;  ///< of the same thread

  /// What a thread of the pool does.
  struct worker {
    pool& of;
    unsigned rank;
    worker* before;
    pthread_t thread;
  };

 private:
  static constexpr unsigned first_shrink_after = 16, most_shrink_after = 64, worthwhile = 32;

  struct served_team {
    served_team(pool& its_pool, const detail::resolved_team& made, unsigned its_size);

    detail::team_host host;
    pool& of;
    unsigned size;
    served_team* next = nullptr;  ///< of the process
    detail::fork_listener listener;
  };

  static pool& next_idle_one(thread_record& of) noexcept;
  /// Provides a team for regions of this size.
  [[gnu::noinline]] void fit(unsigned size) noexcept;
  void make_team(unsigned size) noexcept;
  void start_threads(unsigned size) noexcept;
  void release_team() noexcept;
  static void in_child(void* team) noexcept;
  // Teams do not end with the process: their ledgers are printed at its exit, if LOCKSTEP_LEDGER asks for them.
  static void list(served_team& one) noexcept;
  static void unlist(served_team& one) noexcept;
  static void print_ledgers() noexcept;
  static served_team* first_team;
  static bool is_printed_at_exit;

  static void* run_worker(void* self) noexcept;
  void serve(unsigned rank) noexcept;

  bool is_used_ = false;
  bool is_orphaned_ = false;   ///< POOL-4
  unsigned fitting_size_ = 0;  ///< a region of this size needs no look at the team
  unsigned smaller_size_ = 0,
           smaller_regions_ = 0;  ///< this many regions in a row had at most smaller_size_ members
  unsigned shrink_after_ = first_shrink_after;
  bool is_outdated_ = false;  ///< the team was made with other settings
  bool has_shrunk_ = false;   ///< the team was made for smaller regions (POOL-3)
  unsigned started_ = 0;      ///< threads
  served_team* team_ = nullptr;
  worker* last_ = nullptr;

  // Between the pool and its threads.
  std::mutex lock_;
  pthread_cond_t news_ = PTHREAD_COND_INITIALIZER, leaving_ = PTHREAD_COND_INITIALIZER;
  std::uint64_t teams_ = 0;  ///< made so far
  unsigned serving_ = 0;     ///< threads in the team
  served_team* offered_ = nullptr;
  bool is_over_ = false;
};

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_POOL_HPP
