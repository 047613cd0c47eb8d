// SPDX-License-Identifier: MIT
// lockstep/detail/region/member_state.hpp -- what a member knows of itself and of its region (layer: region)
//
// One object for each member of a group, on lines of its own. While a region runs, other threads read only the values
// that the member hands to them. The boards of the group, the loops and the reductions take it as an argument; `member`
// is the user's handle on it. Bodies: group.cpp.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access          order    pairs                       why it suffices
//   1  stop_word.load  acquire  2 of stop_source.hpp        what came before the request is seen
#ifndef LOCKSTEP_DETAIL_REGION_MEMBER_STATE_HPP
#define LOCKSTEP_DETAIL_REGION_MEMBER_STATE_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/base/cells.hpp>
#include <lockstep/detail/base/closures.hpp>
#include <lockstep/detail/observe/member_view.hpp>
#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/schedule.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class group;
class stop_source;

/// Leaves a region that was stopped, by an exception. Without exceptions it returns: the caller goes on with `false`,
/// or with the value that it has.
#if LOCKSTEP_HAS_EXCEPTIONS
[[noreturn]] void leave_stopped_region();
#else
inline void leave_stopped_region() noexcept {}
#endif

/// Makes one value of the cells of a phase.
using cell_combine = function_ref<void(cell& into)>;
/// The result of a meeting with values. Either the region is stopped, or each member combines the cells of that phase,
/// or the last member to arrive has combined them for all.
enum class meeting : unsigned char { stopped, by_cells, by_value };
constexpr std::size_t most_met_by_cells = 8;

/// The values of a phase, one of each rank.
struct cells_of_ranks {
  const unsigned char* first;
  std::size_t apart;  ///< in bytes

  const cell& operator[](std::size_t rank) const noexcept {
    return *reinterpret_cast<const cell*>(first + rank * apart);
  }
};

class member_state : public member_view {
 public:
  static constexpr std::size_t no_blocks = ~std::size_t{0};

  member_state() noexcept = default;
  /// For a member that is alone in its region, which has number 1 in `stop`.
  explicit member_state(stop_source& stop) noexcept;
  member_state(member_state&&) = default;
  member_state& operator=(member_state&&) = default;

  /// Called once, by the group that owns the state. (Tests of single boards have no group.)
  void belong_to(group* shared, stop_source* stop, std::size_t rank) noexcept;
  /// For the member of a sub-team.
  void set_rank_in_team(std::size_t rank) noexcept { rank_in_team_ = rank; }
  /// The member begins its part of a region of `size` members.
  void enter(std::size_t size, std::uint32_t region) noexcept;

  bool is_alone() const noexcept { return size_ == 1; }
  /// What the members share. Requires: !is_alone().
  group& shared() const noexcept { return *shared_; }

  /// This member's block of a range.
  index_range block_of(index_range range) const noexcept {
    return static_block(range.first, range.last, rank_, size_);
  }

  const stop_source& stop() const noexcept { return *stop_; }
  /// True once the region was stopped; what came before the request is seen.
  bool is_stopped() const noexcept {
    return stop_word_->load(memory_order_acquire) == region_ && means_stopped();  // 1
  }
  /// False once this member knows that the region is stopped: then values of others may be gone.
  bool goes_on() const noexcept { return is_alone() ? !is_stopped() : !has_left; }
  void request_stop() const;

  /// Begins a construct that all members come to: for observers, and in builds that diagnose misuse, see
  /// check_constructs() of group.hpp.
  void come_to(const char* kind, call_site where, std::size_t extent = 0) noexcept {
    if (diagnoses_misuse) {
      begin_construct(kind, where, extent);
      tell_construct();
    }
    if (LOCKSTEP_UNLIKELY(observers() != 0)) member_comes(*this, kind, where, extent);
  }
  /// Called before the member arrives in the next phase, like writes to the cells of that phase.
  void tell_construct() noexcept {
    if (!diagnoses_misuse) return;
    told[next_phase() & 1u] = {in_construct, without_wait};
  }

  /// Blocks until all have arrived; false once the region is stopped. `kind`: begins that construct first, as come_to()
  /// does, with one look for observers.
  bool sync(const char* kind = nullptr, call_site where = call_site::none());

