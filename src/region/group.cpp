// SPDX-License-Identifier: MIT
// src/region/group.cpp -- the bodies of group.hpp and member_state.hpp (layer: region)
#include "group.hpp"

#include <cstdio>

#include "turns.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if LOCKSTEP_HAS_EXCEPTIONS
[[noreturn]] LOCKSTEP_INLINE void leave_stopped_region() { throw region_stopped(); }
#endif

LOCKSTEP_INLINE group::group(std::size_t most, wait_policy policy, stop_source& stop,
                             group* of_region, bool separates_cpus, std::size_t most_flags,
                             const rank_groups& groups)
    : barrier(most, policy, stop, most_flags, separates_cpus, groups),
      loops(policy, stop),
      shares(most),
      leaves(most_values_of_loop),
      of_region_(of_region != nullptr ? *of_region : *this),
      members_(most),
      steps_(2 * most, policy, &stop) {
  for (std::size_t rank = 0; rank < most; ++rank) state(rank).belong_to(this, &stop, rank);
}

LOCKSTEP_INLINE group::~group() { destroy_sub_groups(); }

LOCKSTEP_INLINE member_state::member_state(stop_source& stop) noexcept
    : stop_(&stop), stop_word_(&stop.word()) {
  region_ = 1;
  if (diagnoses_misuse) enter(1, 1);  // else nobody reads the rest
}

LOCKSTEP_INLINE void member_state::belong_to(group* shared, stop_source* stop,
                                             std::size_t rank) noexcept {
  shared_ = shared;
  stop_ = stop;
  stop_word_ = stop != nullptr ? &stop->word() : nullptr;
  rank_ = rank_in_team_ = rank;
  step_set = 0;
  if (shared == nullptr) return;
  segments[0] = segments[1] = {};
  values_ = reinterpret_cast<unsigned char*>(&shared->barrier.value_of(0, 0));
  if (shared->most() == 1) return;
  values_apart_ = static_cast<std::size_t>(
      reinterpret_cast<unsigned char*>(&shared->barrier.value_of(1, 0)) - values_);
}

LOCKSTEP_INLINE const member_view& member_view::member_of(std::size_t rank) const noexcept {
  return shared_->state(rank);
}

LOCKSTEP_INLINE bool stop_source::is_stopped_alone() const noexcept { return alone_->is_stopped(); }
LOCKSTEP_INLINE void stop_source::request_alone() noexcept { alone_->request_stop(); }

LOCKSTEP_INLINE void member_state::request_stop() const { stop_->request(region_); }

LOCKSTEP_INLINE bool member_state::means_stopped() const noexcept { return stop_->means_stopped(); }

LOCKSTEP_INLINE bool member_state::sync(const char* kind, call_site where) {
  if (is_alone()) {
    if (kind != nullptr) come_to(kind, where);
    return !is_stopped();
  }
  if (diagnoses_misuse && kind != nullptr) begin_construct(kind, where, 0);
  return detail::meet(
      *this, true, [&] { return shared_->barrier.arrive_and_wait(*this); }, kind, where);
}

LOCKSTEP_INLINE bool member_state::wait_before_construct() {
  const construct_note here = in_construct;
  if (!sync("reduction_wait", here.where)) return false;
  if (here.kind != nullptr) come_to(here.kind, here.where, here.extent);
  return true;
}

LOCKSTEP_INLINE meeting member_state::meet(cell mine, const cell_combine& combine, cell* values) {
  team_barrier& barrier = shared_->barrier;
  if (!barrier.has_flags(size_)) {
    value_of(rank_, next_phase()) = mine;
    return detail::meet(*this, values[0], combine) ? meeting::by_value : meeting::stopped;
  }
  values[rank_] = mine;
  arrival_with_value arrival(values[rank_], values);
  const auto pass = [&] { return barrier.arrive_and_wait(*this, arrival); };
  return detail::meet(*this, true, pass) ? meeting::by_cells : meeting::stopped;
}

LOCKSTEP_INLINE bool member_state::meets_by_flags() const noexcept {
  return shared_->barrier.has_flags(size_);
}

