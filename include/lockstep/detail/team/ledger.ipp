// SPDX-License-Identifier: MIT
// lockstep/detail/team/ledger.ipp -- what members of a team and the callers of its regions note in its ledger
//                                    (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_LEDGER_IPP
#define LOCKSTEP_DETAIL_TEAM_LEDGER_IPP

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "../../ledger.hpp"
#include "environment.hpp"
#include "group.hpp"
#include "region_accounts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

void member_state::enter_account() noexcept {
  segments[next_phase() & 1u] = {accounts->segment_begin.get(), tick_clock::now(), region_,
                                 next_phase()};
}

void member_state::leave_account() noexcept {
  const std::uint64_t now = tick_clock::now();
  accounts->segment_begin.set(now);
  if (has_left) return;
  const segment_note& own = segments[phase & 1u];
  const char* const kind = in_construct.kind != nullptr ? in_construct.kind : "barrier";
  const std::size_t account = accounts->accounts.find({kind, in_construct.where, nullptr});
  construct_account& to = accounts->accounts[account];
  to.passes.add(1);
  to.note_wait(now - own.arrival);
  if (rank_ != 0) return;
  const std::uint64_t weight = accounts->weight_of(to.passes.get(), now - own.begin, size_);
  if (weight != 0) shared_->look_at_segment(*this, account, now, weight);
}

LOCKSTEP_COLD void group::look_at_segment(const member_state& self, std::size_t account,
                                          std::uint64_t over, std::uint64_t weight) noexcept {
  busy_time* const times = self.accounts->times();
  for (std::size_t rank = 0; rank < self.size(); ++rank) {
    const segment_note& of = state(rank).segments[self.phase & 1u];
    // One that keeps no accounts, or did not when it came.
    if (of.region != self.region() || of.phase != self.phase) return;
    times[rank] = {of.begin, of.arrival};
  }
  self.accounts->note_segment(account, self.size(), over, weight,
                              [this](std::size_t rank) { return state(rank).rank_in_team(); });
}

void region_accounts::begin(ledger_board& board, std::uint32_t region) noexcept {
  own_ = &board.of(0);
  before_ = ledger_hooks::work_for(own_);
  region_ = region;
}

void region_accounts::end(const ledger_board& board, const construct_key& key, std::size_t size,
                          std::uint64_t begin, bool is_loop) noexcept {
  const std::uint64_t now = tick_clock::now();
  account_table& table = own_->accounts;
  const std::size_t account = table.find(key);
  construct_account& to = table[account];
  to.passes.add(1);
  to.regions_time.add(now - begin);
  if (is_loop) own_->loops_on(size).add(1);
  if (size > 1 && own_->part_of_region.get() == region_) to.note_wait(now - own_->part_end.get());
  const std::uint64_t weight = own_->weight_of(to.passes.get(), now - begin, size);
  if (size > 1 && weight != 0) look_at_parts(board, account, size, now, weight);
  own_ = nullptr;
  ledger_hooks::work_for(before_);
}

LOCKSTEP_COLD void region_accounts::look_at_parts(const ledger_board& board, std::size_t account,
                                                  std::size_t size, std::uint64_t over,
                                                  std::uint64_t weight) noexcept {
  busy_time* const times = own_->times();
  std::size_t* const ranks = own_->ranks();
  std::size_t came = 0;
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const member_ledger& of = board.of(rank);
    // In a loop members may not have come.
    if (of.part_of_region.get() != region_) continue;
    const std::uint64_t begin = of.part_begin.get();
    if (begin < first) first = begin;
    if (begin > last) last = begin;
    times[came] = {of.segment_begin.get(), of.part_end.get()};
    ranks[came++] = rank;
  }
  if (came == 0) return;
  own_->note_segment(account, came, over, weight, [ranks](std::size_t i) { return ranks[i]; });
  own_->note_skew(account, last - first, weight);
}

LOCKSTEP_COLD void show_ledger_at_end(const ledger& of) {
  const environment& variables = environment::of_process();
  if (!variables.ledger.value || of.constructs.empty()) return;
  if (variables.ledger_file.empty()) {
    std::fputs(of.table().c_str(), stderr);
    return;
  }
  std::FILE* const file = std::fopen(variables.ledger_file.c_str(), "a");
  const std::string line = of.json() + "\n";
  const bool is_written =
      file != nullptr && std::fwrite(line.data(), 1, line.size(), file) == line.size();
  const bool is_closed = file != nullptr && std::fclose(file) == 0;
  if (is_written && is_closed) return;
  std::fprintf(stderr, "lockstep: %s=%s: the ledger cannot be written there: %s\n",
               variables.ledger.name, variables.ledger.given.text, std::strerror(errno));
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LEDGER_IPP
