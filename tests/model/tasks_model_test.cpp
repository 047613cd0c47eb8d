// SPDX-License-Identifier: MIT
// tests/model/tasks_model_test.cpp -- the pool of OpenMP's tasks, and their dependences, under all schedules
//
// The sources of the runtime themselves, without its regions: a member is a thread of the model, and the barrier has
// only what task_pool.hpp asks for. Memory that the pool gives back stays where it is until the execution ends, and
// counts as written then: so a use that is not ordered before is found, and so is memory that is given back twice.
#include "platform/process_fence.hpp"
#include "wait/wait_engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "model/scenario.hpp"

namespace {

std::vector<void*> given_back;

}  // namespace

namespace std {

inline void* modelled_aligned_alloc(size_t alignment, size_t size) noexcept {
  void* const made = std::aligned_alloc(alignment, size);
  lockstep::model::explorer::forget_plain(reinterpret_cast<uintptr_t>(made), size);
  return made;
}
inline void* modelled_calloc(size_t count, size_t size) noexcept {
  void* const made = std::calloc(count, size);
  lockstep::model::explorer::forget_plain(reinterpret_cast<uintptr_t>(made), count * size);
  return made;
}
inline void modelled_free(void* memory) noexcept {
  if (memory == nullptr) return;
  const bool is_first = find(given_back.begin(), given_back.end(), memory) == given_back.end();
  lockstep::model::check(is_first, "no memory is given back twice");
  lockstep::model::explorer::plain_access(reinterpret_cast<uintptr_t>(memory), 8, true);
  given_back.push_back(memory);
}

}  // namespace std

#define aligned_alloc modelled_aligned_alloc
#define calloc modelled_calloc
#define free modelled_free
#include "../../openmp/runtime/task_dependences.cpp"
#include "../../openmp/runtime/task_pool.cpp"
#undef aligned_alloc
#undef calloc
#undef free

// On modelled atomics these are made at their first use: before the first execution, not in it.
const bool statics_are_made = [] {
  lockstep::detail::process_fence::prepare();
  lockstep::detail::this_thread_history();
  lockstep::detail::wait_pulse::of_this_thread();
  return true;
}();

// What the sources need of the others.
namespace lockstep::openmp {

settings_storage::settings_storage() noexcept : value() {}
settings_storage settings_of_process;
void wake_barrier(detail::member_state&) noexcept {}
bool is_region_cancelled(const part&) noexcept { return false; }
bool is_taskgroup_cancelled(const task&) noexcept { return false; }
void fail(const char*, ...) noexcept { std::abort(); }

// There is no tool.
namespace ompt {

detail::atomic<function> callbacks[most_events];
thread_info& this_thread() noexcept { std::abort(); }
void begin_task(part&, task_info&) noexcept {}
void end_task(part&, task_info&, task_status) noexcept {}
void tell_fulfilled(task_info&, bool) noexcept {}
void tell_discarded(task_info&, int) noexcept {}

}  // namespace ompt

}  // namespace lockstep::openmp

namespace lockstep::model {
namespace {

using namespace openmp;

/// A region of two members.
struct openmp_region {
  task_pool tasks;
  detail::atomic<std::uint32_t> arrived{0};
};

struct body;

struct member {
  openmp_region& of;
  openmp::part self;

  member(openmp_region& in, unsigned rank) : of(in) {
    self.rank = rank;
    self.size = 2;
    self.implicit.variables = &process_settings().initial;
  }

