// SPDX-License-Identifier: MIT
// tests/trace/trace_test.cpp -- TRACE-1, TRACE-2, TRACE-5, RING-2, VIEW-1 to VIEW-3, EXPORT-1 to EXPORT-3
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "observe/observers.hpp"
#include "support/asleep.hpp"
#include "support/small_files.hpp"
#include "support/threads.hpp"
#include "trace/recorder.hpp"
#include "trace/traced.hpp"
#include "wait/cpu_separation.hpp"

namespace {

using lockstep::member;
using lockstep::team;
using lockstep::trace_options;
using lockstep::test::run_threads;
using lockstep::test::scratch_file;
using lockstep::test::seen_event;
using lockstep::test::seen_trace;
using lockstep::test::trace_of;
using lockstep::test::watched_thread;

TEST(trace, VIEW_2_EXPORT_2_whatever_a_team_does_gives_a_valid_file_whose_slices_nest) {
  for (const std::size_t size : {1u, 2u, 3u, 9u}) {
    team workers(size);
    const seen_trace seen = trace_of([&] {
      LOCKSTEP_TRACE_SCOPE("all of it");
      std::vector<double> values(1000, 1.0);
      for (int i = 0; i < 5; ++i) {
        workers.run([&](member& me) {
          LOCKSTEP_TRACE_SCOPE("step");
          me.sync_threads();
          static_cast<void>(me.sync_sum(1.0));
          me.for_each(0, 1000, [&](std::size_t k) { values[k] += 1; });
          me.for_each(
              0, 1000, [&](std::size_t k) { values[k] += 1; }, lockstep::dynamic_schedule(16));
          me.single([] {});
          static_cast<void>(me.broadcast(0, 7));
          lockstep::sub_team half = me.split(me.rank() % 2);
          half->sync_threads();
          workers.run([](member& alone) { alone.sync_threads(); });
        });
        workers.for_each(0, 1000, [&](std::size_t k) { values[k] *= 0.5; });
        static_cast<void>(workers.reduce_each(
            0, 1000, 0.0, [&](std::size_t k) { return values[k]; }, std::plus<double>()));
      }
      EXPECT_THROW(workers.run([](member& me) {
        if (me.rank() == me.size() - 1) throw std::runtime_error("one");
        me.sync_threads();
      }),
                   std::runtime_error);
    });
    EXPECT_EQ(seen.named("all of it").size(), 1u + 5 + 5 + 5 + 1) << "regions have the user's name";
    EXPECT_EQ(seen.file().at("otherData").at("dropped"), 0);
    EXPECT_EQ(seen.file().at("otherData").at("members"), size);
  }
}

TEST(trace, every_member_has_one_part_in_each_region_and_one_visit_to_each_construct) {
  constexpr std::size_t size = 3, regions = 10, phases = 4;
  team workers(size);
  const seen_trace seen = trace_of([&] {
    for (std::size_t i = 0; i < regions; ++i) {
      workers.run([](member& me) {
        for (std::size_t k = 0; k < phases; ++k) me.sync_threads();
      });
    }
  });
  EXPECT_EQ(seen.of("region").size(), regions);
  std::map<int, std::set<int>> ranks;
  for (const seen_event& each : seen.of("part")) {
    EXPECT_TRUE(ranks[each.argument("region")].insert(each.argument("rank").get<int>()).second);
    EXPECT_EQ(each.argument("of"), size);
  }
  EXPECT_EQ(ranks.size(), regions);
  for (const auto& each : ranks) EXPECT_EQ(each.second.size(), size);
  EXPECT_EQ(seen.named("sync_threads").size(), size * regions * phases);
  for (const seen_event& each : seen.named("sync_threads")) {
    EXPECT_NE(each.argument("where").get<std::string>().find("trace_test.cpp:"), std::string::npos);
  }
}

TEST(trace, VIEW_3_arrows_of_a_barrier_go_from_the_last_to_arrive_to_all_that_it_lets_go) {
  constexpr std::size_t size = 3, phases = 50;
  team workers(size);
  const seen_trace seen = trace_of([&] {
    workers.run([](member& me) {
      for (std::size_t k = 0; k < phases; ++k) me.sync_threads();
    });
  });
  struct visit {
    std::int64_t arrived, released;
    int track;
  };
  std::map<int, std::vector<visit>> of_phase;
  for (const seen_event& each : seen.named("sync_threads")) {
    const std::int64_t waited = lockstep::test::nanoseconds(each.argument("waited"));
    of_phase[each.argument("phase")].push_back({each.end - waited, each.end, each.track});
  }
  const auto arrows = seen.arrows("barrier");
  std::size_t expected = 0;
  for (const auto& [phase, visits] : of_phase) {
    ASSERT_EQ(visits.size(), size);
    visit last = visits[0];
    for (const visit& each : visits) last = each.arrived > last.arrived ? each : last;
    for (const visit& each : visits) {
      if (each.track == last.track || each.released <= last.arrived + 1) continue;
      ++expected;
      std::size_t found = 0;
      for (const auto& [from, to] : arrows) {
        found += from.track == last.track && to.track == each.track &&
                 from.begin >= last.arrived - 1 && from.begin <= last.arrived + 1 &&
                 to.begin >= each.released - 2 && to.begin <= each.released;
      }
      EXPECT_EQ(found, 1u) << "phase " << phase;
    }
  }
  EXPECT_GE(arrows.size(), expected);
  EXPECT_LE(arrows.size(), (size - 1) * phases);
  EXPECT_GT(expected, 0u);
}

TEST(trace, VIEW_3_arrows_of_a_region_go_from_its_caller_to_the_parts_of_the_others) {
  constexpr std::size_t size = 3, regions = 20;
  team workers(size);
  const seen_trace seen = trace_of([&] {
    for (std::size_t i = 0; i < regions; ++i) workers.run([](member&) {});
  });
  const auto arrows = seen.arrows("region");
  EXPECT_EQ(arrows.size(), (size - 1) * regions);
  std::set<std::int64_t> begins_of_regions, begins_of_parts;
  for (const seen_event& each : seen.of("region")) begins_of_regions.insert(each.begin);
  for (const seen_event& each : seen.of("part")) begins_of_parts.insert(each.begin);
  for (const auto& [from, to] : arrows) {
    EXPECT_NE(from.track, to.track);
    EXPECT_TRUE(begins_of_regions.count(from.begin));
    EXPECT_TRUE(begins_of_parts.count(to.begin));
  }
}

TEST(trace, VIEW_3_arrows_join_members_of_the_same_meeting_though_sub_teams_come_again) {
  constexpr std::size_t rounds = 20;
  team workers(2);
  const seen_trace seen = trace_of([&] {
    workers.run([](member& me) {
      for (std::size_t i = 0; i < rounds; ++i) {
        lockstep::sub_team all = me.split(0);
        all->sync_threads();
      }
    });
  });
  std::vector<seen_event> visits = seen.named("sync_threads");
  EXPECT_EQ(visits.size(), 2 * rounds);
  std::size_t joined = 0;
  for (const auto& [from, to] : seen.arrows("barrier")) {
    const auto is_around = [](const seen_event& visit, const seen_event& at) {
      return visit.track == at.track && visit.begin <= at.begin && at.begin <= visit.end;
    };
    for (const seen_event& sender : visits) {
      for (const seen_event& receiver : visits) {
        if (!is_around(sender, from) || !is_around(receiver, to)) continue;
        ++joined;
        EXPECT_LE(receiver.begin, sender.end) << "they are in the meeting at the same time";
        EXPECT_LE(sender.begin, receiver.end);
      }
    }
  }
  EXPECT_GE(joined, rounds / 2);
}

/// wait() on one thread until it sleeps, then let_go() on another: one arrow between the two, and the wait's name.
template <class Wait, class Release>
void expect_wake(const std::string& kind, const void* object, Wait wait, Release let_go) {
  SCOPED_TRACE(kind);
  const seen_trace seen = trace_of([&] {
    watched_thread watched;
    std::thread waiter([&] {
      lockstep::name_this_thread("waiter");
      watched.enter();
      wait();
    });
    watched.wait_until_asleep();
    std::thread notifier([&] {
      lockstep::name_this_thread("notifier");
      let_go();
    });
    notifier.join();
    waiter.join();
  });
  ASSERT_EQ(seen.tracks("waiter").size(), 1u);
  ASSERT_EQ(seen.tracks("notifier").size(), 1u);
  std::size_t waits = 0;
  for (const seen_event& each : seen.of("wait")) {
    if (each.track != *seen.tracks("waiter").begin() || each.argument("stage") != "sleep") continue;
    ++waits;
    EXPECT_EQ(each.argument("for"), kind);
    if (object == nullptr) continue;
    char text[32];
    std::snprintf(text, sizeof text, "%p", object);
    EXPECT_EQ(each.argument("object"), text);
  }
  EXPECT_GE(waits, 1u);
  std::size_t arrows = 0;
  for (const auto& [from, to] : seen.arrows("wake")) {
    arrows += from.track == *seen.tracks("notifier").begin() &&
              to.track == *seen.tracks("waiter").begin();
  }
  EXPECT_EQ(arrows, 1u);
}

TEST(trace, VIEW_3_a_wait_that_sleeps_is_named_and_an_arrow_comes_from_the_thread_that_woke_it) {
  using lockstep::test::waited;
  using all = lockstep::test::faces<lockstep::test::face_list, waited<lockstep::semaphore>,
                                    waited<lockstep::condition_variable>>;
  all::for_each({}, [](auto& one) {
    expect_wake(
        lockstep::test::kind_of(one), &one.object, [&] { one.wait(); }, [&] { one.notify(); });
  });
}

TEST(trace, VIEW_3_a_wake_of_before_a_wait_has_no_arrow_to_it) {
  // A thread that loses its CPU before it sleeps may find that the time is over.
  for (std::size_t sleeps = 0; sleeps == 0;) {
    const seen_trace seen = trace_of([] {
      lockstep::event object(lockstep::wait_policy::block());
      watched_thread watched;
      std::thread first([&] {
        watched.enter();
        object.wait();
      });
      watched.wait_until_asleep();
      std::thread([&] { object.notify(); }).join();
      first.join();
      std::thread late([&] {
        lockstep::name_this_thread("late");
        EXPECT_EQ(object.wait_for(std::chrono::milliseconds(2)), lockstep::wait_status::timed_out);
      });
      late.join();
    });
    ASSERT_EQ(seen.tracks("late").size(), 1u);
    const int track = *seen.tracks("late").begin();
    for (const seen_event& each : seen.of("wait"))
      sleeps += each.track == track && each.argument("stage") == "sleep";
    EXPECT_LE(sleeps, 1u);
    for (const auto& arrow : seen.arrows("wake")) EXPECT_NE(arrow.second.track, track);
  }
}

TEST(trace, a_wait_for_a_lock_is_named_and_ends_with_its_holder) {
  const auto expect = [](const std::string& kind, const void* object, auto lock, auto unlock) {
    lock();
    const seen_trace seen = trace_of([&] {
      watched_thread watched;
      std::thread waiter([&] {
        watched.enter();
        lock();
        unlock();
      });
      watched.wait_until_asleep();
      unlock();
      waiter.join();
    });
    char text[32];
    std::snprintf(text, sizeof text, "%p", object);
    std::size_t waits = 0;
    for (const seen_event& each : seen.of("wait")) {
      if (each.argument("for") != kind) continue;
      EXPECT_EQ(each.argument("object"), text);
      waits += each.argument("stage") == "sleep";
    }
    EXPECT_GE(waits, 1u) << kind;
    EXPECT_GE(seen.arrows("wake").size(), 1u);
  };
  lockstep::mutex plain;
  expect("lockstep::mutex", &plain, [&] { plain.lock(); }, [&] { plain.unlock(); });
  lockstep::shared_mutex shared;
  expect("lockstep::shared_mutex", &shared, [&] { shared.lock(); }, [&] { shared.unlock(); });
}

TEST(trace, a_wait_has_the_name_of_its_object_and_the_place_of_its_call) {
  lockstep::event named, nameless;
  const seen_trace seen = trace_of([&] {
    const lockstep::named_object name(&named, "the \"first\"");
    for (lockstep::event* const each : {&named, &nameless}) {
      watched_thread watched;
      std::thread waiter([&] {
        watched.enter();
        each->wait();
      });
      watched.wait_until_asleep();
      each->notify();
      waiter.join();
    }
  });
  const auto with = seen.named("waits for lockstep::event 'the \"first\"'");
  const auto without = seen.named("waits for lockstep::event");
  ASSERT_EQ(with.size(), 1u);
  ASSERT_EQ(without.size(), 1u);
  EXPECT_EQ(with[0].argument("label"), "the \"first\"");
  EXPECT_EQ(with[0].argument("for"), "lockstep::event");
  EXPECT_FALSE(without[0].all.at("args").contains("label"));
  for (const seen_event& each : {with[0], without[0]}) {
    const std::string where = each.argument("where");
    EXPECT_NE(where.find("trace_test.cpp:"), std::string::npos) << where;
  }
}

TEST(trace, RING_2_a_full_ring_loses_the_oldest_records_and_says_so) {
  constexpr std::uint64_t marks = 1000;
  const seen_trace seen = trace_of(
      [] {
        for (std::uint64_t i = 0; i < marks; ++i) lockstep::trace_mark("mark", i);
      },
      trace_options(64));
  const std::vector<seen_event> found = seen.named("mark");
  EXPECT_LE(found.size(), 64u);
  EXPECT_GE(found.size(), 60u);
  const std::uint64_t lost = seen.file().at("otherData").at("dropped");
  EXPECT_GE(lost + found.size(), marks);
  EXPECT_LE(lost + found.size(), marks + 1);  // and the record of the thread's name
  const std::uint64_t first = marks - found.size();
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].argument("value"), first + i);
}