  /// A member's value in a phase: written before the member arrives in it, and read by others after they have met.
  cell& value_of(std::size_t rank, std::uint32_t in_phase) noexcept {
    return reinterpret_cast<cell*>(values_ + rank * values_apart_)[in_phase & 1u];
  }
  cells_of_ranks values_of(std::uint32_t in_phase) const noexcept {
    return {values_ + (in_phase & 1u) * sizeof(cell), values_apart_};
  }
  /// Blocks until all have arrived, each with its value. `values`, room for most_met_by_cells: by cells, those of all
  /// ranks; by value, what `combine` has made. Requires: !is_alone().
  meeting meet(cell mine, const cell_combine& combine, cell* values);
  /// Whether members meet by flags, so that their values travel with their arrivals.
  bool meets_by_flags() const noexcept;
  /// Blocks until all have arrived and rank 0 has then called finish(). False once the region is stopped. By flags in one
  /// phase: the others see what finish() has put into value_of(0, phase). By the tree in two.
  bool meet_at_first(const function_ref<void()>& finish);
  /// Memory for values that others read, and that do not fit a cell; null if they do. What it held is destroyed, now and
  /// at the end of the region. `which`: see kept_for.
  kept_values* memory_for(unsigned which, bool are_kept) {
    return are_kept ? &emptied(which) : nullptr;
  }

  /// Steps that members publish, and wait for: STEP-1 of group.hpp. False once the region is stopped.
  void publish_step(std::size_t step);
  bool wait_for_step(std::size_t rank, std::size_t step);
  /// The member begins its part anew in the same region, after all have ended it: steps begin at 0.
  void begin_again() noexcept;

  /// This member runs a construct that does not wait at its end: see loops.hpp. `length`: of a range that is cut into
  /// a block for each rank.
  void note_without_wait(std::size_t length = no_blocks) noexcept;
  /// Whether it has met the others since: then it sees all that such constructs wrote.
  bool has_waited() const noexcept { return last_without_wait != phase; }
  /// In a construct that the member has come to: waits for all others first. False once the region is stopped.
  bool wait_before_construct();
  /// The construct in which a member that has returned meets the others (GROUP-4).
  static const char* its_return() noexcept {
    static const char text[] = "its return";
    return text;
  }
  /// This member waits in a construct for one that has returned. Ends the program with a message.
  [[noreturn]] void report_missing(std::size_t rank, const construct_note& in) const noexcept;
  /// This member comes to a construct inside another, where it must not. The same.
  [[noreturn]] void report_inside(const char* kind, call_site where, const char* outer,
                                  const char* why) const noexcept;

  // For the barrier.
  wait_history history = {};

  // For loops.
  std::uint32_t construct = 0;          ///< the number of the next one that members share
  std::uint32_t loops = 0;              ///< loops whose shares were claimed (region_board.hpp)
  std::uint32_t last_by_rank = 0;       ///< the phase in which it ran a loop by rank last
  std::uint32_t last_without_wait = 0;  ///< the same of any construct without a wait
  std::uint32_t step_set;  ///< which words have the steps of its part (STEP-3); set by belong_to()
  /// The length of the range, if all those constructs ran blocks of ranges of one length; else no_blocks.
  std::size_t blocks_without_wait = no_blocks;
  backoff_trust looks;     ///< whether looks at the claims of others have found any that were late
  backoff_trust patience;  ///< whether the others came while it polled for them

  // For reductions: more cells than the barrier has, and the values that do not fit.
  cell nodes[2][most_values_of_member - 1];
  /// phases: for the cells of two of them.
  enum kept_for : unsigned { phases, result = 2, leaves };
  kept_values kept[4];

 private:
  /// If misuse is diagnosed: ends the program if the others cannot meet this member there, or else notes the construct.
  void begin_construct(const char* kind, call_site where, std::size_t extent) noexcept;
  bool means_stopped() const noexcept;
  kept_values& emptied(unsigned which);

  stop_source* stop_ = nullptr;
  const wait_word* stop_word_ = nullptr;
  unsigned char* values_ = nullptr;  ///< the cells of rank 0
  std::size_t values_apart_ = 0;     ///< bytes from one rank's to the next's
  // Set only where misuse is diagnosed: a region that runs alone makes a new state each time.
  std::uint64_t thread_;  ///< that entered the region; 0: not known

 public:
  struct told_construct {
    construct_note note;
    std::uint32_t without_wait;
  } told[2];                   ///< to the others, in two phases
  std::uint32_t without_wait;  ///< how many constructs of this region did not wait at their end
  /// The function that it is inside of, in which it must come to no construct; null: none.
  const char* inside;
};

/// While it lives, the member runs a function that must come to no construct. Noted where misuse is diagnosed.
class without_constructs {
 public:
  without_constructs(member_state& at, const char* kind) noexcept : at_(at), before_(nullptr) {
    if (!diagnoses_misuse) return;
    before_ = at.inside;
    at.inside = kind;
  }
  ~without_constructs() {
    if (diagnoses_misuse) at_.inside = before_;
  }
  without_constructs(const without_constructs&) = delete;
  without_constructs& operator=(const without_constructs&) = delete;

 private:
  member_state& at_;
  const char* before_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REGION_MEMBER_STATE_HPP