  explicit_task& make(const body& what, std::size_t uses = 0);
  void add(const body& what, const dependence_list& depend = {}) {
    explicit_task& one = make(what, depend.count);
    of.tasks.add(self, *self.running, one, depend, false);
  }
  /// As if(0) does: returns when it has ended.
  void add_and_wait(const body& what, const dependence_list& depend) {
    explicit_task& one = make(what, depend.count);
    detail::atomic<bool> ended{false};
    one.is_awaited = true;
    one.tells_end = &ended;
    if (of.tasks.add(self, *self.running, one, depend, true)) of.tasks.run_now(self, one);
    of.tasks.wait_for_end(self, *self.running->family, ended);
  }
  void taskwait() {
    task_family* const family = self.running->family;
    if (family != nullptr && family->has_unfinished()) of.tasks.wait_for_children(self, *family);
  }
  /// As pass_barrier() does, but for sleepers.
  void pass_barrier() {
    if (self.tasks != nullptr) of.tasks.run_own(self);
    of.arrived.fetch_add(1, detail::memory_order_acq_rel);
    while (of.arrived.load(detail::memory_order_acquire) < 2 * (self.barriers + 1)) {
      if (of.tasks.has_ready()) {
        of.tasks.run_ready(self);
      } else {
        detail::polling_pause();
      }
    }
    if (of.tasks.has_unfinished(self.barriers & 1u)) of.tasks.finish(self, self.barriers & 1u);
    ++self.barriers;
  }
  void end() {
    pass_barrier();
    if (self.implicit.family != nullptr) end_family(self, self.implicit);
  }
};

/// What a task does, with the member that runs it.
struct body {
  std::function<void(member&)> run;
};

/// The member that the calling thread is.
member* members[8];
member& this_member() { return *members[detail::number_of_this_thread() % 8]; }

explicit_task& member::make(const body& what, std::size_t uses) {
  explicit_task& one = of.tasks.make(self, *self.running, sizeof(void*), alignof(void*), uses);
  one.function = [](void* argument) {
    const body* const does = *static_cast<const body**>(argument);
    does->run(this_member());
  };
  *static_cast<const body**>(one.argument) = &what;
  return one;
}

/// Of how many addresses, how many of these are written, the addresses.
dependence_list listed(void* const* array) {
  return {reinterpret_cast<std::size_t>(array[0]), array,
          [](const void* written, std::size_t index) noexcept -> dependence {
            void* const* const all = static_cast<void* const*>(written);
            return {all[2 + index], index < reinterpret_cast<std::size_t>(all[1])
                                        ? dependence_kind::out
                                        : dependence_kind::in};
          }};
}

/// One address that a task names.
struct depends {
  void* array[3];