TEST(trace, regions_have_the_place_of_their_call) {
  team workers(2);
  unsigned lines[2] = {};
  const seen_trace seen = trace_of([&] {
    for (int i = 0; i < 3; ++i) {
      workers.for_each(0, 10, [](int) {}), lines[0] = __LINE__;
      workers.run([](member&) {}), lines[1] = __LINE__;
    }
    const std::string summary = lockstep::trace_summary();
    EXPECT_NE(summary.find("loop at trace_test.cpp:" + std::to_string(lines[0])), std::string::npos)
        << summary;
  });
  std::map<std::string, int> places;
  for (const seen_event& each : seen.of("region")) {
    const std::string where = each.argument("where");
    ++places[each.name + " " + where.substr(where.find_last_of("/") + 1)];
  }
  EXPECT_EQ(places["loop trace_test.cpp:" + std::to_string(lines[0])], 3);
  EXPECT_EQ(places["run trace_test.cpp:" + std::to_string(lines[1])], 3);
}

TEST(trace, RING_2_TRACE_2_a_thread_that_lost_records_says_from_when_on_there_are_all) {
  const seen_trace seen = trace_of(
      [&] {
        for (std::uint64_t i = 0; i < 500; ++i) lockstep::trace_mark("one", i);
        std::thread([] { lockstep::trace_mark("another"); }).join();
      },
      trace_options(64));
  std::vector<nlohmann::json> losses;
  for (const nlohmann::json& each : seen.file().at("traceEvents")) {
    if (each.at("name") == "thread_lost") losses.push_back(each);
  }
  ASSERT_EQ(losses.size(), 1u) << "the other thread has lost none";
  const nlohmann::json& loss = losses[0].at("args");
  EXPECT_EQ(loss.at("records"), seen.file().at("otherData").at("dropped"));
  const std::vector<seen_event> marks = seen.named("one");
  EXPECT_EQ(lockstep::test::nanoseconds(loss.at("whole_from")), marks.front().begin);
  EXPECT_EQ(losses[0].at("tid"), marks[0].track);
}