LOCKSTEP_INLINE bool member_state::meet_at_first(const function_ref<void()>& finish) {
  if (is_alone() || !meets_by_flags()) {
    if (!sync()) return false;
    if (rank_ == 0) finish();
    return sync();
  }
  return detail::meet(*this, true, [&] {
    return shared_->barrier.meet_at_first(*this, [&] {
      shared_->check_constructs(*this);
      finish();
    });
  });
}

LOCKSTEP_INLINE kept_values& member_state::emptied(unsigned which) {
  shared_->note(group::values);
  kept[which].clear();
  return kept[which];
}

struct is_past {
  std::size_t step;
  observed_member self;
  bool operator()(std::size_t finished) const noexcept { return finished >= step; }
  void describe(wait_subject& to) const noexcept {
    to.kind = wait_kind::step_of_member;
    to.phase = static_cast<std::uint32_t>(step);
    to.size = self.size;
    to.team = self.team;
    to.region = self.region;
  }
};

LOCKSTEP_INLINE void member_state::publish_step(std::size_t step) {
  if (is_alone()) return;
  shared_->note(group::steps);
  shared_->step_of(rank_, step_set).publish(step);
}

LOCKSTEP_INLINE bool member_state::wait_for_step(std::size_t rank, std::size_t step) {
  const published_word<std::size_t> awaited = shared_->step_of(rank, step_set);
  const is_past is_over{step, observed()};
  const awaits_others here(*this, {"await_step", {}, 0, 0}, rank);
  return wait_in_region(*this, awaited, is_over, shared_->barrier.whom(*this, rank));
}

LOCKSTEP_INLINE void member_state::begin_again() noexcept {
  if (is_alone()) return;
  shared_->step_of(rank_, step_set).reset(0);
  step_set ^= 1;
}

LOCKSTEP_INLINE void member_state::note_without_wait(std::size_t length) noexcept {
  const bool is_like_others = last_without_wait != phase || blocks_without_wait == length;
  blocks_without_wait = is_like_others ? length : no_blocks;
  last_without_wait = phase;
  if (diagnoses_misuse) ++without_wait;
}

LOCKSTEP_INLINE void group::forget_others() noexcept {
  subs_lock_.forget_holder();
  for (std::size_t rank = 0; rank < most(); ++rank) {
    for (kept_values& each : state(rank).kept) each.forget();
  }
}

/// " (file:line)", or nothing if the place is not known.
struct place_text {
  explicit place_text(call_site where) noexcept {
    if (where.file == nullptr) return;
    std::snprintf(text, sizeof text, " (%s:%zu)", where.file, where.line);
  }
  char text[300] = "";
};

LOCKSTEP_INLINE void member_state::begin_construct(const char* kind, call_site where,
                                                   std::size_t extent) noexcept {
  if (thread_ != 0 && thread_ != number_of_this_thread()) {
    end_program(
        "lockstep::member: %s of rank %zu%s is called by another thread than its own; each member "
        "calls constructs on its own me",
        kind, rank_, place_text(where).text);
  }
  if (inside != nullptr) report_inside(kind, where, inside, "where the others cannot come to it");
  in_construct = {kind, where, extent, 0};
}

[[noreturn]] LOCKSTEP_INLINE void member_state::report_inside(const char* kind, call_site where,
                                                              const char* outer,
                                                              const char* why) const noexcept {
  end_program("lockstep::member: %s of rank %zu%s is called inside %s, %s; leave that first", kind,
              rank_, place_text(where).text, outer, why);
}

[[noreturn]] LOCKSTEP_INLINE void member_state::report_missing(
    std::size_t rank, const construct_note& in) const noexcept {
  const member_view& missing = member_of(rank);
  const auto name = [](const construct_note& of) noexcept {
    return of.kind != nullptr ? of.kind : "no construct";
  };
  end_program(
      "lockstep::member: rank %zu of %zu waits in %s%s, phase %u; missing: rank %zu, which has "
      "returned from its part; it was last in %s%s, phase %u; all members come to the same "
      "constructs in the same order",
      rank_, size_, name(in), place_text(in.where).text, static_cast<unsigned>(phase), rank,
      name(missing.in_construct), place_text(missing.in_construct.where).text,
      static_cast<unsigned>(missing.phase - 1));
}

