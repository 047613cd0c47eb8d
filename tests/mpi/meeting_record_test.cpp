// SPDX-License-Identifier: MIT
// tests/mpi/meeting_record_test.cpp -- what ranks that come to a meeting make of each other's notes
#include "mpi/meeting_record.hpp"

#include <gtest/gtest.h>

#include <vector>

using lockstep::detail::mpi::meeting_note;
using lockstep::detail::mpi::meeting_record;
using lockstep::detail::mpi::rank_state;
using lockstep::detail::mpi::world_construct;

namespace {

constexpr meeting_note goes_on = {rank_state::goes_on, world_construct::sync_sum, 8, 0};
constexpr meeting_note other = {rank_state::goes_on, world_construct::sync_max, 8, 0};
constexpr meeting_note wider = {rank_state::goes_on, world_construct::sync_sum, 16, 0};
constexpr meeting_note argued = {rank_state::goes_on, world_construct::sync_sum, 8, 1};
constexpr meeting_note ended = {rank_state::has_ended, world_construct::end_of_region, 0, 0};
constexpr meeting_note stopped = {rank_state::was_stopped, world_construct::end_of_region, 0, 0};
constexpr meeting_note failed = {rank_state::has_failed, world_construct::end_of_region, 0, 0};

using notes = std::vector<meeting_note>;

meeting_record of(const notes& from, std::size_t first, std::size_t last) {
  meeting_record whole = meeting_record::of(from[first], first);
  for (std::size_t rank = first + 1; rank < last; ++rank)
    whole.merge(meeting_record::of(from[rank], rank));
  return whole;
}
meeting_record of(const notes& from) { return of(from, 0, from.size()); }

bool are_equal(const meeting_record& a, const meeting_record& b) {
  return a.state == b.state && a.rank == b.rank && a.note == b.note &&
         (a.state != rank_state::differs || (a.other == b.other && a.others == b.others));
}

TEST(meeting_record, NOTE2_equal_notes_go_on_or_end) {
  EXPECT_EQ(of({goes_on, goes_on, goes_on}).state, rank_state::goes_on);
  EXPECT_EQ(of({ended, ended}).state, rank_state::has_ended);
}

TEST(meeting_record, NOTE2_a_difference_names_two_ranks_and_what_they_came_for) {
  for (const meeting_note& odd : {other, wider, argued, ended}) {
    const meeting_record found = of({goes_on, goes_on, odd, goes_on});
    EXPECT_EQ(found.state, rank_state::differs);
    EXPECT_EQ(found.rank, 0u);
    EXPECT_EQ(found.other, 2u);
    EXPECT_TRUE(found.note == goes_on);
    EXPECT_TRUE(found.others == odd);
  }
}

TEST(meeting_record, NOTE2_the_worst_end_is_seen_and_its_lowest_rank) {
  EXPECT_EQ(of({goes_on, stopped, ended, stopped}).rank, 1u);
  EXPECT_EQ(of({goes_on, stopped, ended, stopped}).state, rank_state::was_stopped);
  EXPECT_EQ(of({stopped, goes_on, failed, failed}).rank, 2u);
  EXPECT_EQ(of({stopped, goes_on, failed, failed}).state, rank_state::has_failed);
  EXPECT_EQ(of({goes_on, other, stopped}).state, rank_state::was_stopped);
}

TEST(meeting_record, NOTE1_brackets_do_not_matter) {
  const notes kinds = {goes_on, other, wider, ended, stopped, failed};
  for (std::size_t code = 0; code < 6 * 6 * 6 * 6; ++code) {
    const notes four = {kinds[code % 6], kinds[code / 6 % 6], kinds[code / 36 % 6],
                        kinds[code / 216]};
    const meeting_record wanted = of(four);
    for (std::size_t middle = 1; middle < 4; ++middle) {
      meeting_record left = of(four, 0, middle);
      left.merge(of(four, middle, 4));
      EXPECT_TRUE(are_equal(left, wanted)) << code << " at " << middle;
    }
  }
}

}  // namespace
