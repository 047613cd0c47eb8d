// SPDX-License-Identifier: MIT
// src/trace/watchdog.cpp -- the bodies of watchdog.hpp (layer: trace)
//
// The watchdog's thread sleeps until the oldest wait that it knows of would be too old, and at most as long as a wait
// may last. So it wakes once in that time, and a little more often if waits are nearly too long. If a signal may ask,
// it wakes ten times a second: a handler cannot safely wake a thread on every system, so it only sets a word.
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  must_end.store relaxed -      the start and the end of the thread order the rest
//   2  must_end.load  relaxed -      as 1
//   3  stage,        relaxed  -      values that stand for themselves
//      is_asked
//   4  is_set        relaxed  -      under the lock
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/watchdog.hpp>
#include "../observe/observers.hpp"
#include "../platform/fork.hpp"
#include "../platform/process.hpp"
#include "../platform/signals.hpp"
#include "../platform/system.hpp"
#include "../platform/system_texts.hpp"
#include "stuck_report.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Data of this module that no other module has: its address stands for the module.
template <class Name>
struct LOCKSTEP_MODULE_LOCAL module_mark {
  static unseamed_atomic<bool> is_set;
};
template <class Name>
unseamed_atomic<bool> module_mark<Name>::is_set{false};

/// Made once, never freed; process().watchdog_forks guards it.
class watchdog {
 public:
  static bool start(const watchdog_options& how) {
    watch_forks<locked_around_fork<&process_state::watchdog_forks, watchdog>>();
    const holding<fork_section> held(process().watchdog_forks);
    if (process().watchdog == nullptr) process().watchdog = new (std::nothrow) watchdog;
    return known() != nullptr && known()->begin(how);
  }
  static void stop() {
    const holding<fork_section> held(process().watchdog_forks);
    if (known() != nullptr) known()->end();
  }
  static void in_child() {
    if (known() == nullptr) return;
    known()->runs_ = false;
    end_to_observe(observer::watches);
  }

  /// Takes the snapshot of all threads.
  static void look(stuck_snapshot& all) {
    all.now = tick_clock::now();
    all.ticks_per_second = tick_clock::rate();
    for (const thread_log* at = thread_log::first(); at != nullptr; at = at->next()) {
      seen_thread one;
      if (look_at(*at, one)) all.threads.push_back(one);
    }
    // By team and rank, then by the number of the thread.
    std::sort(all.threads.begin(), all.threads.end(),
              [](const seen_thread& a, const seen_thread& b) {
                if (a.part.team != b.part.team) return a.part.team > b.part.team;
                return a.part.rank != b.part.rank ? a.part.rank < b.part.rank : a.number < b.number;
              });
  }

 private:
  using ends_here = module_mark<class watchdog_ends>;

  /// The one of the process, or null.
  static watchdog* known() noexcept { return static_cast<watchdog*>(process().watchdog); }

  bool begin(const watchdog_options& how) {
    end();
    is_asked_.store(false, memory_order_relaxed);  // 3
    how_ = how;
    must_end_.store(0, memory_order_relaxed);  // 1
    begin_to_observe(observer::watches);
    {
      const no_signals here;
      runs_ = thread_.start(&run, this) == 0;
    }
    if (!runs_) {
      end_to_observe(observer::watches);
      return false;
    }
    module_ = &ends_here::is_set;
    if (!ends_here::is_set.exchange(true, memory_order_relaxed)) {  // 4
      std::atexit(&end_with_module);
    }
    if (how.on_signal() && !has_signal_) has_signal_ = signal_.take(&answer);
    return true;
  }
  void end() {
    if (!runs_) return;
    must_end_.store(1, memory_order_relaxed);  // 1
    native_futex::wake_all(&must_end_);
    thread_.join();
    runs_ = false;
    end_to_observe(observer::watches);
    if (has_signal_) signal_.give_back();
    has_signal_ = false;
  }
  static void end_with_module() {
    const holding<fork_section> held(process().watchdog_forks);
    if (known() != nullptr && known()->module_ == &ends_here::is_set) known()->end();
  }
  static void answer(int) {
    if (known() != nullptr) known()->is_asked_.store(true, memory_order_relaxed);  // 3
  }
  static void* run(void* of) {
    name_this_thread("lockstep dog");
    static_cast<watchdog*>(of)->watch();
    return nullptr;
  }

  void watch() {
    const std::uint64_t limit = static_cast<std::uint64_t>(how_.after().count());
    std::uint64_t next = limit;
    stop_excuse excuse;
    while (true) {
      const std::uint64_t begin = native::monotonic_nanoseconds();
      const bool is_asked = sleep(begin, next);
      if (must_end_.load(memory_order_relaxed) != 0) return;  // 2
      if (is_asked) {
        print("lockstep watchdog: a signal asks what threads wait for");
        const std::uint64_t slept = native::monotonic_nanoseconds() - begin;
        next = slept < next ? next - slept : 0;
        continue;
      }
      const bool is_excused = excuse.is_due(limit, next, native::monotonic_nanoseconds() - begin);
      next = is_excused ? stop_excuse::time_of(limit) : guard(limit);
    }
  }