[[noreturn]] LOCKSTEP_INLINE void group::report_difference(const member_state& self,
                                                           const construct_note& mine,
                                                           std::size_t rank, std::uint32_t phase) {
  const construct_note& theirs = state(rank).told[phase & 1u].note;
  if (theirs.kind == member_state::its_return()) self.report_missing(rank, mine);
  if (mine.kind == member_state::its_return()) state(rank).report_missing(self.rank(), theirs);
  const bool is_lower = self.rank() < rank;
  const std::size_t low = is_lower ? self.rank() : rank, high = is_lower ? rank : self.rank();
  const construct_note &lows = is_lower ? mine : theirs, &highs = is_lower ? theirs : mine;
  end_program(
      "lockstep::member: rank %zu is in %s%s, rank %zu is in %s%s%s; all members of a region come "
      "to the same constructs in the same order, with the same arguments",
      low, lows.kind, place_text(lows.where).text, high, highs.kind, place_text(highs.where).text,
      is_same(lows, highs)                      ? ", after another number of constructs with nowait"
      : std::strcmp(lows.kind, highs.kind) == 0 ? ", with other arguments"
                                                : "");
}

LOCKSTEP_INLINE void group::note_return(member_state& self) noexcept {
  if (self.is_alone() || self.is_stopped() || !tells_returns_) return;
  self.told[self.next_phase() & 1u] = {{member_state::its_return(), {}, 0, 0}, 0};
  ++self.phase;
  barrier.arrive_for(self, self.rank(), [&](cell&) { check_constructs(self); });
}

LOCKSTEP_INLINE void awaits_others::begin(member_state& self, const construct_note& in,
                                          std::size_t awaited) noexcept {
  self_ = &self;
  in_ = in;
  awaited_ = awaited;
  missing_ = nobody;
  pulse_ = {look, this, std::chrono::milliseconds(10)};
  before_ = wait_pulse::of_this_thread();
  if (before_ == nullptr && !self.is_alone()) wait_pulse::of_this_thread() = &pulse_;
}

/// The second look after another has arrived reports it: between them the wait has looked once more, and seen all that
/// came before that arrival, also a stop.
LOCKSTEP_INLINE void awaits_others::look(void* of) {
  awaits_others& own = *static_cast<awaits_others*>(of);
  member_state& self = *own.self_;
  group& all = self.shared();
  const std::uint32_t phase = self.next_phase();
  if (own.missing_ != nobody) all.report_difference(self, own.in_, own.missing_, phase);
  for (std::size_t rank = 0; rank < self.size(); ++rank) {
    if (rank == self.rank() || (own.awaited_ != nobody && rank != own.awaited_)) continue;
    if (!all.barrier.has_arrived_before(self, rank)) continue;
    if (!group::is_same(all.state(rank).told[phase & 1u].note, own.in_)) own.missing_ = rank;
  }
}

LOCKSTEP_INLINE void group::reset_members(std::uint32_t phase, std::uint32_t construct) noexcept {
  barrier.reset(phase);
  for (std::size_t rank = 0; rank < most(); ++rank) {
    shares.reset(rank, 0);
    member_state& each = state(rank);
    each.phase = phase;
    each.construct = construct;
    each.loops = each.step_set = 0;
    each.has_left = false;
  }
}

LOCKSTEP_INLINE void group::put_to_rest(bool was_stopped) {
  if (was_stopped) {
    reset_members(0, 0);
    loops.reset();
    destroy_sub_groups();
  }
  if (was_stopped || has_left(steps)) steps_.reset(0, steps_.size());
  if (has_left(values)) {
    for (std::size_t rank = 0; rank < most(); ++rank) {
      for (kept_values& each : state(rank).kept) each.clear();
    }
  }
  left_.store(0, memory_order_relaxed);  // 4
}

LOCKSTEP_INLINE void group::destroy_sub_groups() {
  while (sub_group* const one = subs_.first()) delete one;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