  static depends out(void* on) { return {{count(1), count(1), on}}; }
  static depends in(void* on) { return {{count(1), nullptr, on}}; }
  static void* count(std::uintptr_t number) { return reinterpret_cast<void*>(number); }
  operator dependence_list() const { return listed(array); }
};

class tasks_model : public model_test {
 protected:
  /// The parts of two members, each with what it does before the end of the region.
  static void run(const std::function<void(member&)>& first,
                  const std::function<void(member&)>& second) {
    for (void* const each : given_back) std::free(each);
    given_back.clear();
    process_settings().waiting = policy();
    openmp_region in;
    const auto part_of = [&in](unsigned rank, const std::function<void(member&)>& does) {
      member me(in, rank);
      members[detail::number_of_this_thread() % 8] = &me;
      does(me);
      me.end();
    };
    threads({[&] { part_of(0, first); }, [&] { part_of(1, second); }});
  }
  static void nothing(member&) {}
  static void passes(member& me) { me.pass_barrier(); }
};
INSTANTIATE_TEST_SUITE_P(policies, tasks_model,
                         testing::ValuesIn(std::vector<setting>{{"block", wait_policy::block()},
                                                                {"adaptive", wait_policy()}}),
                         setting_name);

TEST_P(tasks_model, each_task_runs_once_before_the_barrier_ends_POOL_1) {
  explore_with(huge(), [] {
    int data[2] = {0, 0};
    const body first{[&](member&) { ++data[0]; }}, second{[&](member&) { ++data[1]; }};
    const auto sees = [&](member& me) {
      me.pass_barrier();
      check(data[0] == 1 && data[1] == 1, "sees what the tasks did");
    };
    run(
        [&](member& me) {
          me.add(first);
          me.add(second);
          sees(me);
        },
        sees);
  });
}

TEST_P(tasks_model, a_task_is_not_overlooked_by_who_has_found_none_POOL_2) {
  explore_with(huge(), [] {
    detail::wait_word done{0};
    const body task{[&](member&) { done.store(1, detail::memory_order_release); }};
    run(
        [&](member& me) {
          // It does not run the tasks itself: the other must find both.
          me.add(task);
          while (done.load(detail::memory_order_acquire) == 0) detail::polling_pause();
          done.store(0, detail::memory_order_relaxed);
          me.add(task);
          while (done.load(detail::memory_order_acquire) == 0) detail::polling_pause();
        },
        nothing);
  });
}

TEST_P(tasks_model, taskwait_returns_when_the_children_have_ended_POOL_5) {
  explore_with(huge(), [] {
    int data = 0;
    const body task{[&](member&) { ++data; }};
    run(
        [&](member& me) {
          me.add(task);
          me.taskwait();
          check(data == 1, "sees what the task did");
          data = 2;
        },
        nothing);
  });
}

TEST_P(tasks_model, children_may_outlive_their_parent_POOL_4) {
  explore_with(huge(), [] {
    int data = 0;
    const body child{[&](member&) { ++data; }};
    const body parent{[&](member& me) { me.add(child); }};
    run(
        [&](member& me) {
          me.add(parent);
          me.pass_barrier();
          check(data == 1, "the child has run");
        },
        passes);
  });
}

TEST_P(tasks_model, a_member_that_waits_for_the_last_tasks_takes_one_that_another_makes) {
  explore_with(huge(), [] {
    detail::wait_word done{0};
    const body child{[&](member&) { done.store(1, detail::memory_order_release); }};
    const body parent{[&](member& me) {
      me.add(child);
      // Another runs it: this is no place where a member takes tasks.
      while (done.load(detail::memory_order_acquire) == 0) detail::polling_pause();
    }};
    run([&](member& me) { me.add(parent); }, nothing);
  });
}

TEST_P(tasks_model, a_task_sees_what_those_did_that_it_depends_on_DEPEND_5) {
  explore_with(huge(), [] {
    char at = 0;
    int data = 0;
    depends on = depends::out(&at);
    const body task{[&](member&) { ++data; }};
    run(
        [&](member& me) {
          for (int i = 0; i < 3; ++i) me.add(task, on);
          me.pass_barrier();
          check(data == 3, "all have run");
        },
        passes);
  });
}

TEST_P(tasks_model, the_last_of_two_that_a_task_depends_on_lets_it_run_DEPEND_5) {
  explore_with(huge(), [] {
    char at[2] = {0, 0};
    int data[3] = {0, 0, 0};
    depends on_first = depends::out(&at[0]), on_second = depends::out(&at[1]);
    void* on_both[] = {depends::count(2), nullptr, &at[0], &at[1]};
    const body first{[&](member&) { data[0] = 1; }}, second{[&](member&) { data[1] = 2; }};
    const body both{[&](member&) { data[2] = data[0] + data[1]; }};
    run(
        [&](member& me) {
          me.add(first, on_first);
          me.add(second, on_second);
          me.add(both, listed(on_both));
          me.pass_barrier();
          check(data[2] == 3, "it has seen both");
        },
        passes);
  });
}

TEST_P(tasks_model, the_end_of_a_taskgroup_waits_for_its_tasks_POOL_7) {
  explore_with(huge(), [] {
    int data = 0;
    const body task{[&](member&) { ++data; }};
    run(
        [&](member& me) {
          const auto group = std::make_unique<task_group>();
          group->maker = &me.of.tasks.tasks_of(me.self);
          me.self.running->group = group.get();
          me.add(task);
          if (group->has_unfinished()) me.of.tasks.wait_for_group(me.self, *group);
          me.self.running->group = nullptr;
          check(data == 1, "sees what the task did");
        },
        nothing);
  });
}

TEST_P(tasks_model, a_task_may_become_ready_while_it_is_added_DEPEND_5) {
  explore_with(huge(), [] {
    char at = 0;
    int data = 0;
    depends on = depends::out(&at);
    detail::wait_word begun{0};
    const body first{[&](member&) {
      begun.store(1, detail::memory_order_release);
      data = 1;
    }};
    const body second{[&](member&) { check(data == 1, "sees what the first did"); }};
    run(
        [&](member& me) {
          me.add(first, on);
          while (begun.load(detail::memory_order_acquire) == 0) detail::polling_pause();
          me.add(second, on);
        },
        nothing);
  });
}

TEST_P(tasks_model, what_is_forgotten_is_seen) {
  for (const int of_two : {0, 1}) {
    explore_with({{2, 0, 0}}, [of_two] {
      char at[62];
      int data = 0;
      void* on_many[2 + 60] = {depends::count(60), depends::count(60)};
      for (int i = 0; i < 60; ++i) on_many[2 + i] = &at[i];
      void* on_two[] = {depends::count(2), depends::count(2), &at[60], &at[61]};
      depends on_one = depends::out(&at[60 + of_two]);
      detail::wait_word begun{0};
      const body nothing_much{[](member&) {}};
      const body first{[&](member&) {
        begun.store(1, detail::memory_order_release);
        data = 1;
      }};
      const body second{[&](member&) { check(data == 1, "sees what the first did"); }};
      run(
          [&](member& me) {
            me.add_and_wait(nothing_much,
                            listed(on_many));  // enough that the table looks for what has ended
            me.add(first, listed(on_two));
            while (begun.load(detail::memory_order_acquire) == 0) detail::polling_pause();
            me.add_and_wait(second, on_one);
          },
          nothing);
    });
  }
}

TEST_P(tasks_model, who_waits_for_one_task_sees_what_it_did) {
  explore_with(huge(), [] {
    char at = 0;
    int data = 0;
    depends on = depends::out(&at), later = depends::in(&at);
    const body task{[&](member&) { ++data; }};
    run(
        [&](member& me) {
          me.add(task, on);
          me.add_and_wait(task, later);
          check(data == 2, "both have run");
          data = 0;
          me.add(task, on);
          if (me.self.implicit.family != nullptr)
            me.of.tasks.wait_for_dependences(me.self, *me.self.implicit.family, later, nullptr);
          check(data == 1, "the wait sees what it waited for");
        },
        nothing);
  });
}

TEST_P(tasks_model, the_table_and_the_end_of_a_task_free_it_once_DEPEND_6) {
  explore_with(huge(), [] {
    char at = 0;
    int data = 0;
    depends on = depends::out(&at);
    const body child{[&](member&) { ++data; }};
    const body parent{[&](member& me) {
      me.add(child, on);
      me.add(child, on);
    }};
    run([&](member& me) { me.add(parent); }, nothing);
    check(data == 2, "both have run");
  });
}

TEST_P(tasks_model, an_event_lets_a_barrier_go_on) {
  explore_with(huge(), [] {
    char at = 0;
    int data = 0;
    depends on = depends::out(&at);
    detail::atomic<explicit_task*> event{nullptr};
    const body task{[&](member&) { ++data; }};
    run(
        [&](member& me) {
          explicit_task& one = me.make(task, 1);
          one.has_event = true;
          event.store(&one, detail::memory_order_release);
          me.of.tasks.add(me.self, *me.self.running, one, on, false);
          me.add(task, on);
          me.pass_barrier();
          check(data == 2, "the event was waited for");
        },
        [&](member& me) {
          explicit_task* one = nullptr;
          while ((one = event.load(detail::memory_order_acquire)) == nullptr)
            detail::polling_pause();
          task_pool::fulfil(*one);
          me.pass_barrier();
        });
  });
}

TEST(task_pace, a_maker_runs_its_tasks_itself_while_its_deque_is_half_full_POOL_9) {
  task_pool tasks;
  openmp::part self;
  EXPECT_FALSE(tasks.is_full(self)) << "has made none";
  member_tasks mine;
  self.tasks = &mine;
  process_settings().throttles_tasks = true;
  const auto is_full = [&](std::uint32_t ready) {
    mine.ready.count.store(ready, detail::memory_order_relaxed);
    return tasks.is_full(self);
  };
  for (const std::uint32_t left : {32u, 31u}) {
    EXPECT_FALSE(is_full(63));
    EXPECT_TRUE(is_full(64));
    for (int more = 0; more < 15; ++more) EXPECT_EQ(is_full(left), left == 32) << more;
    EXPECT_FALSE(is_full(63)) << "a row that has ended does not go on";
  }
  self.running->depth = 1;
  EXPECT_FALSE(is_full(4));
  self.running->depth = 2;
  EXPECT_FALSE(is_full(3));
  EXPECT_TRUE(is_full(4));
  process_settings().throttles_tasks = false;
  for (const std::uint32_t ready : {4u, 64u}) {
    EXPECT_FALSE(is_full(ready));
    self.running->depth = 0;
  }
  mine.pace = task_pace();
  for (int pushed = 0; pushed < 66; ++pushed) EXPECT_FALSE(is_full(0));
  EXPECT_EQ(mine.pace.row, 2u) << "a row has 64 tasks at most";
}

TEST(task_pace, measures_what_it_costs_to_run_a_task_and_to_push_one_POOL_9) {
  constexpr std::uint64_t time = std::uint64_t{1} << 40;
  task_pace pace;
  const auto row_took_time = [&](bool was_run, unsigned pushed, bool is_full) {
    pace.since = detail::tick_clock::now() - time;
    pace.runs = was_run;
    pace.row = pushed;
    pace.begin(is_full);
    EXPECT_LT(detail::tick_clock::now() - pace.since, time / 2) << "the next row begins now";
  };
  pace.at_once = 8;  // of 16 tasks
  row_took_time(true, 0, false);
  const std::uint64_t run = pace.run;
  EXPECT_EQ(run / (time / 8), 1u);
  row_took_time(false, 16, true);
  EXPECT_EQ(pace.push, 0u) << "a short row";
  row_took_time(false, 16, true);
  EXPECT_EQ(pace.push / (time / 16), 1u);
  EXPECT_EQ(pace.run, run);
  EXPECT_FALSE(pace.is_dear());
  row_took_time(false, 32, false);
  EXPECT_EQ(pace.push / (time / 64), 2u) << "of this row alone";
  EXPECT_EQ(pace.run, run - run / 32) << "fades while the deque is not full";
  pace.at_once = 15;
  row_took_time(true, 0, true);
  EXPECT_EQ(pace.run / time, 1u) << "one of 16 was run";
  const std::uint64_t push = pace.push;
  for (const bool runs : {true, false}) {
    pace.forget();
    pace.runs = runs;
    pace.row = 64;
    pace.begin(true);
    EXPECT_TRUE(pace.run / time == 1 && pace.push == push) << "it did something else meanwhile";
  }
}

}  // namespace
}  // namespace lockstep::model
