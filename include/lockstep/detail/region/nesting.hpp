// SPDX-License-Identifier: MIT
// lockstep/detail/region/nesting.hpp -- the regions that a thread is in, and its turn with a team (layer: region)
//
// A region and the one it was called from form a list, the same for all its members, so that a way back
// through another team's threads is seen as well. All modules see the same list (this_thread.hpp).
//
// A program may end while other threads run regions of a static team. Its destructor cannot wait for them: they may
// go on for ever. So a team is in two parts:
//   the door  what a thread looks at before it has a turn. It lies in the team itself, and its end does nothing:
//             at the end of the program its words are still there, and say that a turn is taken for good.
//   the body  what members use, on the heap: destroyed with the team, or left where it is while a region runs.
//
//   TURN-1  A thread inside a region waits for its turn with a team only if that team is younger than all whose regions
//           the thread is in. Otherwise it takes a turn at once, or runs alone. So regions of several teams, called
//           from each other, never wait in a circle.
//   TURN-2  The destructor of a team takes a turn and never ends it. Threads that come later wait for ever.
//   TURN-3  It destroys the body only if it could have that turn at once: then no thread is in a region, nor queued.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access          order    pairs  why it suffices
//   1  ages.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  runs.load       relaxed  -      a thread inside the region asks, which is ordered after its begin
//
// Cost   a turn: see caller_queue below. The two parts: one load more to the body, of a line that nobody writes.
#ifndef LOCKSTEP_DETAIL_REGION_NESTING_HPP
#define LOCKSTEP_DETAIL_REGION_NESTING_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <type_traits>
#include <utility>

#include "../platform/cache_line.hpp"
#include "../platform/process.hpp"
#include "../platform/system.hpp"
#include "../platform/this_thread.hpp"
#include "../wait/published_words.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace nesting {

using region = nested_region;

/// Ages of teams that live at the same time differ by less than this.
constexpr std::uint32_t most_age_apart = std::uint32_t{1} << 30;

/// The number of a team that is being made.
inline std::uint32_t next_age() noexcept {
  return process().team_ages.fetch_add(1, memory_order_relaxed);  // 1
}

/// The region the calling thread is in, if any.
inline const region*& innermost() noexcept { return innermost_region(); }

inline bool is_inside(const void* owner) noexcept {
  const region* at = innermost();
  while (at != nullptr && at->owner != owner) at = at->outer;
  return at != nullptr;
}

/// 0 for what marks a hook: it is in no region.
inline std::uint32_t number_of(const region& of) noexcept {
  return of.runs != nullptr ? of.runs->load(memory_order_relaxed) : 0;  // 2
}
/// Whether the calling thread is in region `number` of the team with these boards.
inline bool is_in_region(const void* boards, std::uint32_t number) noexcept {
  const region* at = innermost();
  while (at != nullptr && at->boards != boards) at = at->outer;
  return at != nullptr && number_of(*at) == number;
}

/// Whether the calling thread is in this region itself, and not as a guest, which has a copy of it.
inline bool contains(const region& what) noexcept {
  const region* at = innermost();
  while (at != nullptr && at != &what) at = at->outer;
  return at != nullptr;
}

/// Whether the calling thread may wait for its turn with a team: TURN-1.
inline bool may_wait_for(std::uint32_t age) noexcept {
  for (const region* at = innermost(); at != nullptr; at = at->outer) {
    if (static_cast<std::int32_t>(age - at->age) <= 0) return false;
  }
  return true;
}

/// The calling thread is in a region while this object lives.
class inside {
 public:
  explicit inside(const region& where) noexcept : before_(innermost()) { innermost() = &where; }
  ~inside() { innermost() = before_; }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  const region* before_;
};

}  // namespace nesting

// Outside threads take turns with a team.
//
//   CALLER-1  Turns are given in the order of the calls of begin().
//   CALLER-2  What a thread does in its turn happens before the next one's begin() returns.
//   CALLER-3  In debug builds the first caller that has waited for long says so, once for each queue, and waits on.
//
// Memory order (# marks the line; each weakening must fail a test; published_words.hpp has that of the turns)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  store              relaxed  -      in a child process: the only thread
//   3  tickets.cmp_exch   relaxed  -      as 1; the turn before was seen by the load before it
//   4  holder.store       relaxed  -      for a message only
//   5  holder.load        relaxed  -      as 4
//   6  said.exchange      relaxed  -      the first of several speaks
//
// Cost   uncontended: one RMW and one store on a line of the callers.
class caller_queue {
 public:
  /// What a message calls the team: "lockstep::team 'name' at 0x...".
  struct label {
    const void* team;
    const char* kind;
    char name[32];