TEST(trace, TRACE_2_a_ring_for_which_there_is_no_room_is_refused) {
  for (const std::size_t records :
       {std::size_t{1} << 31, std::numeric_limits<std::size_t>::max()}) {
    EXPECT_FALSE(lockstep::start_trace(trace_options(records)));
    EXPECT_FALSE(lockstep::is_tracing());
  }
  const seen_trace seen = trace_of([] { lockstep::trace_mark("one"); });
  EXPECT_EQ(seen.named("one").size(), 1u);
}

TEST(trace, names_do_not_break_the_lines_of_reports) {
  const char* const evil = "red\x1b[31m\nline";
  team workers(lockstep::team_options().members(2).ledger(true).name(evil));
  lockstep::event never;
  const lockstep::named_object name(&never, evil);
  ASSERT_TRUE(lockstep::start_watchdog(lockstep::watchdog_options().after(std::chrono::hours(1))));
  std::string all;
  static_cast<void>(trace_of([&] {
    LOCKSTEP_TRACE_SCOPE(evil);
    lockstep::trace_mark(evil);
    workers.run([](member& me) { me.sync_threads(); });
    watched_thread waiter;
    std::thread other([&] {
      lockstep::name_this_thread(evil);
      waiter.enter();
      never.wait();
    });
    waiter.wait_until_asleep();
    all = lockstep::who_waits();
    never.notify();
    other.join();
    all += lockstep::trace_summary() + workers.ledger().table();
  }));
  lockstep::stop_watchdog();
  EXPECT_EQ(all.find('\x1b'), std::string::npos) << all;
  EXPECT_EQ(all.find("\nline"), std::string::npos) << all;
  std::size_t told = 0;
  for (std::size_t at = 0; (at = all.find("red?[31m?line", at)) != std::string::npos; ++at) ++told;
  EXPECT_GE(told, 6u) << all;
}

