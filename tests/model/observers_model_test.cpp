// SPDX-License-Identifier: MIT
// tests/model/observers_model_test.cpp -- what observers write and read while threads run, under all schedules
//
// The words of the observers are on the atomic seam here (LOCKSTEP_SEAM_OBSERVERS). The hooks of the layers above find a
// log through their thread; the threads of a model are all one thread of the system, so scenarios say which log it is.
#include <lockstep/ledger.hpp>
#include "observe/hooks.hpp"
#include "trace/ledger_board.hpp"
#include "trace/names.hpp"
#include "trace/trace_view.hpp"

#include <cstring>
#include <memory>

#include "model/scenario.hpp"

namespace lockstep::model {
namespace {

void explore_within(std::vector<budget> budgets, const std::function<void()>& scenario) {
  plan by;
  by.budgets = std::move(budgets);
  explore(scenario, by);
}

/// The texts that scenarios record are kept before the first of them: a table of texts has many atomics.
const bool texts_are_kept = [] {
  for (const char* each : {"mark", "", "sync_threads", "file"}) static_cast<void>(keep_text(each));
  return true;
}();

/// The lock of traces, too, may be left taken by an execution that failed.
const bool locks_are_freed = [] {
  static void (*const others)() = empty_queues;
  empty_queues = [] {
    others();
    ::new (static_cast<void*>(&process().trace_forks)) fork_section;
    ::new (static_cast<void*>(&process().name_forks)) fork_section;
  };
  return true;
}();

/// What observers know in the process: nothing yet, but those texts. Gone with this object.
class fresh_process {
 public:
  fresh_process() {
    process_state& all = process();
    all.observers.store(0, memory_order_relaxed);
    all.thread_logs.store(nullptr, memory_order_relaxed);
    all.trace.store(nullptr, memory_order_relaxed);
  }
  ~fresh_process() {
    for (thread_log* at = thread_log::first(); at != nullptr;) {
      thread_log* const next = at->next();
      delete at->ring.load(memory_order_relaxed);
      delete at;
      at = next;
    }
    delete recorder::session();
    process_state& all = process();
    all.thread_logs.store(nullptr, memory_order_relaxed);
    all.trace.store(nullptr, memory_order_relaxed);
  }
  fresh_process(const fresh_process&) = delete;
  fresh_process& operator=(const fresh_process&) = delete;
};

struct two_numbers {
  std::uint64_t one, other;
};

TEST(observers_model, what_is_shown_is_read_whole_and_never_older_than_before_LOG_2) {
  explore_within(middle(), [] {
    shown<two_numbers> place;
    threads({[&] {
               place.show({1, 1});
               place.show({2, 2});
             },
             [&] {
               std::uint64_t last = 0;
               times(2, [&](int) {
                 two_numbers seen;
                 if (!place.read(seen, 2)) return;
                 check(seen.one == seen.other, "both are of one time");
                 check(seen.one >= last && seen.one > 0, "not older than what was read before");
                 last = seen.one;
               });
             }});
    two_numbers seen;
    check(place.read(seen) && seen.one == 2, "the last is read afterwards");
  });
}

TEST(observers_model, a_log_has_one_thread_at_a_time_and_is_whole_in_the_list_LOG_1) {
  explore_within(middle(), [] {
    const fresh_process here;
    const auto live = [](std::uint64_t number) {
      thread_log* const log = thread_log::take(number);
      log->open_parts = static_cast<std::uint32_t>(number);
      check(log->thread() == number, "it is this thread's");
      check(log->open_parts == number, "nobody else writes there");
      thread_log::give_back(*log);
    };
    thread_log::give_back(*thread_log::take(3));  // for one of the two
    threads({[&] { live(1); }, [&] { live(2); },
             [&] {
               std::uint32_t expected = ~std::uint32_t{0};
               for (const thread_log* at = thread_log::first(); at != nullptr; at = at->next()) {
                 check(at->track() < expected, "each has a track of its own");
                 expected = at->track();
                 check(at->thread() <= 2, "a thread's or nobody's");
               }
             }});
    unsigned logs = 0;
    for (const thread_log* at = thread_log::first(); at != nullptr; at = at->next()) ++logs;
    check(logs == 1 || logs == 2, "one for each thread at most");
    check(thread_log::first()->track() + 1 == logs, "tracks have no gaps");
  });
}

TEST(observers_model, logs_that_are_made_at_the_same_time_have_tracks_of_their_own) {
  explore_within(middle(), [] {
    const fresh_process here;
    const thread_log *first = nullptr, *second = nullptr;
    threads({[&] { first = thread_log::take(1); }, [&] { second = thread_log::take(2); }});
    check(first != second && first->track() + second->track() == 1, "0 and 1");
  });
}

/// Enough to read an old value whole.
constexpr unsigned most_stale = 16;

shown_wait wait_since(std::uint64_t tick) {
  shown_wait made = {};
  made.since = tick;
  return made;
}

TEST(observers_model, a_wait_that_is_counted_is_the_one_that_is_read) {
  explore_within({{2, 0, 0}, {1, most_stale, 0}}, [] {
    const fresh_process here;
    thread_log& log = *thread_log::take(1);
    log.wait_begins(wait_since(1), false);
    log.wait_ends(false);
    // Nobody looks before that has ended.
    threads({[&] { log.wait_begins(wait_since(2), false); },
             [&] {
               shown_wait seen;
               if (log.wait_at(0, seen)) check(seen.since == 2, "not the wait of before");
             }});
  });
}

TEST(observers_model, a_wait_is_one_of_the_thread_that_has_the_log) {
  explore_within({{2, 0, 0}, {1, most_stale, 0}}, [] {
    const fresh_process here;
    thread_log& log = *thread_log::take(1);
    threads({[&] {
               log.wait_begins(wait_since(1), false);
               log.wait_ends(false);
               thread_log::give_back(log);
             },
             [&] { thread_log::take(2); },
             [&] {
               if (log.thread() != 2) return;
               shown_wait seen;
               check(!log.wait_at(0, seen), "the next thread waits for nothing");
             }});
  });
}

trace_record numbered(std::uint64_t number) {
  trace_record made = {};
  made.begin = made.end = made.number = made.more = number;
  return made;
}

/// The records in the copy are whole, and follow each other.
std::size_t check_copy(const record_ring& ring, std::uint64_t& first) {
  trace_record copied[4];
  const std::size_t count = ring.copy(copied, 4);
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::uint64_t word :
         {copied[i].begin, copied[i].end, copied[i].number, copied[i].more}) {
      check(word == copied[0].begin + i, "a record is whole, and after the one before it");
    }
  }
  first = count > 0 ? copied[0].begin : 0;
  return count;
}

