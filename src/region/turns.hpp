// SPDX-License-Identifier: MIT
// src/region/turns.hpp -- what a thread does before a region, and regions that it runs alone (layer: region)
//
// Memory order (# marks the line; each weakening must fail a test; published_words.hpp has that of the turns)
//   #   access             order    pairs  why it suffices
//   1   tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   2   store              relaxed  -      in a child process: no other thread
//   3   tickets.cmp_exch   relaxed  -      as 1; the turn before was seen by the load before it
//   4   shut.store         relaxed  -      a turn that begins at the same time counts as earlier
//   5   shut.load          relaxed  -      as 4
//   6   ages.fetch_add     relaxed  -      as 1
//   7   runs.load          relaxed  -      asked by a thread inside the region, hence after its begin
//   8   lone.load          relaxed  -      a loop that begins at the same time counts as earlier
//   9   lone.load          acquire  10     a loop that is stopped sees what came before the request
//   10  lone.fetch_add     release  9      the other half
//   11  lone.fetch_or      relaxed  -      as 8
//   12  state.store        relaxed  -      of a region run alone, before the thread is marked as inside
//   13  state.store        release  14     a thread that finds it stopped sees what came before the request
//   14  state.load         acquire  13     the other half
//   15  state.load         relaxed  -      the thread reads no other data of the one that stopped it; or what 12 stored
//   16  keeper.load        relaxed  -      the keeper, or who shut, finds itself; the light fence orders the second look
//   17  keeper.store       relaxed  -      by the thread whose turn it is, or that ends the team; heavy fence, or end of turn
//   18  kept.store         relaxed  -      before the light fence; in a child process: the only thread
//   19  keeper.cmp_exch    relaxed  -      at the end of a turn, once; fails after 17
#ifndef LOCKSTEP_SRC_REGION_TURNS_HPP
#define LOCKSTEP_SRC_REGION_TURNS_HPP

#include <cstdint>
#include <cstdio>
#include <type_traits>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/error.hpp>
#include "../base/numbers.hpp"
#include "../platform/process.hpp"
#include "../platform/system.hpp"
#include "../wait/published_words.hpp"
#include "stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// A region and those around it form a list, across teams: a thread that comes back to a team through another team's
// threads is found in it, too. All members of a region have the same list, in all modules (this_thread.hpp).
namespace nesting {

using region = nested_region;

/// Ages of teams that live at the same time differ by less than this.
constexpr std::uint32_t most_age_apart = std::uint32_t{1} << 30;

/// The innermost of the calling thread's regions for which is(region), or null.
template <class Is>
const region* find(const Is& is, const region* at = innermost_region()) noexcept {
  while (at != nullptr && !is(*at)) at = at->outer;
  return at;
}

/// Whether the calling thread is in a region of this owner.
inline bool is_inside(const void* owner) noexcept {
  return find([=](const region& at) { return at.owner == owner; }) != nullptr;
}

/// The number of a region. 0 for the mark of a hook, which is in no region.
inline std::uint32_t number_of(const region& of) noexcept {
  return of.runs != nullptr ? of.runs->load(memory_order_relaxed) : 0;  // 7
}
/// Whether the calling thread is in region `number` of the team with these boards.
inline bool is_in_region(const void* boards, std::uint32_t number) noexcept {
  const region* const at = find([=](const region& one) { return one.boards == boards; });
  return at != nullptr && number_of(*at) == number;
}

/// Whether the calling thread is in exactly this region. A guest is not: it has a copy.
inline bool contains(const region& what) noexcept {
  return find([&](const region& at) { return &at == &what; }) != nullptr;
}

/// Whether the calling thread may wait for its turn with a team of this age: TURN-4.
inline bool may_wait_for(std::uint32_t age, const region* from = innermost_region()) noexcept {
  const auto is_as_young = [=](const region& at) {
    return static_cast<std::int32_t>(age - at.age) <= 0;
  };
  return find(is_as_young, from) == nullptr;
}

/// The calling thread is in a region while this object lives.
class inside {
 public:
  explicit inside(const region& where) noexcept : inside(where, innermost_region()) {}
  /// The same for a caller that has looked up innermost_region() already.
  inside(const region& where, const region*& innermost) noexcept
      : innermost_(innermost), before_(innermost) {
    innermost_ = &where;
  }
  ~inside() { innermost_ = before_; }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  const region*& innermost_;
  const region* before_;
};

}  // namespace nesting