TEST(trace, a_thread_may_be_given_no_name) {
  std::thread([] {
    lockstep::name_this_thread("some name");
    const seen_trace seen = trace_of([] {
      lockstep::trace_mark("of it");
      lockstep::name_this_thread(nullptr);
    });
    const int track = seen.named("of it").at(0).track;
    EXPECT_EQ(seen.names().at(track).find("thread "), 0u) << seen.names().at(track);
  }).join();
}

TEST(trace, VIEW_2_of_slices_that_begin_together_the_longer_one_is_around_the_other) {
  using namespace lockstep::detail;
  const seen_trace seen = trace_of([] {
    thread_log& log = *log_of_this_thread();
    const std::uint64_t begin = tick_clock::now();
    // In the order in which records are written: what ends first comes first.
    recorder::put(log, record_kind::user, begin, begin + 1000, "innermost", 0);
    recorder::put(log, record_kind::user, begin, begin + 2000000, "inner", 0);
    recorder::put(log, record_kind::user, begin, begin + 4000000, "outer", 0);
  });
  ASSERT_EQ(seen.of("user").size(), 3u);
  EXPECT_EQ(seen.of("user")[0].name, "outer");
  EXPECT_EQ(seen.of("user")[2].name, "innermost");
}

TEST(trace, VIEW_1_threads_that_follow_each_other_have_tracks_of_their_own_with_their_names) {
  const seen_trace seen = trace_of([] {
    for (int i = 0; i < 5; ++i) {
      std::thread([i] {
        lockstep::name_this_thread(("thread " + std::to_string(i)).c_str());
        LOCKSTEP_TRACE_SCOPE("work");
        lockstep::trace_counter("count", i);
      }).join();
    }
  });
  for (int i = 0; i < 5; ++i) {
    const std::set<int> tracks = seen.tracks("thread " + std::to_string(i));
    ASSERT_EQ(tracks.size(), 1u) << i;
    std::size_t slices = 0;
    for (const seen_event& each : seen.events()) {
      if (each.track != *tracks.begin()) continue;
      slices += each.name == "work";
      if (each.phase == "C") {
        EXPECT_EQ(each.argument("value"), i);
      }
    }
    EXPECT_EQ(slices, 1u);
  }
}