TEST(observers_model, records_are_read_whole_while_their_thread_writes_over_them_RING_1) {
  explore_within({{2, 0, 0}, {1, 1, 0}}, [] {
    record_ring* const ring = record_ring::make(4, nullptr);
    ring->begin(1, 4);
    for (std::uint64_t i = 1; i <= 3; ++i) ring->put(numbered(i));
    threads({[&] {
               for (std::uint64_t i = 4; i <= 6; ++i) ring->put(numbered(i));
             },
             [&] {
               std::uint64_t first = 0;
               check_copy(*ring, first);
             }});
    std::uint64_t first = 0;
    check(check_copy(*ring, first) == 3 && first == 4, "all but the one that may be written over");
    check(ring->count() == 6, "all are counted");
    delete ring;
  });
}

/// What a trace has of each log, read as trace_view does.
void check_view(std::uint64_t least, std::uint64_t most) {
  const trace_view view;
  std::uint64_t marks = 0;
  for (const trace_view::track& each : view.tracks) {
    std::uint64_t writer = 0;
    for (std::size_t i = each.first; i < each.last; ++i) {
      const trace_record& at = view.record_of(view.events[i]);
      if (at.kind != record_kind::user) continue;
      ++marks;
      check(writer == 0 || writer == at.number, "a track is of one thread");
      check(std::strcmp(at.text, "mark") == 0, "texts are whole");
      writer = at.number;
    }
  }
  check(marks >= least && marks <= most, "what was recorded is there, and no more");
}
void mark(thread_log& log, std::uint64_t number) {
  recorder::put(log, record_kind::user, 1, 1, "mark", number);
}