// Outside threads take turns with a team.
//
//   TURN-1  Turns are given in the order of the calls of take_turn(). The thread that keeps turns (TURN-6) may go first
//           until the right is taken back.
//   TURN-2  What a thread does in its turn happens before the next one's take_turn() returns.
//   TURN-4  A thread inside a region waits for its turn with a team only if that team is younger than the teams of all
//           regions that the thread is in. Otherwise it takes a turn only if it gets one at once, or else runs alone.
//           So regions of several teams that call each other never wait in a circle.
//   TURN-5  After shut() no turn begins. Threads that come wait for ever. So do those in the queue, and those that
//           would run alone because they may not wait. The thread that called shut() would wait for itself: it ends the
//           program.
//   TURN-6  The thread that had the first turn keeps the next ones: it takes no number until another thread comes. That
//           thread takes the right back for good, with the heavy fence of process_fence.hpp, and waits for the end of
//           the turn that was kept. Only the first thread ever writes `kept`. It may do so without effect while another
//           thread has a turn. If that thread ends, another one may get its slot (this_thread.hpp), and the right with it.
//
//     the first thread                  another, whose number is served
//     kept = 1                          keeper = none any more
//     light fence                       heavy fence
//     if (keeper is not this) kept = 0  wait until kept is 0
//
// Cost   the keeper: two stores on a line of the callers. Others: one RMW and one store; 10 us to take the right back,
//        once in the life of a team that several threads use.
class caller_queue {
 public:
  explicit caller_queue(wait_policy policy) noexcept
      : policy_(policy), payer_(fence_payer_of(policy)) {}

  /// Blocks until it is the caller's turn.
  void take_turn() {
    if (!take_kept(innermost_region())) take_number();
  }
  /// The same for a region of a team whose regions have this `age` and `owner`; the owner is only compared. False if
  /// the thread gets no turn: it is inside a region of this team, or may not wait (TURN-4) and finds the team in use.
  /// `innermost`: of the calling thread.
  LOCKSTEP_ALWAYS_INLINE bool take_turn_for(std::uint32_t age, const void* owner,
                                            const nesting::region*& innermost) {
    if (LOCKSTEP_UNLIKELY(innermost != nullptr) && !nesting::may_wait_for(age, innermost)) {
      if (nesting::is_inside(owner)) return false;
      if (try_take_turn()) return true;
      if (!is_shut()) return false;
    }
    if (LOCKSTEP_UNLIKELY(!take_kept(innermost))) take_number();
    return true;
  }
  /// Takes a turn only if it need not wait.
  bool try_take_turn() noexcept { return !is_shut() && try_take(); }
  LOCKSTEP_ALWAYS_INLINE void end_turn() {
    if (LOCKSTEP_UNLIKELY(is_numbered_)) return end_numbered();
    kept().publish(0);
  }

  /// TURN-5. Takes the last turn if it need not wait. False: another thread has a turn, and may never end it.
  bool shut() noexcept {
    shut_.store(1, memory_order_relaxed);  // 4
    const bool is_mine = try_take();
    keeper_.store(slot_of(innermost_region()) | no_more, memory_order_relaxed);  // 17
    return is_mine;
  }
  bool is_shut() const noexcept { return shut_.load(memory_order_relaxed) != 0; }  // 5

  /// In a child process: resets the queue, but keeps the calling thread's turn if it has one.
  void forget_others(bool has_turn) noexcept {
    serving().reset(0);
    kept_.store(0, memory_order_relaxed);                           // 18
    if (!is_shut()) keeper_.store(none_yet, memory_order_relaxed);  // 17
    is_numbered_ = has_turn;
    tickets_.store(has_turn ? 1 : 0, memory_order_relaxed);  // 2
  }

  /// TURN-6: whether another thread keeps the next turns.
  bool is_kept_by_another() const noexcept {
    const std::uintptr_t keeper = keeper_.load(memory_order_relaxed);  // 16
    return keeper != none_yet && (keeper & no_more) == 0 && keeper != slot_of(innermost_region());
  }
  /// For tests: whether the caller's turn has no number.
  bool is_kept() const noexcept { return !is_numbered_; }

 private:
  /// No keeper any more: with the slot of the thread that ended the team, or alone. Slots are even.
  static constexpr std::uintptr_t none_yet = 0, no_more = 1;

  /// Tells a thread from all others that live, by the address of what innermost_region() returns to it.
  static std::uintptr_t slot_of(const nesting::region*& innermost) noexcept {
    return reinterpret_cast<std::uintptr_t>(&innermost);
  }