  /// Sleeps until `time` has passed since `begin`, or the thread is to end. True if a signal asked meanwhile.
  bool sleep(std::uint64_t begin, std::uint64_t time) {
    constexpr std::uint64_t second = 1000000000;
    const std::uint64_t most = how_.on_signal() ? second / 10 : 3600 * second;
    for (std::uint64_t now = begin; must_end_.load(memory_order_relaxed) == 0;  // 2
         now = native::monotonic_nanoseconds()) {
      if (is_asked_.exchange(false, memory_order_relaxed)) return true;  // 3
      if (now - begin >= time) return false;
      const std::uint64_t left = time - (now - begin);
      native_futex::wait(must_end_, 0, now + (left < most ? left : most));
    }
    return false;
  }

  /// Looks for waits that are too old, and reports them. Returns the time until there may be one.
  std::uint64_t guard(std::uint64_t limit) {
    const std::uint64_t now = tick_clock::now();
    const double ticks = static_cast<double>(limit) * tick_clock::rate() * 1e-9;
    double oldest = 0;
    const thread_log* stuck = nullptr;
    std::uint64_t since = 0;
    for (const thread_log* at = thread_log::first(); at != nullptr; at = at->next()) {
      shown_wait wait;
      if (!outermost(*at, wait) || wait.since >= now || wait.since == at->told_wait) continue;
      const double age = static_cast<double>(now - wait.since);
      if (age <= oldest) continue;
      oldest = age;
      stuck = at;
      since = wait.since;
    }
    if (oldest < ticks) {
      const double left = (ticks - oldest) / tick_clock::rate() * 1e9;
      return left < 1e6 ? 1000000u : static_cast<std::uint64_t>(left);
    }
    for (thread_log* at = thread_log::first(); at != nullptr; at = at->next()) {
      shown_wait wait;
      if (outermost(*at, wait) && static_cast<double>(now - wait.since) * 2 >= ticks) {
        at->told_wait = wait.since;
      }
    }
    char why[160];
    seen_thread who;
    look_at(*stuck, who);
    std::snprintf(why, sizeof why, "lockstep watchdog: %s has waited %.3g s", who.label,
                  static_cast<double>(now - since) / tick_clock::rate());
    print(why);
    if (how_.aborts()) std::abort();
    return limit;
  }

  static void print(const char* why) {
    const bool is_printed = has_memory_for([why] {
      stuck_snapshot all;
      look(all);
      const std::string text = stuck_report(all, why);
      std::fwrite(text.data(), 1, text.size(), stderr);
    });
    if (!is_printed) std::fprintf(stderr, "%s; there is no memory for the report\n", why);
  }

  static bool outermost(const thread_log& log, shown_wait& out) noexcept {
    if (!log.is_alive()) return false;
    for (std::uint32_t i = 0; log.wait_at(i, out); ++i) {
      if (!is_idle(out.what)) return true;
    }
    return false;
  }

  /// Reads what a log shows. False if its thread has ended, and was no member.
  static bool look_at(const thread_log& log, seen_thread& one) {
    one.number = log.thread();
    static_cast<void>(log.part.read(one.part));
    static_cast<void>(log.node.read(one.node));
    if (one.number != 0) static_cast<void>(log.meetings.read(one.met));
    if (one.number != 0) static_cast<void>(log.locks.read(one.held));
    one.visit_count = log.read_visits(one.visits);
    if (one.number == 0 && one.part.team == nullptr) return false;
    thread_name name = {};
    static_cast<void>(log.name.read(name));
    std::snprintf(one.label, sizeof one.label, "thread %llu '%s'%s",
                  static_cast<unsigned long long>(log.shown_number()), one_line(name.text).c_str(),
                  one.number == 0 ? ", which has ended" : "");
    if (one.number == 0) return true;
    while (one.wait_count < thread_log::most_waits &&
           log.wait_at(one.wait_count, one.waits[one.wait_count])) {
      ++one.wait_count;
    }
    one.stage = static_cast<wait_stage>(log.stage.load(memory_order_relaxed));  // 3
    one.state = state_of(log.shown_number());
    return true;
  }

  /// The state of a thread as /proc tells it, on systems that have /proc.
  static char state_of(std::uint64_t thread) {
    const std::string text =
        file_text("/proc/self/task/%llu/stat", static_cast<unsigned long long>(thread));
    const std::size_t name_ends = text.rfind(") ");
    return name_ends != std::string::npos && name_ends + 2 < text.size() ? text[name_ends + 2]
                                                                         : static_cast<char>(0);
  }

  wait_word must_end_{0};  ///< the thread sleeps on it
  unseamed_atomic<bool> is_asked_{false};
  plain_thread thread_;
  question_signal signal_;
  watchdog_options how_;
  bool runs_ = false, has_signal_ = false;
  const void* module_ = nullptr;  ///< the mark of the module with the code that the thread runs
};

}  // namespace detail

LOCKSTEP_INLINE bool start_watchdog(const watchdog_options& how) {
  return detail::watchdog::start(how);
}
LOCKSTEP_INLINE void stop_watchdog() { detail::watchdog::stop(); }
LOCKSTEP_INLINE std::string who_waits() {
  if (!detail::is_observed_by(detail::observer::watches)) return std::string();
  detail::stuck_snapshot all;
  detail::watchdog::look(all);
  return detail::stuck_report(all, "lockstep: what threads wait for");
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