TEST(observers_model, traces_begin_and_end_while_threads_record_RECORD_1) {
  explore_within({{2, 0, 0}, {1, 1, 0}}, [] {
    const fresh_process here;
    thread_log& log = *thread_log::take(1);
    threads({[&] {
               times(2, [&](int) {
                 if (is_observed_by(observer::records)) mark(log, 1);
               });
             },
             [&] {
               check(recorder::start(4), "none runs");
               check(recorder::stop(), "one runs");
               check_view(0, 2);
               check(recorder::start(8), "none runs");
               check_view(0, 2);
             }});
    check(recorder::is_running(), "the second");
    const bool is_counted = is_observed_by(observer::records);
    check(is_counted, "it is on");
    mark(log, 1);
    check(log.ring.load(memory_order_relaxed)->room() == 8,
          "it has room for what the second wants");
    check_view(1, 3);
  });
}

TEST(observers_model, a_ring_goes_to_the_next_thread_of_its_log_and_tells_the_two_apart_VIEW_1) {
  explore_within({{2, 0, 0}, {1, 1, 0}}, [] {
    const fresh_process here;
    check(recorder::start(8), "none runs");
    const auto live = [](std::uint64_t number) {
      thread_log& log = *thread_log::take(number);
      mark(log, number);
      thread_log::give_back(log);
    };
    threads({[&] { live(1); }, [&] { live(2); }, [&] { check_view(0, 2); }});
    check_view(2, 2);
  });
}

TEST(observers_model, texts_are_whole_for_all_who_find_them) {
  explore_within({{2, 0, 0}, {1, 1, 0}}, [] {
    void* const before = process().trace_texts.load(memory_order_relaxed);
    process().trace_texts.store(nullptr, memory_order_relaxed);
    text_keeper first, second;
    // The two have one list.
    const auto keep = [](text_keeper& by, const char* text) {
      const char* const kept = by.kept(text);
      check(kept != text && std::strcmp(kept, text) == 0, "a copy of the text");
    };
    threads({[&] { keep(first, "aB"); }, [&] { keep(second, "b!"); }});
    keep(first, "b!");
    delete kept_texts::of_process();
    process().trace_texts.store(before, memory_order_relaxed);
  });
}

void visit(thread_log& log, std::uint32_t rank) {
  log.here = construct_visit();
  log.here.kind = "sync_threads";
  log.here.rank = rank;
  log.here.came = rank;
  log.show_visit();
}

TEST(observers_model, what_is_read_of_a_thread_is_not_of_the_one_before_LOG_1) {
  explore_within({{2, 0, 0}, {1, most_stale, 0}}, [] {
    const fresh_process here;
    thread_log& log = *thread_log::take(1);
    visit(log, 1);
    log.lock_taken(&log);
    thread_log::give_back(log);
    threads({[&] { visit(*thread_log::take(2), 2); },
             [&] {
               if (log.thread() != 2) return;
               const std::uint32_t count = log.visit_count.load(memory_order_acquire);
               check(count <= 1, "it has come to one construct at most");
               construct_visit seen;
               if (count == 1 && log.visits[0].read(seen, 2)) check(seen.rank == 2, "its own");
               held_locks locks;
               if (log.locks.read(locks, 2)) check(locks.count == 0, "it holds nothing");
             }});
  });
}

