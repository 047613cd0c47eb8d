// SPDX-License-Identifier: MIT
// tests/model/explorer/explorer.hpp -- runs the shipped headers under a scheduler that decides everything
//
// The threads of a scenario are fibers of one system thread. Before every atomic access, fence, futex
// call, yield and thread start the explorer may let another fiber go on; every load may return an older
// value where the C++ model allows one; a futex wait may return for no reason or at its deadline at any
// time. So an execution is a function of the answers to the explorer's questions (strategy.hpp).
//
// It finds: threads that sleep or join with nobody left to wake them (a lost wake-up), executions that
// do not end (no progress), plain accesses that nothing orders, atomics used before their construction
// is ordered or after their destruction, and whatever the scenario checks itself.
//
// A thread that pauses or yields goes on only after another thread has changed something, or when no other thread can
// go on. At the cost of a preemption it polls on, a limited number of times. So polling loops end, and are not explored
// look by look.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "knowledge.hpp"
#include "site.hpp"
#include "strategy.hpp"

namespace lockstep::model {

/// The process-wide fence of the modelled system.
enum class process_fence_kind {
  asymmetric,  ///< membarrier: the sleeper's side fences for all threads
  symmetric,   ///< none: both sides fence for themselves
  refused      ///< granted at first, refused when it is needed
};

/// How far an execution may go from the plain schedule.
struct budget {
  unsigned preemptions = 2;
  unsigned stale = 1;
  unsigned spurious = 1;
};
inline bool contains(const budget& one, const budget& other) noexcept {
  return one.preemptions >= other.preemptions && one.stale >= other.stale &&
         one.spurious >= other.spurious;
}

struct settings {
  budget limits = {};
  process_fence_kind fence = process_fence_kind::asymmetric;
  unsigned cpus = 64;            ///< what usable_cpus() says
  bool clock_may_crawl = false;  ///< ask whether time passes slowly; else it passes fast
  bool deadlines_may_be_early =
      true;              ///< else no sleep comes to its deadline while a thread can go on
  bool records = false;  ///< keep the interleaving as text
  std::uint64_t most_steps = 4000;
};

/// What came of one execution.
struct outcome {
  bool good = true;
  std::string failure;
  std::vector<std::string> interleaving;  // if recorded
};

/// An atomic object, whatever its type.
struct atomic_place {
  void* at;
  std::size_t size;
};

struct execution;

enum class update { exchange, add, subtract, bit_or, bit_and };

class explorer {
 public:
  /// The one whose scenario runs now; null outside of executions.
  static explorer* active() noexcept { return active_; }

  explorer();
  ~explorer();
  explorer(const explorer&) = delete;
  explorer& operator=(const explorer&) = delete;

  /// Runs `scenario` once, as the main thread of the model.
  outcome execute(const std::function<void()>& scenario, strategy& by, const settings& how);
  /// A search of another scenario begins: no state of it is known.
  void begin_search();
  /// Operations of all executions so far.
  std::uint64_t steps() const noexcept;

  // What the seams and the scenarios call, on a fiber.

  std::uint64_t load(atomic_place what, std::memory_order order, site where);
  void store(atomic_place what, std::uint64_t value, std::memory_order order, site where);
  std::uint64_t modify(atomic_place what, update how, std::uint64_t operand,
                       std::memory_order order, site where);
  bool compare_exchange(atomic_place what, std::uint64_t& expected, std::uint64_t desired,
                        std::memory_order success, std::memory_order failure, bool weak,
                        site where);
  void made(const void* at, std::uint64_t value);
  void destroyed(const void* at);

  void fence(std::memory_order order, site where);
  void fence_light(site where);
  bool fence_heavy(site where);

  void futex_wait(atomic_place what, std::uint32_t expected, std::uint64_t deadline, site where);
  void futex_wake(const void* at, bool all, site where);
  void pause(const char* how, site where);
  std::uint64_t clock();
  /// How many sleeps came to their deadline in this execution.
  unsigned deadlines() const noexcept;
  unsigned cpus() const noexcept;
  /// That of the calling thread, from 1 on.
  std::uint64_t number() noexcept;
  /// Storage of the calling thread, all zero at first. Slots are numbers below 8, of 16 bytes each.
  void* per_thread(std::size_t slot) noexcept;

  thread_number start(std::function<void()> body, site where);
  void join(thread_number who, site where);
  /// Starts threads together and joins them all, as one step each: their order is not explored.
  void run_together(const std::vector<std::function<void()>>& bodies);

  [[noreturn]] void fail(const std::string& why);

  // What the instrumentation of plain accesses calls, at any time.
  static void plain_access(std::uintptr_t address, std::size_t size, bool writes);
  static void forget_plain(std::uintptr_t address, std::size_t size);
  /// Something that threads have in common, and no other function here is told of, was changed or read: this is the value.
  static void unseen(std::uint64_t value);
  /// Between these two a static of a function is made, once for all executions: plain accesses do not count.
  static void begin_static(const void* guard);
  static void end_static(const void* guard);

 private:
  static explorer* active_;
  static const void* outermost_guard_;  // of the static that is made, in a scenario
  std::unique_ptr<execution> state_;
};

}  // namespace lockstep::model