  struct is_turn_of {
    std::uint32_t number;
    const caller_queue& queue;
    bool operator()(std::uint32_t serving) const noexcept {
      return serving == number && !queue.is_shut();
    }
    void describe(wait_subject& to) const noexcept {
      to.kind = wait_kind::turn_with_team;
      to.phase = number;
    }
  };

  /// TURN-6: the keeper takes its turn. False for any other thread.
  LOCKSTEP_ALWAYS_INLINE bool take_kept(const nesting::region*& innermost) {
    const std::uintptr_t me = slot_of(innermost);
    if (LOCKSTEP_UNLIKELY(keeper_.load(memory_order_relaxed) != me)) return false;  // 16
    kept_.store(1, memory_order_relaxed);                                           // 18
    fence_light();
    if (keeper_.load(memory_order_relaxed) == me) return true;  // 16
    kept().publish(0);
    return false;
  }
  LOCKSTEP_NOINLINE void take_number() {
    if (keeper_.load(memory_order_relaxed) == (slot_of(innermost_region()) | no_more)) {  // 16
      end_program("lockstep::team: used after its end; a team outlives its last call");
    }
    const std::uint32_t number = tickets_.fetch_add(1, memory_order_relaxed);  // 1
    wait_history history = {};
    serving().wait(is_turn_of{number, *this}, never_stops(), history);
    if (is_kept_by_another()) take_right_back();
    kept().wait(word_is<std::uint32_t>(0, wait_kind::turn_with_team), never_stops(), history);
    is_numbered_ = true;
  }
  LOCKSTEP_NOINLINE bool try_take() {
    std::uint32_t next = serving().value();
    if (!tickets_.compare_exchange_strong(next, next + 1,           //
                                          memory_order_relaxed,     // 3
                                          memory_order_relaxed)) {  // 3
      return false;
    }
    if (is_kept_by_another()) take_right_back();
    if (kept().value() != 0) {
      serving().publish(serving().peek() + 1);
      return false;
    }
    is_numbered_ = true;
    return true;
  }
  /// Called by the thread whose number is served. From now on no thread keeps turns. A turn that was kept may still go
  /// on.
  void take_right_back() {
    keeper_.store(no_more, memory_order_relaxed);  // 17
    if (fence_heavy()) return;
    // Without a heavy fence: waits until the store of the keeper must have become visible.
    const std::uint64_t end = monotonic_nanoseconds() + 1000000;
    while (monotonic_nanoseconds() < end) yield_thread();
  }
  LOCKSTEP_NOINLINE void end_numbered() {
    std::uintptr_t nobody = none_yet;
    if (keeper_.load(memory_order_relaxed) == nobody) {  // 16
      keeper_.compare_exchange_strong(nobody, slot_of(innermost_region()),
                                      memory_order_relaxed,   // 19
                                      memory_order_relaxed);  // 19
    }
    is_numbered_ = false;
    serving().publish(serving().peek() + 1);
  }

  /// The number that is served, and whether a turn without a number goes on. Both notify those that sleep on the mark.
  published_word<std::uint32_t> serving() noexcept { return {serving_, mark_, policy_, payer_}; }
  published_word<std::uint32_t> kept() noexcept { return {kept_, mark_, policy_, payer_}; }

  // Callers write these lines; members do not need them.
  line_gap before_;
  atomic<std::uintptr_t> keeper_{none_yet};  ///< a thread's slot, or nobody
  wait_word kept_{0};
  wait_word tickets_{0};
  wait_word serving_{0};
  wait_word shut_{0};
  sleeper_mark mark_;
  const wait_policy policy_;
  const fence_payer payer_;
  bool is_numbered_ = false;  ///< the turn; only the thread that has it uses this
  line_gap after_;
};

struct has_begun_t {};

/// A turn of the calling thread while this object lives.
class caller_turn {
 public:
  explicit caller_turn(caller_queue& of) : of_(&of) { of_->take_turn(); }
  caller_turn(caller_queue& of, has_begun_t) noexcept : of_(&of) {}
  /// Inlined for certain: then nothing of this object is in memory.
  LOCKSTEP_ALWAYS_INLINE ~caller_turn() {
    if (of_ != nullptr) of_->end_turn();
  }
  caller_turn(const caller_turn&) = delete;
  caller_turn& operator=(const caller_turn&) = delete;

  /// The turn goes on after this object, for another one that takes it over.
  void keep() noexcept { of_ = nullptr; }

 private:
  caller_queue* of_;
};