TEST(trace, TRACE_1_one_trace_at_a_time_and_the_next_one_knows_nothing_of_it) {
  const std::uint32_t others = lockstep::detail::observers();  // LOCKSTEP_DELAY may be set
  EXPECT_FALSE(lockstep::stop_trace());
  EXPECT_FALSE(lockstep::is_tracing());
  const seen_trace first = trace_of([] {
    EXPECT_TRUE(lockstep::is_tracing());
    EXPECT_FALSE(lockstep::start_trace());
    lockstep::trace_mark("first");
  });
  lockstep::trace_mark("between");
  const seen_trace second =
      trace_of([] { lockstep::trace_mark("second"); }, trace_options(1 << 17));
  EXPECT_EQ(first.named("first").size(), 1u);
  EXPECT_EQ(second.events().size(), 1u);
  EXPECT_EQ(second.named("second").size(), 1u);
  EXPECT_EQ(lockstep::detail::observers(), others);
}

TEST(trace, EXPORT_3_a_file_that_cannot_be_written_is_told_by_its_name) {
  ASSERT_TRUE(lockstep::start_trace());
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(lockstep::stop_trace("/no such directory/trace.json"));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("/no such directory/trace.json"), std::string::npos) << said;
  EXPECT_NE(said.find("No such file"), std::string::npos) << said;
  const scratch_file to;
  EXPECT_TRUE(lockstep::write_trace(to.path())) << "what was recorded is still there";
  const seen_trace seen(to.read());
}

