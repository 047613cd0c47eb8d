// SPDX-License-Identifier: MIT
// tests/edges/construct_misuse_test.cpp -- members meet from different constructs: the message names both places
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#endif
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fault/child_process.hpp"

namespace {

using lockstep::member;
using lockstep::sub_team;
using lockstep::team;

/// Each test runs in a process of its own, which starts the program anew.
class construct_misuse : public testing::Test {
 protected:
  construct_misuse() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

using part = std::function<void(member&)>;

/// Member `odd` of a region of `size` does something else than the others.
void differ(std::size_t size, std::size_t odd, const part& one, const part& another) {
  team workers(size);
  workers.run([&](member& me) { (me.rank() == odd ? another : one)(me); });
}

const part sync = [](member& me) { me.sync_threads(); };
const part single = [](member& me) { me.single([] {}); };
const part sum = [](member& me) { me.sync_sum(1); };

TEST_F(construct_misuse, both_places_are_named_by_kind_file_and_line) {
  EXPECT_DEATH(differ(2, 1, sync, single),
               "lockstep::member: rank 0 is in sync_threads \\(.*construct_misuse_test.cpp:41\\), "
               "rank 1 is in single \\(.*construct_misuse_test.cpp:42\\); all members");
}

TEST_F(construct_misuse, in_a_region_of_any_size_by_flags_and_by_the_tree) {
  EXPECT_DEATH(differ(3, 2, sync, single), "is in sync_threads .* rank 2 is in single");
  EXPECT_DEATH(differ(9, 5, sync, single),
               "is in (sync_threads|single) .* is in (single|sync_threads)");
}

TEST_F(construct_misuse, values_are_not_read_from_members_that_brought_none) {
  const part words = [](member& me) { me.sync_sum(std::string(40, 'x')); };
  EXPECT_DEATH(differ(2, 1, words, sync), "is in sync_sum .* is in sync_threads");
  EXPECT_DEATH(differ(9, 1, words, sync), "is in (sync_sum|sync_threads)");
  const part spread = [](member& me) { me.broadcast(0, std::string(40, 'x')); };
  EXPECT_DEATH(differ(2, 0, words, spread), "rank 0 is in broadcast .* rank 1 is in sync_sum");
}

TEST_F(construct_misuse, reductions_by_operation_and_by_the_size_of_their_values) {
  const part most = [](member& me) { me.sync_max(1); };
  EXPECT_DEATH(differ(2, 1, sum, most), "is in sync_sum .* is in sync_max");
  const part wide = [](member& me) { me.sync_sum(1.0); };
  EXPECT_DEATH(differ(2, 1, sum, wide),
               "is in sync_sum .* is in sync_sum .*, with other arguments");
}

TEST_F(construct_misuse, ranges_by_their_length) {
  const auto reduces = [](int n) {
    return [n](member& me) {
      me.reduce_each(0, n, 0.0, [](int) { return 1.0; }, std::plus<double>());
    };
  };
  EXPECT_DEATH(differ(2, 1, reduces(100), reduces(101)),
               "is in reduce_each .*, with other arguments");
  EXPECT_DEATH(differ(2, 1, reduces(100), sync), "is in reduce_each .* is in sync_threads");
}

TEST_F(construct_misuse, reductions_after_a_loop_without_a_wait_that_others_have_left_out) {
  const part sum_of_range = [](member& me) {
    me.reduce_each(0, 1000, 0, [](int) { return 1; }, std::plus<int>());
  };
  const part loop_first = [&](member& me) {
    me.for_range(lockstep::nowait, 0, 1000, [](int, int) {});
    sum_of_range(me);
  };
  EXPECT_DEATH(differ(2, 0, loop_first, sum_of_range),
               "rank 0 is in reduce_each .* rank 1 is in reduction_wait .*_test.cpp:");
  const part scan = [](member& me) {
    me.scan_each(0, 1000, 0, [](int) { return 1; }, std::plus<int>(), [](int, int) {});
  };
  const part single_first = [&](member& me) {
    me.single(lockstep::nowait, [] {});
    scan(me);
  };
  EXPECT_DEATH(differ(2, 1, single_first, sync), "is in reduction_wait .* is in sync_");
}

TEST_F(construct_misuse, loops_by_their_length) {
  const auto loop = [](int n) { return [n](member& me) { me.for_each(0, n, [](int) {}); }; };
  EXPECT_DEATH(differ(2, 1, loop(100), loop(101)), "is in for_each .*, with other arguments");
  EXPECT_DEATH(differ(2, 0, loop(100), sync), "rank 0 is in sync_threads .* rank 1 is in for_each");
  EXPECT_DEATH(differ(9, 5, loop(100), single),
               "is in (for_each|single) .* is in (single|for_each)");
  const part nested = [](member& me) {
    me.for_each(lockstep::index_range_2{{0, 3}, {0, 4}}, [](std::size_t, std::size_t) {});
  };
  EXPECT_DEATH(differ(2, 1, loop(100), nested), "is in for_each .* is in for_each .*, with other");
}

TEST_F(construct_misuse, loops_that_hand_out_tickets) {
  const auto loop = [](int n) {
    return [n](member& me) { me.for_each(0, n, [](int) {}, lockstep::dynamic_schedule()); };
  };
  EXPECT_DEATH(differ(2, 1, loop(3), loop(2)), "is in for_each .*, with other arguments");
  EXPECT_DEATH(differ(2, 1, loop(3), sync), "rank 0 is in for_each .* rank 1 is in sync_threads");
}

TEST_F(construct_misuse, ordered_loops_by_their_length) {
  const auto loop = [](int n) {
    return [n](member& me) { me.for_ordered(0, n, [](int, lockstep::ordered_turn&) {}); };
  };
  // The loops are so short that no member waits for a turn: it would wait for iterations that nobody runs.
  EXPECT_DEATH(differ(2, 1, loop(0), sync), "is in for_ordered .* is in sync_threads");
  EXPECT_DEATH(differ(2, 1, loop(0), single), "is in for_ordered .* is in single");
  EXPECT_DEATH(differ(3, 2, loop(1), loop(2)), "is in for_ordered .*, with other arguments");
}

TEST_F(construct_misuse, sections_by_their_number) {
  const part one = [](member& me) { me.sections([] {}); };
  const part two = [](member& me) { me.sections([] {}, [] {}); };
  EXPECT_DEATH(differ(2, 1, one, two), "is in sections.* is in sections.*, with other arguments");
  EXPECT_DEATH(differ(2, 1, one, sync), "is in sections.* is in sync_threads");
}

TEST_F(construct_misuse, sub_teams_where_they_are_made_and_in_them) {
  const part split = [](member& me) { me.split(0); };
  EXPECT_DEATH(differ(2, 1, split, sync), "is in split .* is in sync_threads");
  const part apart = [](member& me) {
    sub_team all = me.split(0);
    if (me.rank() == 0) {
      all->sync_threads();
    } else {
      all->single([] {});
    }
  };
  EXPECT_DEATH(differ(2, 1, apart, apart), "rank 0 is in sync_threads .* rank 1 is in single");
}

TEST(construct_check, says_nothing_of_the_same_constructs_from_different_places) {
  for (const std::size_t size : {std::size_t{2}, std::size_t{9}}) {
    team workers(size);
    for (int round = 0; round < 20; ++round) {
      workers.run([&](member& me) {
        if (me.rank() == 0) {
          me.sync_threads();
          me.single([] {});
        } else {
          EXPECT_TRUE(me.sync_threads_unless_stopped());
          EXPECT_TRUE(me.single_unless_stopped([] {}));
        }
        EXPECT_EQ(me.sync_count(true), size);
        me.for_range(lockstep::nowait, 0, 1000, [](int, int) {});
        EXPECT_EQ(me.reduce_each(0, 1000, 0, [](int) { return 1; }, std::plus<int>()), 1000);
        sub_team half = me.split(me.rank() % 2);
        if (me.rank() % 2 == 0) {
          half->sync_threads();
        } else {
          half->sync_or(true);
        }
        me.sync_sum(std::string(20, 'x'));
      });
      workers.run(1, [](member& me) { me.single([] {}); });
      workers.run([round](member& me) {
        if (me.rank() == 1 && round % 3 == 0) me.request_stop();
        if (me.rank() == 0) {
          me.single([] {});
        } else if (me.single_unless_stopped([] {})) {
          me.sync_threads();
        }
        if (me.rank() == 0) me.sync_threads();
      });
    }
  }
}

/// The first thread that ends the program waits in here until the others have had all the time to print.
std::atomic<int> about_to_report{0};
void linger(int) {
  while (about_to_report.load() < 8) std::this_thread::yield();
  for (int i = 0; i < 100000; ++i) std::this_thread::yield();
}

TEST(ended_programs, of_threads_that_find_a_mistake_at_once_one_says_so_in_one_piece) {
  const lockstep::test::told_end found = lockstep::test::end_of_child([] {
    std::signal(SIGABRT, linger);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([] {
        about_to_report.fetch_add(1);
        while (about_to_report.load() < 8) std::this_thread::yield();
        lockstep::detail::end_program("%s at %p: of a test", "lockstep::mutex",
                                      static_cast<void*>(nullptr));
      });
    }
    for (std::thread& each : threads) each.join();
    return 0;
  });
  EXPECT_EQ(found.status, -SIGABRT);
  EXPECT_EQ(found.said.find("lockstep::mutex at "), 0u) << found.said;
  EXPECT_EQ(found.said.find(": of a test\n"), found.said.size() - 12) << found.said;
}

// Members that return instead of coming to the construct.

/// Member `odd` comes to one phase and returns, the others go on to `others`. If `is_late`, it most probably returns
/// while they wait there, else perhaps before.
void one_returns(std::size_t size, std::size_t odd, const part& others, bool is_late) {
  team workers(size, lockstep::wait_policy::block());
  workers.run([&](member& me) {
    me.sync_threads();
    if (me.rank() != odd) others(me);
    for (int i = 0; is_late && i < 1000; ++i) std::this_thread::yield();
  });
}

TEST_F(construct_misuse, a_member_that_has_returned_is_missed_at_once_by_flags_and_by_the_tree) {
  for (const bool is_late : {false, true}) {
    for (const std::size_t size : {std::size_t{2}, std::size_t{3}, std::size_t{10}}) {
      const std::size_t odd = size / 2;
      const std::string missed = "missing: rank " + std::to_string(odd) +
                                 ", which has returned from its part; it was last in "
                                 "sync_threads \\(.*construct_misuse_test.cpp:";
      const auto waits_in = [&](const char* kind) {
        return "rank [0-9]+ of " + std::to_string(size) + " waits in " + kind +
               " \\(.*construct_misuse_test.cpp:[0-9]+\\), phase [0-9]+; " + missed;
      };
      EXPECT_DEATH(one_returns(size, odd, sync, is_late), waits_in("sync_threads"));
      EXPECT_DEATH(one_returns(size, odd, sum, is_late), waits_in("sync_sum"));
      EXPECT_DEATH(one_returns(size, odd, single, is_late), waits_in("single"));
      const part loop = [](member& me) { me.for_each(0, 100, [](int) {}); };
      EXPECT_DEATH(one_returns(size, odd, loop, is_late), waits_in("for_each"));
    }
  }
}

TEST_F(construct_misuse, the_caller_of_the_region_is_missed_as_well) {
  EXPECT_DEATH(one_returns(2, 0, sync, false), "rank 1 of 2 waits in .* missing: rank 0, which");
  EXPECT_DEATH(one_returns(10, 0, sync, true), "waits in .* missing: rank 0, which has returned");
}

TEST_F(construct_misuse, a_member_of_a_sub_team_that_has_let_go_is_missed_there) {
  for (const std::size_t size : {std::size_t{2}, std::size_t{3}, std::size_t{10}}) {
    const auto half_returns = [size] {
      team workers(size + 1);
      workers.run([&](member& me) {
        sub_team most = me.first(size);
        if (!most || most->rank() == 1) return;
        most->sync_threads();
      });
    };
    EXPECT_DEATH(half_returns(),
                 "rank [02-9] of .* waits in sync_threads .* missing: rank 1, which has "
                 "returned from its part; it was last in no construct, phase 0");
  }
}

/// Constructs in which members wait for each other before they meet at the end, if at all.
struct inner_wait {
  const char* kind;
  void (*come_to)(member&, std::size_t odd);
} const inner_waits[] = {
    {"for_ordered .*",
     [](member& me, std::size_t) {
       me.for_ordered(0, 20, [](int, lockstep::ordered_turn& turn) { turn([] {}); });
     }},
    {"for_ordered .*",
     [](member& me, std::size_t) {
       me.for_ordered(0, 20, [](int, lockstep::ordered_turn&) {}, lockstep::dynamic_schedule());
     }},
    {"sections", [](member& me, std::size_t) { me.sections([] {}, [] {}); }},
    {"scan_each .*",
     [](member& me, std::size_t) {
       me.scan_each(0, 100, 0, [](int) { return 1; }, std::plus<int>(), [](int, int) {});
     }},
    {"a work-sharing construct",
     [](member& me, std::size_t) {
       for (int i = 0; i < 20; ++i) me.single(lockstep::nowait, [] {});
     }},
    {"a work-sharing construct",
     [](member& me, std::size_t) {
       for (int i = 0; i < 20; ++i) me.sections(lockstep::nowait, [] {}, [] {});
     }},
    {"a work-sharing construct",
     [](member& me, std::size_t) {
       for (int i = 0; i < 20; ++i) {
         me.for_each(lockstep::nowait, 0, 9, [](int) {}, lockstep::guided_schedule());
       }
     }},
    {"await_step",
     [](member& me, std::size_t odd) {
       me.publish(4);
       me.await_step(odd, 4);
     }},
};

TEST_F(construct_misuse, members_wait_inside_no_construct_for_one_that_returns_or_goes_elsewhere) {
  for (const inner_wait& wait : inner_waits) {
    for (const std::size_t size : {std::size_t{2}, std::size_t{3}, std::size_t{10}}) {
      const std::size_t odd = size / 2;
      const part others = [&](member& me) {
        wait.come_to(me, odd);
        me.sync_threads();
      };
      const std::string kind = wait.kind, rank = "rank " + std::to_string(odd);
      EXPECT_DEATH(differ(size, odd, others, [](member& me) { me.publish(3); }),
                   "rank [0-9]+ of [0-9]+ waits in " + kind + ", phase [01]; missing: " + rank +
                       ", which has returned from its part; it was last in no construct");
      EXPECT_DEATH(differ(size, odd, others, single),
                   "is in " + kind + ", rank [0-9]+ is in single .*; all members|" + rank +
                       " is in single .*, rank [0-9]+ is in " + kind + "; all members");
    }
  }
}

TEST(returned_members,
     a_step_that_was_published_comes_from_a_member_that_has_returned_or_met_others) {
  for (int i = 0; i < 100; ++i) {
    team(2).run([&](member& me) {
      if (me.rank() == 0) {
        for (int k = 0; k < i; ++k) std::this_thread::yield();
        me.await_step(1, 3);
      } else {
        me.publish(3);
      }
      if (i % 2 == 0) me.sync_threads();
    });
  }
}

TEST(returned_members, nobody_is_missed_who_has_come_or_who_throws_or_where_the_region_is_stopped) {
  for (const std::size_t size : {std::size_t{2}, std::size_t{3}, std::size_t{10}}) {
    team workers(size);
    for (int i = 0; i < 50; ++i) {
      workers.run([](member& me) {
        me.sync_threads();
        me.sync_sum(1);
      });
      EXPECT_THROW(workers.run([&](member& me) {
        sub_team half = me.split(me.rank() % 2);
        if (me.rank() == size / 2) throw std::runtime_error("thrown");
        half->sync_threads();
        me.sync_threads();
      }),
                   std::runtime_error);
      EXPECT_FALSE(workers.run([&](member& me) {
        if (me.rank() == size / 2) {
          me.request_stop();
          return;
        }
        me.sync_threads();
      }));
      workers.run([](member& me) {
        sub_team half = me.split(me.rank() % 2);
        half->sync_threads();
      });
    }
  }
}

}  // namespace