// The part of a team that outlives it, and owns the other part.
//
// A program may end while other threads run regions of a static team. Its destructor cannot wait for them: they may
// never end. So a team has two parts:
//   the door  is read by a thread that has no turn yet, or runs a loop without one (team_host.cpp). It lies in the
//             team itself, and no destructor touches it: at the end of the program its words still say that it is shut.
//   the core  is used by members, and lies on the heap (team_core.hpp). It is destroyed with the team, or left there
//             while a region runs.
//
//   DOOR-1  The destructor of a team shuts the door. After that no region and no loop begins: a thread that comes, or
//           is in the queue, waits for ever (TURN-5). Loops that need no turn are sent to the queue.
//   DOOR-2  The destructor destroys the core only if it gets the last turn without a wait: then no thread is in a
//           region. A loop without a turn uses nothing of the core.
//
//   bits of `lone`  for loops without a turn                              changed by
//   31..1           how often such loops were stopped from outside        stop_lone_loops()
//   0               closed: loops must ask for a turn, which says why     the end of the team; an external_team that
//                                                                         has lost its threads
//
// Cost   one more load to reach the core, of a line that no thread writes.
class team_door {
 public:
  team_door(wait_policy policy, const char* kind, const char* name)
      : age_(process().team_ages.fetch_add(1, memory_order_relaxed)),  // 6
        callers_(policy),
        kind_(kind) {
    std::snprintf(name_, sizeof name_, "%s", name);
  }

  // What messages call the team: "lockstep::team 'name' at 0x...".
  const char* kind() const noexcept { return kind_; }
  const char* name() const noexcept { return name_; }

  std::uint32_t age() const noexcept { return age_; }
  caller_queue& callers() noexcept { return callers_; }
  bool may_wait() const noexcept { return nesting::may_wait_for(age_); }

  /// For hints: never 0. Different for teams that live at the same time, unless 2^24 teams were made in between.
  std::uint32_t number() const noexcept { return larger(age_ & 0xFFFFFFu, std::uint32_t{1}); }

  /// What a loop without a turn reads before it begins.
  std::uint32_t look_alone() const noexcept { return lone_.load(memory_order_relaxed); }  // 8
  static constexpr bool is_closed(std::uint32_t look) noexcept { return (look & 1u) != 0; }
  /// Whether loops were stopped since that look.
  bool is_stopped_alone(std::uint32_t look) const noexcept {
    return (lone_.load(memory_order_acquire) ^ look) > 1;  // 9
  }
  void stop_lone_loops() noexcept { lone_.fetch_add(2, memory_order_release); }     // 10
  void close_to_lone_loops() noexcept { lone_.fetch_or(1, memory_order_relaxed); }  // 11

  /// For the destructor of the team, which may run inside a region of the team. False where the core must stay.
  bool shut(bool is_inside) noexcept {
    close_to_lone_loops();
    const bool has_turn = callers_.shut();
    if (is_inside) return false;
    if (!has_turn && diagnoses_misuse) {
      std::fprintf(
          stderr,
          "%s '%s' at %p: destroyed, or its program ended, while another thread runs a region; "
          "its threads are left as they are\n",
          kind_, name_, static_cast<const void*>(this));
    }
    return has_turn;
  }

 private:
  const std::uint32_t age_;
  wait_word lone_{0};
  caller_queue callers_;
  const char* const kind_;
  char name_[32];
};
static_assert(std::is_trivially_destructible<caller_queue>::value ||
                  !std::is_trivially_destructible<wait_word>::value,
              "the door stays as it is");

// A region or a loop that its caller runs alone.
//
// Either a loop that needs no other member (team_host.cpp), or the region or loop of a thread that gets no turn with
// the team (take_turn_for()): it is in a region of the team already, or may not wait for one.
//
//   ALONE-1  Meanwhile the thread counts as inside a region of the team: what it calls on the team runs alone as well.
//   ALONE-2  A lone region is stopped by itself, and with each region of the team that the thread is in. If the thread
//            is in no other, a request of a thread that is in no region of the team stops it, too.
//   ALONE-3  request_stop() of the team, by a thread that is in regions of it, stops the outermost of them, and so all
//            of them. In a child process, after a fork() in a region, this is done for the thread that forked.
//   ALONE-4  region_stopped passes through a region that was stopped with the one around it, and ends at the outer one.
//
//   words of the state  meaning
//   0                   the number of the region: 1
//   1                   how it was ended: 0 not, 1 stopped, 2 the team was destroyed in it
//   2                   what look_alone() of the door returned when it began
//
// Cost   to begin and to end: 1 ns. A look at whether one inside others is stopped: about 3 ns.
/// The team that a lone region belongs to.
struct lone_team {
  const void* owner;        ///< of its regions
  const stop_source& stop;  ///< of those that are not alone
  const team_door& door;
};