TEST(trace, EXPORT_3_FILE_5_a_file_that_may_not_grow_is_told_and_raises_no_signal) {
  lockstep::test::counted_signals handler(SIGXFSZ);
  const scratch_file to;
  ASSERT_TRUE(lockstep::start_trace());
  bool is_written = true;
  {
    const lockstep::test::small_files
        limit;  // also for what it says on stderr, where that is a file
    is_written = lockstep::stop_trace(to.path());
  }
  EXPECT_FALSE(is_written);
  EXPECT_EQ(handler.count(), 0);
  EXPECT_TRUE(lockstep::write_trace(to.path())) << "what was recorded is still there";
  const seen_trace seen(to.read());
}

TEST(trace, EXPORT_1_TRACE_5_names_of_any_bytes_give_valid_json) {
  const std::vector<std::string> names = {"plain",
                                          "\"quoted\" \\ back",
                                          std::string("control \x01\x1f\n\t\x7f"),
                                          "gr\xc3\xbc\xc3\x9f",
                                          "\xe2\x82\xac",
                                          "\xf0\x9f\x98\x80",
                                          "bad \xc3",
                                          "bad \x80\xff",
                                          "bad \xe0\x80\x80",
                                          "bad \xed\xa0\x80",
                                          "bad \xf5\x80\x80\x80",
                                          ""};
  const seen_trace seen = trace_of([&] {
    for (const std::string& each : names) {
      char place[32];
      std::snprintf(place, sizeof place, "%s", each.c_str());  // the same address each time
      lockstep::trace_mark(place);
    }
    lockstep::trace_counter("not a number", std::numeric_limits<double>::infinity());
  });
  const std::vector<seen_event> marks = seen.of("user");
  ASSERT_EQ(marks.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].find("bad") == std::string::npos) {
      EXPECT_EQ(marks[i].name, names[i]);
    }
  }
}

