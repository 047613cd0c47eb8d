// SPDX-License-Identifier: MIT
// A tool that checks what it is told: each begin has its end, in order, on each thread; tasks and regions are known when
// they are spoken of, and are done with once; frames and states fit. What is wrong, and how often each event came, it
// writes to the file LOCKSTEP_OMPT_REPORT when it is finalized.
#include <pthread.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "interface.hpp"

namespace {

get_task_info_t* get_task_info;
get_parallel_info_t* get_parallel_info;
get_thread_data_t* get_thread_data;
get_state_t* get_state;
get_unique_id_t* get_unique_id;

std::mutex lock;
std::vector<std::string> wrongs;
std::atomic<unsigned> counts[38];

__attribute__((format(printf, 1, 2))) void wrong(const char* format, ...) {
  char text[256];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const std::lock_guard<std::mutex> holding(lock);
  if (wrongs.size() < 50) wrongs.push_back(text);
}
#define EXPECT(condition, ...)            \
  do {                                    \
    if (!(condition)) wrong(__VA_ARGS__); \
  } while (false)

/// What the tool keeps of a task, by its number.
struct task {
  enum { made, running, waiting, ended } is = made;
  bool is_explicit = false;
};
struct region {
  unsigned size = 0, begun = 0, ended = 0;
};
std::unordered_map<std::uint64_t, task> tasks;
std::unordered_map<std::uint64_t, region> regions;

/// What begins and ends on a thread.
struct entry {
  const char* what;
  std::uint64_t number;
  int kind;
};
struct thread {
  std::vector<entry> open;
  std::vector<std::uint64_t> running;  ///< tasks, the innermost last
  bool has_ended = false;
};

thread& here(const char* event) {
  const data* const own = get_thread_data();
  if (own == nullptr || own->pointer == nullptr) {
    wrong("%s: on a thread that has not begun", event);
    static thread lost;
    return lost;
  }
  thread& of = *static_cast<thread*>(own->pointer);
  EXPECT(!of.has_ended, "%s: after the end of the thread", event);
  return of;
}

void begin(const char* what, std::uint64_t number, int kind) {
  here(what).open.push_back({what, number, kind});
}
void end(const char* what, std::uint64_t number, int kind) {
  thread& of = here(what);
  if (of.open.empty()) return wrong("the end of %s, of which there is no begin", what);
  const entry last = of.open.back();
  of.open.pop_back();
  EXPECT(last.what == std::string(what) && last.number == number && last.kind == kind,
         "the end of %s %llu, kind %d, where %s %llu, kind %d was to end", what,
         static_cast<unsigned long long>(number), kind, last.what,
         static_cast<unsigned long long>(last.number), last.kind);
}
void endpoint(int which, const char* what, std::uint64_t number, int kind) {
  if (which == 1) return begin(what, number, kind);
  EXPECT(which == 2, "%s: neither begin nor end: %d", what, which);
  end(what, number, kind);
}

std::uint64_t fresh(data* of, const char* what) {
  EXPECT(of->value == 0, "%s: its data is not zero", what);
  return of->value = get_unique_id();
}

/// The task that the thread runs is the one that an event names; the runtime says so, too, and where its code is.
void check_current(const char* event, const data* task_data) {
  const thread& of = here(event);
  if (of.running.empty()) return wrong("%s: the thread runs no task", event);
  EXPECT(task_data != nullptr && of.running.back() == task_data->value,
         "%s: of another task than the thread runs", event);
  data* asked = nullptr;
  frame* at = nullptr;
  int flags = 0;
  EXPECT(get_task_info(0, &flags, &asked, &at, nullptr, nullptr) == 2 && asked == task_data,
         "%s: get_task_info names another task", event);
  std::size_t level = 0;
  const char* last = nullptr;
  while (get_task_info(static_cast<int>(level), &flags, &asked, &at, nullptr, nullptr) == 2) {
    // On the thread's own stack, which grows down: the code of inner tasks lies below.
    if (level < of.running.size()) {
      const char* const exit = static_cast<const char*>(at->exit.pointer);
      const char* const enter = static_cast<const char*>(at->enter.pointer);
      EXPECT(exit == nullptr || enter == nullptr || enter < exit, "%s: a task's frames cross",
             event);
      EXPECT(exit == nullptr || last == nullptr || last < exit, "%s: frames do not nest", event);
      if (exit != nullptr) last = exit;
    }
    ++level;
  }
  EXPECT(level >= of.running.size(), "%s: %zu tasks are below %zu", event, of.running.size(),
         level);
}

void check_state(const char* event, unsigned from, unsigned to) {
  std::uint64_t what = 0;
  const unsigned now = static_cast<unsigned>(get_state(&what));
  EXPECT(now >= from && now <= to, "%s: the state is 0x%x", event, now);
}

// --- callbacks ---

void on_thread_begin(int kind, data* own) {
  ++counts[1];
  EXPECT(kind >= 1 && kind <= 3, "thread_begin: a kind of thread %d", kind);
  EXPECT(own->pointer == nullptr, "thread_begin: its data is not zero");
  own->pointer = new thread;
}

void on_thread_end(data* own) {
  ++counts[2];
  thread& of = here("thread_end");
  EXPECT(own == get_thread_data(), "thread_end: of another thread");
  EXPECT(of.open.empty(), "thread_end: %zu begins have no end; the last: %s", of.open.size(),
         of.open.empty() ? "" : of.open.back().what);
  of.has_ended = true;
}

void on_parallel_begin(data* encountering, const frame* at, data* own, unsigned requested,
                       int flags, const void* from) {
  ++counts[3];
  check_current("parallel_begin", encountering);
  EXPECT(at->enter.pointer != nullptr, "parallel_begin: the task has not entered the runtime");
  EXPECT(requested > 0, "parallel_begin: no threads are requested");
  EXPECT((flags & 3) != 0, "parallel_begin: flags 0x%x", static_cast<unsigned>(flags));
  EXPECT(from != nullptr, "parallel_begin: from nowhere");
  const std::uint64_t number = fresh(own, "parallel_begin");
  begin("a region", number, 0);
  const std::lock_guard<std::mutex> holding(lock);
  regions[number];
}

void on_parallel_end(data* own, data* encountering, int, const void* from) {
  ++counts[4];
  EXPECT(from != nullptr, "parallel_end: from nowhere");
  end("a region", own->value, 0);
  check_current("parallel_end", encountering);
  const std::lock_guard<std::mutex> holding(lock);
  const region of = regions[own->value];
  regions.erase(own->value);
  if (of.size == 0 || of.begun != of.size || of.ended != of.size) {
    if (wrongs.size() < 50)
      wrongs.push_back("parallel_end: of " + std::to_string(of.size) + " members " +
                       std::to_string(of.begun) + " began and " + std::to_string(of.ended) +
                       " ended");
  }
}

void on_implicit_task(int which, data* parallel, data* own, unsigned size, unsigned index,
                      int flags) {
  ++counts[7];
  thread& of = here("implicit_task");
  if (which == 1) {
    const std::uint64_t number = fresh(own, "implicit_task");
    begin("an implicit task", number, flags & 3);
    of.running.push_back(number);
    // The region around an initial task has no begin; a league of teams has.
    const bool is_implicit_region = (flags & 1) != 0 && parallel->value == 0;
    const std::uint64_t region_number = is_implicit_region ? 0 : parallel->value;
    if (is_implicit_region) {
      parallel->value = get_unique_id();
    } else {
      EXPECT(index < size, "implicit_task: member %u of %u", index, size);
    }
    data* asked = nullptr;
    int members = 0;
    EXPECT(get_parallel_info(0, &asked, &members) == 2 && asked == parallel &&
               ((flags & 1) != 0 || static_cast<unsigned>(members) == size),
           "implicit_task: get_parallel_info says something else");
    const std::lock_guard<std::mutex> holding(lock);
    tasks[number].is = task::running;
    if (region_number == 0) return;
    if (regions.count(region_number) == 0) {
      wrongs.push_back("implicit_task: of a region that has not begun");
    } else {
      regions[region_number].size = size;
      ++regions[region_number].begun;
    }
  } else {
    check_current("implicit_task", own);
    end("an implicit task", own->value, flags & 3);
    if (!of.running.empty()) of.running.pop_back();
    const std::lock_guard<std::mutex> holding(lock);
    tasks[own->value].is = task::ended;
    // Its region is not named any more: it is the one that encloses the thread's other tasks, or the only one.
    data* region_of = nullptr;
    if (get_parallel_info(0, &region_of, nullptr) == 2 && regions.count(region_of->value) != 0)
      ++regions[region_of->value].ended;
  }
}

void on_task_create(data* encountering, const frame* at, data* own, int flags, int,
                    const void* from) {
  ++counts[5];
  check_current("task_create", encountering);
  EXPECT(at->enter.pointer != nullptr, "task_create: the task has not entered the runtime");
  EXPECT((flags & 0x1c) != 0, "task_create: flags 0x%x", static_cast<unsigned>(flags));
  EXPECT(from != nullptr, "task_create: from nowhere");
  const std::uint64_t number = fresh(own, "task_create");
  const std::lock_guard<std::mutex> holding(lock);
  tasks[number].is_explicit = true;
}

void on_task_schedule(data* prior, int status, data* next) {
  ++counts[6];
  EXPECT(status >= 1 && status <= 8, "task_schedule: status %d", status);
  if (status == 5 || status == 6 || status == 8) {
    // early_fulfill and late_fulfill, by any thread; taskwait_complete
    const std::lock_guard<std::mutex> holding(lock);
    if (status != 5) tasks[prior->value].is = task::ended;
    return;
  }
  thread& of = here("task_schedule");
  std::unique_lock<std::mutex> holding(lock);
  const bool has_left = status == 1 || status == 3 || status == 4;
  const bool was_running = !of.running.empty() && of.running.back() == prior->value;
  if (has_left) {
    if (!of.running.empty()) of.running.pop_back();
    if (status != 4) tasks[prior->value].is = task::ended;
    const bool goes_on = next != nullptr && !of.running.empty() && of.running.back() == next->value;
    holding.unlock();
    EXPECT(was_running, "task_schedule: a task ends that the thread does not run");
    EXPECT(goes_on, "task_schedule: back to another task than the one that it left");
  } else {
    task& one = tasks[next->value];
    const bool is_fresh = one.is_explicit && one.is == task::made;
    one.is = task::running;
    of.running.push_back(next->value);
    holding.unlock();
    EXPECT(was_running, "task_schedule: from a task that the thread does not run");
    EXPECT(is_fresh, "task_schedule: to a task that was not made, or has begun");
  }
}

void on_sync_region(int kind, int which, data* parallel, data* own, const void*) {
  ++counts[23];
  if (which == 1) EXPECT(parallel != nullptr, "sync_region: in no region");
  check_current("sync_region", own);
  endpoint(which, "a sync region", own->value, kind);
}

void on_sync_region_wait(int kind, int which, data*, data* own, const void*) {
  ++counts[16];
  check_current("sync_region_wait", own);
  endpoint(which, "a wait", own->value, kind);
  if (which == 1) check_state("sync_region_wait", 2, 0x21);
}

void on_work(int kind, int which, data* parallel, data* own, std::uint64_t, const void*) {
  ++counts[20];
  EXPECT(parallel != nullptr, "work: in no region");
  check_current("work", own);
  endpoint(which, "work", own->value, kind);
}

void on_masked(int which, data*, data* own, const void*) {
  ++counts[21];
  check_current("masked", own);
  endpoint(which, "masked", own->value, 0);
}

void on_dispatch(data*, data* own, int, data) {
  ++counts[32];
  check_current("dispatch", own);
}

void on_reduction(int kind, int which, data*, data* own, const void*) {
  ++counts[31];
  check_current("reduction", own);
  endpoint(which, "a reduction", own->value, kind);
}

std::unordered_map<std::uint64_t, int> held;

void on_mutex_acquire(int kind, unsigned, unsigned, std::uint64_t what, const void*) {
  ++counts[26];
  EXPECT(kind >= 1 && kind <= 7 && what != 0, "mutex_acquire: kind %d", kind);
}
void on_mutex_acquired(int kind, std::uint64_t what, const void*) {
  ++counts[27];
  check_state("mutex_acquired", 0, 1);
  const std::lock_guard<std::mutex> holding(lock);
  // A thread tells of the release of a lock a moment after it. So for that time two threads seem to hold it.
  held[what] += kind;
}
void on_mutex_released(int, std::uint64_t what, const void*) {
  ++counts[17];
  const std::lock_guard<std::mutex> holding(lock);
  if (held.count(what) == 0 && wrongs.size() < 50)
    wrongs.push_back("mutex_released: nobody has taken it");
}

void on_dependences(data* own, const dependence* all, int count) {
  ++counts[18];
  for (int i = 0; i < count; ++i)
    EXPECT(all[i].type >= 1 && all[i].type <= 35, "dependences: type %d", all[i].type);
  const std::lock_guard<std::mutex> holding(lock);
  if (tasks.count(own->value) == 0) wrongs.push_back("dependences: of no task");
}
void on_task_dependence(data* before, data* after) {
  ++counts[19];
  const std::lock_guard<std::mutex> holding(lock);
  if (tasks.count(before->value) == 0 || tasks.count(after->value) == 0)
    wrongs.push_back("task_dependence: of no task");
}
void on_cancel(data* own, int flags, const void*) {
  ++counts[30];
  if ((flags & 0x40) == 0) return;
  const std::lock_guard<std::mutex> holding(lock);
  tasks[own->value].is = task::ended;
}

template <int number, class Function>
void set(set_callback_t* set_callback, Function* function) {
  const int result = set_callback(number, reinterpret_cast<void (*)()>(function));
  EXPECT(result >= 3 && result <= 5, "set_callback: event %d: %d", number, result);
}

int initialize(lookup_t* lookup, int, data*) {
  // A child of fork() goes on with the tool, and another thread may be in it just then.
  pthread_atfork([] { lock.lock(); }, [] { lock.unlock(); }, [] { lock.unlock(); });
  get_task_info = reinterpret_cast<get_task_info_t*>(lookup("ompt_get_task_info"));
  get_parallel_info = reinterpret_cast<get_parallel_info_t*>(lookup("ompt_get_parallel_info"));
  get_thread_data = reinterpret_cast<get_thread_data_t*>(lookup("ompt_get_thread_data"));
  get_state = reinterpret_cast<get_state_t*>(lookup("ompt_get_state"));
  get_unique_id = reinterpret_cast<get_unique_id_t*>(lookup("ompt_get_unique_id"));
  const auto set_callback = reinterpret_cast<set_callback_t*>(lookup("ompt_set_callback"));
  EXPECT(lookup("ompt_get_nothing") == nullptr, "lookup: finds what is not there");
  set<1>(set_callback, on_thread_begin);
  set<2>(set_callback, on_thread_end);
  set<3>(set_callback, on_parallel_begin);
  set<4>(set_callback, on_parallel_end);
  set<5>(set_callback, on_task_create);
  set<6>(set_callback, on_task_schedule);
  set<7>(set_callback, on_implicit_task);
  set<16>(set_callback, on_sync_region_wait);
  set<17>(set_callback, on_mutex_released);
  set<18>(set_callback, on_dependences);
  set<19>(set_callback, on_task_dependence);
  set<20>(set_callback, on_work);
  set<21>(set_callback, on_masked);
  set<23>(set_callback, on_sync_region);
  set<26>(set_callback, on_mutex_acquire);
  set<27>(set_callback, on_mutex_acquired);
  set<30>(set_callback, on_cancel);
  set<31>(set_callback, on_reduction);
  set<32>(set_callback, on_dispatch);
  return 1;
}

void finalize(data*) {
  const char* const path = std::getenv("LOCKSTEP_OMPT_REPORT");
  std::FILE* const report = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (report == nullptr) return;
  const std::lock_guard<std::mutex> holding(lock);
  unsigned left = 0;
  for (const auto& each : tasks) left += each.second.is_explicit && each.second.is != task::ended;
  if (left != 0) std::fprintf(report, "wrong: %u tasks have not ended\n", left);
  for (const std::string& each : wrongs) std::fprintf(report, "wrong: %s\n", each.c_str());
  for (int i = 1; i < 38; ++i) {
    if (counts[i] != 0) std::fprintf(report, "event %d: %u\n", i, counts[i].load());
  }
  std::fclose(report);
}

}  // namespace

extern "C" start_result* ompt_start_tool(unsigned, const char*) {
  static start_result result = {initialize, finalize, {0}};
  return &result;
}