/// For a team that was destroyed in one of its own regions.
[[noreturn]] LOCKSTEP_NOINLINE inline void fail_destroyed_inside(const char* kind) noexcept {
  end_program("%s: destroyed inside its own region; leave the region first", kind);
}

/// While this object and a nesting::inside of it live, the calling thread runs a region alone.
class lone_region {
 public:
  /// `outer`: the region that the thread is in. `look`: the look at the door before.
  lone_region(const lone_team& of, const nesting::region* outer, std::uint32_t look) noexcept
      : of_(of), where_{of.owner, of.door.age(), nullptr, state_, outer} {
    state_[number].store(1, memory_order_relaxed);    // 12
    state_[ended].store(0, memory_order_relaxed);     // 12
    state_[begun].store(look, memory_order_relaxed);  // 12
  }

  const nesting::region& where() const noexcept { return where_; }
  /// ALONE-2. If so, the caller sees what came before the request.
  bool is_stopped() const noexcept {
    const wait_word* outermost = state_;
    for (const nesting::region* at = &where_; at != nullptr; at = at->outer) {
      if (at->owner != where_.owner || at->runs == nullptr) continue;
      if (at->boards != nullptr) {
        // 0 once the region is over, while its values are combined.
        const std::uint32_t region = nesting::number_of(*at);
        return region != 0 && of_.stop.requested(region);
      }
      outermost = at->runs;
      if (outermost[ended].load(memory_order_acquire) != 0) return true;  // 14
    }
    return of_.door.is_stopped_alone(outermost[begun].load(memory_order_relaxed));  // 15
  }
  /// The same, but false if only the region around it is stopped: ALONE-4.
  bool has_own_stop() const noexcept {
    if (is_ended()) return true;
    const auto is_of_team = [this](const nesting::region& at) {
      return at.owner == where_.owner && at.runs != nullptr;
    };
    return nesting::find(is_of_team, where_.outer) == nullptr && is_stopped();
  }
  /// Whether it was ended by itself, or by a request inside it to the team.
  bool is_ended() const noexcept { return state_[ended].load(memory_order_relaxed) != 0; }  // 15
  void request_stop() noexcept { state_[ended].store(stopped, memory_order_release); }      // 13
  /// At its end: CORE-6 of team_core.hpp.
  void check_team() const noexcept {
    if (LOCKSTEP_UNLIKELY(state_[ended].load(memory_order_relaxed) == destroyed)) {  // 15
      fail_destroyed_inside("lockstep::team");
    }
  }

  /// How it is ended. `destroyed`: with its team, by exit(), or, if the region still ends, by mistake (CORE-6).
  static constexpr std::uint32_t stopped = 1, destroyed = 2;
  /// ALONE-3. False if the calling thread is in no region of the team, or the outermost one does not run alone.
  static bool end(const void* owner, std::uint32_t how) noexcept {
    const nesting::region* outermost = nullptr;
    for (const nesting::region* at = innermost_region(); at != nullptr; at = at->outer) {
      if (at->owner == owner && at->runs != nullptr) outermost = at;
    }
    if (outermost == nullptr || outermost->boards != nullptr) return false;
    const_cast<wait_word*>(outermost->runs)[ended].store(how, memory_order_release);  // 13
    return true;
  }

 private:
  enum word { number, ended, begun };

  const lone_team& of_;
  wait_word state_[3];
  const nesting::region where_;
};

/// Calls part() of a region, on the caller alone. Exceptions pass, but for the region's own stop.
template <class Part, class IsOwn>
LOCKSTEP_ALWAYS_INLINE void call_until_stopped(const Part& part, const IsOwn& is_own_stop) {
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
    part();
  } catch (const region_stopped&) {
    if (!is_own_stop()) throw;  // that of another region
  }
#else
  static_cast<void>(is_own_stop);
  part();
#endif
}
/// The same: part(with). False if the region was stopped. `stop`: the source of the region.
template <class Part, class Argument>
bool call_alone(const stop_source& stop, Part& part, Argument& with, std::uint32_t region = 1) {
  call_until_stopped([&] { part(with); },
                     [&] {
                       const lone_region* const alone = stop.alone();
                       return alone != nullptr ? alone->has_own_stop() : stop.requested(region);
                     });
  return !stop.requested(region);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_TURNS_HPP