    LOCKSTEP_COLD label(const void* of, const char* its_kind, const char* its_name) noexcept;
  };

  /// Tests pass a short patience.
  explicit caller_queue(wait_policy policy, const label& whose = label(nullptr, "a queue", ""),
                        std::chrono::milliseconds patience = std::chrono::seconds(10)) noexcept
      : policy_(policy), whose_(whose), patience_(patience) {}

  /// Blocks until it is the caller's turn.
  void begin() {
    const std::uint32_t number = tickets_.fetch_add(1, memory_order_relaxed);  // 1
    wait_history history = {};
    if (diagnoses_misuse) wait_and_say(number, history);
    serving().wait(is_turn_of{number}, never_stops(), history);
    note_holder();
  }
  /// Takes a turn if it can be had at once.
  bool try_begin() noexcept {
    std::uint32_t next = serving().value();
    if (!tickets_.compare_exchange_strong(next, next + 1,           //
                                          memory_order_relaxed,     // 3
                                          memory_order_relaxed)) {  // 3
      return false;
    }
    note_holder();
    return true;
  }
  void end() { serving().publish(serving().peek() + 1); }

  /// In a child process: as new, but for the calling thread's turn if it has one.
  LOCKSTEP_COLD void forget_others(bool has_turn) noexcept;

  const label& whose() const noexcept { return whose_; }

 private:
  struct is_turn_of {
    std::uint32_t number;
    bool operator()(std::uint32_t serving) const noexcept { return serving == number; }
    void describe(wait_subject& to) const noexcept {
      to.kind = wait_kind::turn_with_team;
      to.phase = number;
    }
  };
  /// The number that is served.
  published_word<std::uint32_t> serving() noexcept {
    return {serving_, mark_, policy_, fence_payer_of(policy_)};
  }

  /// Asked for once a thread: it costs a system call. In a child of fork() a message shows the parent's.
  static LOCKSTEP_COLD std::uint64_t shown_number() noexcept;
  void note_holder() noexcept {
    if (!diagnoses_misuse) return;
    holder_.store(static_cast<std::uint32_t>(shown_number()),
                  memory_order_relaxed);  // 4
  }

  /// Waits for the turn for a while; then says that it takes long, unless another has.
  LOCKSTEP_COLD void wait_and_say(std::uint32_t number, wait_history& history);

  // Callers write these lines, members do not need them.
  line_gap before_;
  wait_word tickets_{0};
  wait_word serving_{0};
  sleeper_mark mark_;
  const wait_policy policy_;
  // For the message.
  wait_word holder_{0};
  wait_word said_{0};
  const label whose_;
  const std::chrono::milliseconds patience_;
  line_gap after_;
};

/// Says that a turn has begun already.
struct has_begun_t {};

/// A turn of the calling thread, as long as this object lives.
class caller_turn {
 public:
  explicit caller_turn(caller_queue& of) : of_(of) { of_.begin(); }
  /// One that has begun.
  caller_turn(caller_queue& of, has_begun_t) noexcept : of_(of) {}
  ~caller_turn() { of_.end(); }
  caller_turn(const caller_turn&) = delete;
  caller_turn& operator=(const caller_turn&) = delete;

 private:
  caller_queue& of_;
};

class team_door {
 public:
  team_door(std::size_t members, wait_policy policy, const char* kind, const char* name)
      : size_(members),
        age_(nesting::next_age()),
        policy_(policy),
        callers_(policy, caller_queue::label(this, kind, name)) {}
  team_door(const team_door&) = delete;
  team_door& operator=(const team_door&) = delete;

  std::size_t size() const noexcept { return size_; }
  std::uint32_t age() const noexcept { return age_; }
  wait_policy policy() const noexcept { return policy_; }
  caller_queue& callers() noexcept { return callers_; }
  bool may_wait() const noexcept { return nesting::may_wait_for(age_); }

  /// For the destructor of the team: TURN-2. False where the body has to stay.
  bool shut() noexcept {
    if (callers_.try_begin()) return true;
    if (diagnoses_misuse) {
      const caller_queue::label& whose = callers_.whose();
      std::fprintf(
          stderr,
          "%s '%s' at %p: destroyed, or its program ended, while another thread runs a region; "
          "its threads are left as they are\n",
          whose.kind, whose.name, whose.team);
    }
    return false;
  }