TEST(trace, decisions_about_loops_are_marks_with_their_reasons) {
  team workers(2);
  std::vector<int> values(100000);
  const seen_trace seen = trace_of([&] {
    workers.for_each(0, 1, [&](std::size_t i) { values[i] += 1; });
    workers.for_each(
        0, values.size(), [&](std::size_t i) { values[i] += 1; }, lockstep::static_schedule());
    workers.run(1, [&](member&) { workers.run([](member&) {}); });
    const team crowd(64);
  });
  const std::vector<seen_event> decisions = seen.of("decision");
  ASSERT_EQ(decisions.size(), 3u);
  EXPECT_EQ(decisions[2].name, "run inline");
  EXPECT_EQ(seen.of("crowded").size(), 1u);
  EXPECT_EQ(decisions[0].name, "loop inline");
  EXPECT_EQ(decisions[0].argument("why"), "there is one iteration at most");
  for (const seen_event& each : decisions)
    EXPECT_FALSE(each.argument("why").get<std::string>().empty());
}

TEST(trace, a_member_that_leaves_its_cpu_says_so) {
  if (lockstep::detail::current_cpu() < 0) GTEST_SKIP() << "the system does not tell the CPU";
  const seen_trace seen = trace_of([] {
    lockstep::detail::cpu_separation board(2, true);
    while (!board.shares_cpu(1)) continue;
  });
  EXPECT_EQ(seen.of("separated").size(), 1u);
}

TEST(trace, nodes_of_a_plan_have_their_names_and_run_in_order) {
  team workers(2);
  lockstep::graph flow;
  const auto load = flow.node("load", [] {});
  const auto left = flow.node("left", [] {}), right = flow.node("right", [] {});
  const auto store = flow.node("store", [] {});
  flow.edge(load, left).edge(load, right).edge(left, store).edge(right, store);
  lockstep::plan plan(flow, workers);
  const seen_trace seen = trace_of([&] { plan.run(10); });
  const auto nodes = [&](const char* name) {
    std::map<int, seen_event> of_iteration;
    for (const seen_event& each : seen.named(name))
      of_iteration.emplace(each.argument("iteration"), each);
    return of_iteration;
  };
  const auto first = nodes("load"), middle = nodes("left"), last = nodes("store");
  ASSERT_EQ(first.size(), 10u);
  ASSERT_EQ(middle.size(), 10u);
  ASSERT_EQ(last.size(), 10u);
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(first.at(i).end, middle.at(i).begin + 1);
    EXPECT_LE(middle.at(i).end, last.at(i).begin + 1);
  }
}

TEST(trace, a_summary_names_threads_and_regions) {
  team workers(2);
  const seen_trace seen = trace_of([&] {
    LOCKSTEP_TRACE_SCOPE("assemble");
    workers.run([](member& me) { me.sync_threads(); });
    for (int i = 0; i < 3; ++i) lockstep::trace_mark("checkpoint");
  });
  const std::string text = lockstep::trace_summary();
  const std::size_t mark = text.find("checkpoint");
  ASSERT_NE(mark, std::string::npos) << text;
  EXPECT_NE(text.substr(mark, 60).find(" mark "), std::string::npos) << text;
  EXPECT_NE(text.substr(mark, 60).find(" 3 "), std::string::npos) << text;
  EXPECT_NE(text.find("lockstep 1"), std::string::npos) << text;
  EXPECT_NE(text.find("assemble"), std::string::npos) << text;
  EXPECT_NE(text.find("sync_threads"), std::string::npos) << text;
}

TEST(trace, external_teams_are_seen_like_teams) {
  lockstep::external_team crew(2);
  const seen_trace seen = trace_of([&] {
    run_threads(2, [&](std::size_t rank) {
      if (rank == 0) {
        for (int i = 0; i < 3; ++i) crew.run([](member& me) { me.sync_threads(); });
        crew.release();
      } else {
        crew.serve(rank);
      }
    });
  });
  EXPECT_EQ(seen.named("sync_threads").size(), 6u);
  EXPECT_EQ(seen.of("region").size(), 3u);
}

}  // namespace