TEST(observers_model, a_visit_that_is_counted_is_the_one_that_is_read) {
  explore_within({{2, 0, 0}, {1, 1, 0}}, [] {
    const fresh_process here;
    thread_log& log = *thread_log::take(1);
    threads({[&] { visit(log, 1); },
             [&] {
               const bool is_counted = log.visit_count.load(memory_order_relaxed) == 1;
               construct_visit seen[thread_log::most_visits];
               const bool is_read = log.read_visits(seen) == 1 && seen[0].rank == 1;
               check(is_read || !is_counted, "it is shown");
             }});
  });
}

TEST(observers_model, accounts_that_are_counted_have_their_construct_ACCOUNT_1) {
  explore_within(middle(), [] {
    account_table table(1);
    const construct_key first = {"sync_threads", {"file", 1}, nullptr, nullptr},
                        second = {"sync_threads", {"file", 2}, nullptr, nullptr};
    threads({[&] {
               table[table.find(first)].passes.add(1);
               table[table.find(second)].passes.add(1);
             },
             [&] {
               const std::size_t used = table.used();
               if (used > 0) check(table.key(0).is_same(first), "the first key");
               if (used > 1) check(table.key(1).is_same(second), "the second key");
             }});
  });
}

TEST(observers_model, a_name_that_is_found_is_whole_NAMED_2) {
  explore_within(middle(), [] {
    static std::uint64_t objects[1 + process_state::object_names_size];
    // Two whose names are in one list.
    const void *const one = &objects[0], *const other = &objects[process_state::object_names_size];
    const std::size_t place = reinterpret_cast<std::uintptr_t>(one) / 8;
    process().object_names[place % process_state::object_names_size].store(nullptr,
                                                                           memory_order_relaxed);
    threads({[&] {
               object_names::set(one, "one");
               object_names::set(other, "other");
             },
             [&] {
               object_name found;
               if (object_names::find(one, found)) check(found.text[2] == 'e', "its name");
             }});
    object_name known;
    check(object_names::find(one, known) && object_names::find(other, known), "both are known");
  });
}

TEST(observers_model, a_ledger_is_switched_while_its_member_counts_KEEP_1) {
  explore_within({{2, 0, 0}, {1, 1, 0}}, [] {
    const fresh_process here;
    team_view team(nullptr, 1, 1);
    threads(
        {[&] {
           keep_ledger(team, true);
           keep_ledger(team, false);
           keep_ledger(team, true);
         },
         [&] {
           times(2, [&](int) {
             if (!is_observed_by(observer::accounts)) return;
             if (ledger_board* const board = kept_board(team)) {
               member_ledger& own = board->of(0);
               own.accounts[own.accounts.find({"run", {nullptr, 0}, nullptr, nullptr})].passes.add(
                   1);
             }
           });
         },
         [&] {
           if (const ledger_board* const board = made_board(team)) {
             check(board->members() == 1, "it is whole");
             check(board->of(0).accounts.used() <= 1, "one construct at most");
           }
         }});
    check(team.kept.load(memory_order_relaxed) == team.made.load(memory_order_relaxed),
          "the board is the one that was made first");
    check(is_observed_by(observer::accounts), "it is on");
  });
}

TEST(observers_model, accounts_are_on_as_long_as_one_of_two_ledgers_is_KEEP_2) {
  explore_within(middle(), [] {
    const fresh_process here;
    team_view one(nullptr, 1, 1), other(nullptr, 1, 1);
    keep_ledger(one, true);
    threads({[&] { keep_ledger(one, false); }, [&] { keep_ledger(other, true); }});
    check(is_observed_by(observer::accounts), "the second ledger is on");
    keep_ledger(other, true);
    keep_ledger(other, false);
    keep_ledger(other, false);
    check(observers() == 0, "none is on");
  });
}

}  // namespace
}  // namespace lockstep::model