 private:
  const std::size_t size_;
  const std::uint32_t age_;
  const wait_policy policy_;
  caller_queue callers_;
};
static_assert(std::is_trivially_destructible<caller_queue>::value ||
                  !std::is_trivially_destructible<wait_word>::value,
              "the door stays as it is");

/// Owns a team's body, until it has to be left. The body lies at a boundary of 256 bytes: which of its members share a
/// line, or a pair of lines that are fetched together, does not depend on where the heap has room. Elsewhere a barrier
/// of two took up to 1.35 times as long (41 to 55 ns).
template <class Body>
class owned_body {
 public:
  template <class... Arguments>
  explicit owned_body(Arguments&&... arguments)
      : body_(::new(static_cast<void*>(memory_.rooms->data()))
                  Body(std::forward<Arguments>(arguments)...)) {}
  ~owned_body() {
    if (!memory_.is_left) body_->~Body();
  }
  owned_body(const owned_body&) = delete;
  owned_body& operator=(const owned_body&) = delete;

  void leave() noexcept { memory_.is_left = true; }
  Body* operator->() const noexcept { return body_; }

 private:
  struct alignas(256) room {
    unsigned char bytes[sizeof(Body)];
  };
  struct memory {
    aligned_array<room>* const rooms;
    bool is_left = false;

    // Not as an initial value of the member: GCC 12 forgets to free that where it throws.
    memory() : rooms(new aligned_array<room>(1)) {}
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    ~memory() {
      if (!is_left) delete rooms;
    }
  };

  memory memory_;
  Body* const body_;
};

/// The calling thread's turn with a team while this object lives, or none: then its region runs on it alone. The thread
/// has none if it is inside a region of this team already, or may not wait (TURN-1) and cannot have a turn at once.
class region_turn {
 public:
  /// `owner`: that of the team's regions. It is not looked at before the turn.
  region_turn(team_door& door, const void* owner) : callers_(door.callers()) {
    if (nesting::is_inside(owner)) return;
    if (door.may_wait()) {
      callers_.begin();
      is_mine_ = true;
    } else {
      is_mine_ = callers_.try_begin();
    }
  }
  ~region_turn() {
    if (is_mine_) callers_.end();
  }
  region_turn(const region_turn&) = delete;
  region_turn& operator=(const region_turn&) = delete;

  explicit operator bool() const noexcept { return is_mine_; }
  /// The turn goes on after this object: a caller_turn is to take it over.
  void keep() noexcept { is_mine_ = false; }

 private:
  caller_queue& callers_;
  bool is_mine_ = false;
};

#if LOCKSTEP_HAS_BODIES

LOCKSTEP_COLD caller_queue::label::label(const void* of, const char* its_kind,
                                         const char* its_name) noexcept
    : team(of), kind(its_kind) {
  std::snprintf(name, sizeof name, "%s", its_name);
}

LOCKSTEP_COLD std::uint64_t caller_queue::shown_number() noexcept {
  std::uint64_t& known = per_thread<std::uint64_t, struct name_of_shown_number>();
  if (known == 0) known = shown_thread_number();
  return known;
}

LOCKSTEP_COLD void caller_queue::wait_and_say(std::uint32_t number, wait_history& history) {
  const is_turn_of mine{number};
  if (mine(serving().value())) return;
  if (serving().wait(mine, never_stops(), history, deadline::after(patience_))) return;
  if (said_.exchange(1, memory_order_relaxed) != 0) return;  // 6
  std::fprintf(
      stderr,
      "%s '%s' at %p: %s has waited %.3g s for its turn, which thread %u has. This may be "
      "harmless: regions of other threads may take so long. But if that region waits for this "
      "thread, they wait for ever: a thread that a member starts and waits for is to get "
      "lockstep::this_region() from the member, and to make a lockstep::inside_region of it\n",
      whose_.kind, whose_.name, whose_.team, label_of_this_thread().text,
      std::chrono::duration<double>(patience_).count(),
      converted<unsigned>(holder_.load(memory_order_relaxed)));  // 5
}

LOCKSTEP_COLD void caller_queue::forget_others(bool has_turn) noexcept {
  serving().reset(0);
  tickets_.store(has_turn ? 1 : 0, memory_order_relaxed);  // 2
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REGION_NESTING_HPP
