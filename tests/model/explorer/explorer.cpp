// SPDX-License-Identifier: MIT
#include "explorer.hpp"

#include <cxxabi.h>
#include <sys/mman.h>

#include <boost/context/fiber.hpp>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "memory.hpp"
#include "races.hpp"

namespace lockstep::model {
namespace {

namespace context = boost::context;

/// True while a scenario's own code runs; then plain accesses count.
bool in_scenario = false;

/// In the explorer's own code.
class inside {
 public:
  inside() noexcept { in_scenario = false; }
  ~inside() { in_scenario = true; }
};

/// What the language keeps per system thread about exceptions in flight; here it belongs to a fiber.
struct exceptions_in_flight {
  void* caught = nullptr;
  unsigned uncaught = 0;

  void swap() noexcept {
    auto* const current = reinterpret_cast<exceptions_in_flight*>(abi::__cxa_get_globals());
    std::swap(caught, current->caught);
    std::swap(uncaught, current->uncaught);
  }
};

/// Stacks are made once and used again, so that addresses are the same in every execution.
class stack_pool {
 public:
  static constexpr std::size_t size = 128 * 1024;

  context::stack_context stack(std::size_t number) {
    while (stacks_.size() <= number) stacks_.push_back(allocate());
    return stacks_[number];
  }

 private:
  static context::stack_context allocate() {
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    context::stack_context made;
    made.size = size;
    made.sp = static_cast<char*>(memory) + size;
    return made;
  }
  std::vector<context::stack_context> stacks_;
};

struct keep_stack {
  context::stack_context given;
  context::stack_context allocate() { return given; }
  void deallocate(context::stack_context&) noexcept {}
};

enum class status { unused, ready, asleep, joining, finished };

struct fiber_thread {
  status is = status::unused;
  bool polls = false;
  bool has_paused = false;  // since its last operation: another pause makes no difference
  unsigned impatience = 0;  // pauses to come that do not wait for others
  context::fiber self, root;
  std::function<void()> body;
  exceptions_in_flight exceptions;
  knowledge now;      // what it may rely on
  knowledge pending;  // read without acquire; an acquire fence takes it over
  knowledge fenced;   // as of the last release fence
  bool has_fenced = false;
  const void* sleeps_on = nullptr;
  std::uint64_t deadline = 0;
  thread_number joins = 0, joins_before = 0;  // waits for the end of these threads
  std::uint64_t last_ran = 0;
  alignas(16) unsigned char own[8][16] = {};
};

std::uint64_t read_memory(atomic_place what) {
  std::uint64_t value = 0;
  std::memcpy(&value, what.at, what.size);
  return value;
}

const char* file_name(const char* path) {
  const char* const lockstep = std::strstr(path, "lockstep/include/lockstep/");
  const char* const include = std::strstr(path, "include/lockstep/");
  const char* const slash = std::strrchr(path, '/');
  return lockstep != nullptr  ? lockstep + 26
         : include != nullptr ? include + 17
         : slash != nullptr   ? slash + 1
                              : path;
}

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

constexpr std::uint64_t start_of_time = 1000000000, crawl = 25, stride = 500000;
constexpr std::uint64_t never = ~std::uint64_t{0};
constexpr unsigned idle_rounds_until_stuck = 400;
// Deadlines that come before others get to run: a short one, set again and again, would leave them no turn.
constexpr unsigned most_early_deadlines = 16;
constexpr unsigned longest_impatience =
    60;  // longer than the stages before the sleep where time passes fast

}  // namespace

struct explorer::state {
  stack_pool stacks;
  memory words;
  races plain;
  std::deque<fiber_thread> threads;
  std::size_t count = 0;
  thread_number running = 0;
  strategy* by = nullptr;
  settings how;
  budget left;
  outcome result;
  bool over = false;
  bool just_chosen = false;  // the running thread has done nothing since
  std::uint64_t now = 0;
  std::uint64_t steps = 0, total_steps = 0;
  unsigned idle_rounds = 0, early_deadlines = 0;
  knowledge fences;  // what the full fences so far have made known: their one order
  std::unordered_map<const void*, knowledge> buckets;  // what the wakes on a word have made known
  std::unordered_map<const void*, std::string> names;
  std::vector<thread_number> options;

  fiber_thread& self() { return threads[running]; }
  std::size_t used() const noexcept { return words.used(); }

  // --- the course of an execution ---

  void begin(strategy& strategy_, const settings& settings_) {
    by = &strategy_;
    how = settings_;
    left = how.limits;
    result = outcome();
    over = just_chosen = false;
    now = start_of_time;
    steps = 0;
    idle_rounds = early_deadlines = 0;
    count = 0;
    fences = knowledge();
    buckets.clear();
    names.clear();
    words.reset();
    plain.reset();
  }

  thread_number add(std::function<void()> body) {
    if (count == most_threads) stop("the scenario has too many threads for the explorer");
    if (threads.size() <= count) threads.emplace_back();
    const thread_number number = static_cast<thread_number>(count++);
    fiber_thread& made = threads[number];
    made.is = status::ready;
    made.polls = made.has_paused = made.has_fenced = false;
    made.impatience = 0;
    made.body = std::move(body);
    made.exceptions = exceptions_in_flight();
    made.now = made.pending = made.fenced = knowledge();
    made.last_ran = 0;
    std::memset(made.own, 0, sizeof made.own);
    made.self = context::fiber(
        std::allocator_arg, keep_stack{stacks.stack(number)},
        [this, number](context::fiber&& root) { return live(number, std::move(root)); });
    return number;
  }

  context::fiber live(thread_number number, context::fiber&& root) {
    fiber_thread& me = threads[number];
    me.root = std::move(root);
    in_scenario = true;
    try {
      me.body();
    } catch (const std::exception& error) {
      in_scenario = false;
      stop(std::string("an exception left a thread: ") + error.what());
    }
    in_scenario = false;
    me.body = nullptr;
    me.is = status::finished;
    changed();
    for (std::size_t i = 0; i < count; ++i) {
      fiber_thread& other = threads[i];
      if (other.is == status::joining && may_go_on(other)) other.is = status::ready;
    }
    if (number == 0) {
      finish();
    } else {
      dispatch();
    }
    return std::move(me.root);
  }

  bool may_go_on(const fiber_thread& joining) const {
    for (thread_number i = joining.joins; i < joining.joins_before; ++i) {
      if (threads[i].is != status::finished) return false;
    }
    return true;
  }

  /// Blocks the running thread until those have ended, and lets it know what they knew.
  void await_end(thread_number first, thread_number last) {
    fiber_thread& me = self();
    me.joins = first;
    me.joins_before = last;
    if (!may_go_on(me)) {
      me.is = status::joining;
      block();
    }
    for (thread_number i = first; i < last; ++i) me.now.join(threads[i].now, used());
    tick();
  }

  thread_number start(std::function<void()> body) {
    const thread_number number = add(std::move(body));
    threads[number].now = self().now;
    ++threads[number].now.clock[number];
    tick();
    return number;
  }

  void finish() {
    for (std::size_t i = 0; i < count; ++i) {
      if (threads[i].is != status::finished) stop("the main thread ended before " + who(i));
    }
    over = true;
  }

  /// Fibers switch by way of the root only, so the one that comes back is the one that was resumed.
  void run() {
    while (!over && result.good) {
      fiber_thread& next = self();
      next.exceptions.swap();
      next.self = std::move(next.self).resume();
      in_scenario = false;
      next.exceptions.swap();
    }
    if (!result.good) leak_fibers();
  }

  /// A fiber that is destroyed would be unwound, through code that waits for others: better never.
  void leak_fibers() {
    for (fiber_thread& each : threads) {
      if (each.self) new context::fiber(std::move(each.self));
      if (each.root) new context::fiber(std::move(each.root));
    }
  }

  [[noreturn]] void stop(const std::string& why) {
    if (result.good) {
      result.good = false;
      result.failure = why;
      note("FAILURE: " + why, site{"", 0});
    }
    fiber_thread& me = self();
    while (true) me.root = std::move(me.root).resume();
  }

  // --- choosing ---

  unsigned ask(question what, unsigned n) {
    if (n < 2) return 0;
    options.clear();
    for (unsigned i = 0; i < n; ++i) options.push_back(i);
    return by->answer(what, options);
  }

  bool runs(const fiber_thread& each) const { return each.is == status::ready && !each.polls; }

  /// Threads that can go on, sleepers whose time may be up (+ most_threads), and sleepers that may wake
  /// up for no reason (+ 2 * most_threads). Where nobody else can go on the first deadline comes.
  void collect(bool preempting) {
    options.clear();
    if (preempting) options.push_back(running);
    const bool may_preempt = left.preemptions > 0;
    if (preempting && !may_preempt) return;
    for (thread_number i = 0; i < count; ++i) {
      if (runs(threads[i]) && !(preempting && i == running)) options.push_back(i);
    }
    const bool somebody_runs = !options.empty();
    for (thread_number i = 0; i < count; ++i) {
      const fiber_thread& each = threads[i];
      if (each.is != status::asleep) continue;
      const bool may_be_early = may_preempt && early_deadlines < most_early_deadlines;
      if (each.deadline != never && (somebody_runs ? may_be_early : each.deadline == earliest())) {
        options.push_back(i + most_threads);
      }
      if (left.spurious > 0 && somebody_runs) {
        options.push_back(i + 2 * static_cast<thread_number>(most_threads));
      }
    }
  }

  std::uint64_t earliest() const {
    std::uint64_t time = never;
    for (std::size_t i = 0; i < count; ++i) {
      if (threads[i].is == status::asleep) time = std::min(time, threads[i].deadline);
    }
    return time;
  }

  void take(thread_number candidate) {
    const thread_number number = candidate % most_threads;
    fiber_thread& next = threads[number];
    if (candidate != number) {
      const bool late = candidate < 2 * most_threads;
      if (late && next.deadline > now) now = next.deadline;
      if (late) ++early_deadlines;
      if (!late) --left.spurious;
      next.is = status::ready;
      running = number;
      note(late ? "  (the deadline of its sleep comes)" : "  (wakes for no reason)", site{"", 0});
    }
    running = number;
    just_chosen = true;
    next.last_ran = total_steps;
  }

  /// Somebody else may go on before the running thread's next operation.
  void step(site where) {
    ++steps, ++total_steps;
    self().polls = self().has_paused = false;
    if (steps > how.most_steps) {
      stop("no progress: " + std::to_string(steps) + " operations and no end at " +
           file_name(where.file) + ":" + std::to_string(where.line) + describe());
    }
    if (std::exchange(just_chosen, false)) return;
    collect(true);
    if (options.size() < 2) return;
    const std::vector<thread_number> offered = options;
    const unsigned answer = by->answer(question::preempt, offered);
    if (answer == 0) return;
    if (offered[answer] < 2 * most_threads) --left.preemptions;
    const thread_number me = running;
    take(offered[answer]);
    leave(me);
    just_chosen = false;
  }

  /// The running thread cannot go on: finds another.
  void dispatch() {
    collect(false);
    if (options.empty() && !wake_idle_poller()) stop(stuck());
    if (options.empty()) return;
    idle_rounds = 0;
    const std::vector<thread_number> offered = options;
    const unsigned answer = offered.size() < 2 ? 0 : by->answer(question::dispatch, offered);
    const bool costs = offered[answer] >= most_threads && offered[answer] < 2 * most_threads &&
                       runs(threads[offered[0] % most_threads]);
    if (costs) --left.preemptions;
    take(offered[answer]);
  }

  /// Nobody else can go on: time passes for those who poll, one after the other.
  bool wake_idle_poller() {
    fiber_thread* longest = nullptr;
    thread_number number = 0;
    for (thread_number i = 0; i < count; ++i) {
      fiber_thread& each = threads[i];
      if (each.is != status::ready || !each.polls) continue;
      if (longest == nullptr || each.last_ran < longest->last_ran) {
        longest = &each;
        number = i;
      }
    }
    if (longest == nullptr || ++idle_rounds > idle_rounds_until_stuck) return false;
    longest->polls = false;
    // Longer and longer, so that those who poll until a deadline reach it.
    now += stride << std::min(idle_rounds / 4, 30u);
    take(number);
    return true;
  }

  /// Goes to the root, which resumes the thread that was chosen.
  void leave(thread_number number) {
    if (running == number) return;
    fiber_thread& me = threads[number];
    me.root = std::move(me.root).resume();
  }
  void block() {
    const thread_number me = running;
    dispatch();
    leave(me);
  }

  /// Those who poll may find something new.
  void changed() {
    for (std::size_t i = 0; i < count; ++i) {
      if (i != running) threads[i].polls = false;
    }
  }

  // --- memory ---

  location& touch(atomic_place what) {
    fiber_thread& me = self();
    location* found = words.find(what.at);
    if (found == nullptr) found = words.make(what.at, read_memory(what));
    if (found == nullptr) stop("the scenario has too many atomics for the explorer");
    if (!found->alive) stop(word(what.at) + " is used after its destruction");
    if (found->maker != running && found->made_at > me.now.clock[found->maker]) {
      stop(word(what.at) + " is used by " + who(running) +
           ", and nothing orders that after its construction by " + who(found->maker));
    }
    found->last_access[running] = me.now.clock[running];
    return *found;
  }

  void tick() { ++self().now.clock[running]; }

  /// The thread has read that change.
  void learn(location& from, stamp position, std::memory_order order) {
    fiber_thread& me = self();
    me.now.seen[from.number] = std::max(me.now.seen[from.number], position);
    const int released = from.history[position].released;
    if (released < 0) return;
    (acquires(order) ? me.now : me.pending).join(words.kept(released), used());
  }

  /// The knowledge that a change of the running thread carries; `inherited` by a read-modify-write.
  int released_by(std::memory_order order, int inherited) {
    fiber_thread& me = self();
    const bool own = releases(order);
    if (!own && !me.has_fenced) return inherited;
    const int made = words.keep(own ? me.now : me.fenced);
    if (inherited >= 0) words.kept(made).join(words.kept(inherited), used());
    return made;
  }

  void append(location& to, atomic_place what, std::uint64_t value, int released) {
    fiber_thread& me = self();
    std::memcpy(what.at, &value, what.size);
    to.history.push_back(change{value, released});
    me.now.seen[to.number] = to.newest();
    changed();
    tick();
  }

  /// Which change a load returns.
  stamp pick(const location& from) {
    const stamp newest = from.newest(), oldest = self().now.seen[from.number];
    if (left.stale == 0 || newest == oldest) return newest;
    const unsigned answer = ask(question::stale, std::min(newest - oldest + 1, 4));
    if (answer > 0) --left.stale;
    return static_cast<stamp>(newest - answer);
  }

  void full_fence(fiber_thread& who_) {
    who_.now.join(who_.pending, used());
    who_.now.join_seen(fences, used());
    fences.join_seen(who_.now, used());
    who_.fenced = who_.now;
    who_.has_fenced = true;
  }

  // --- messages ---

  std::string who(std::size_t number) const {
    return number == 0 ? "main" : "thread " + std::to_string(number);
  }
  std::string word(const void* at) {
    const auto named = names.find(at);
    if (named != names.end()) return named->second;
    const location* const found = words.find(at);
    return found == nullptr ? "word" : "word " + std::to_string(found->number);
  }
  std::string describe() {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      const fiber_thread& each = threads[i];
      text += "\n  " + who(i);
      switch (each.is) {
        case status::asleep: text += " sleeps on " + word(each.sleeps_on); break;
        case status::joining:
          text += " joins " + who(each.joins) +
                  (each.joins_before > each.joins + 1 ? " and the others" : "");
          break;
        case status::finished: text += " has ended"; break;
        default: text += each.polls ? " polls" : " runs";
      }
    }
    return text;
  }
  std::string stuck() {
    return "nobody can go on, a wake-up is lost or a thread waits for what never comes:" +
           describe();
  }
  void note(const std::string& text, site where) {
    if (!how.records) return;
    std::string line = who(running);
    line.resize(10, ' ');
    std::string place =
        where.line == 0 ? "" : file_name(where.file) + (":" + std::to_string(where.line));
    place.resize(std::max<std::size_t>(place.size(), 36), ' ');
    result.interleaving.push_back(line + place + " " + text);
  }
};

explorer* explorer::active_ = nullptr;

explorer::explorer() : state_(new state) {}
explorer::~explorer() = default;

std::uint64_t explorer::steps() const noexcept { return state_->total_steps; }
unsigned explorer::cpus() const noexcept { return state_->how.cpus; }

outcome explorer::execute(const std::function<void()>& scenario, strategy& by,
                          const settings& how) {
  state_->begin(by, how);
  active_ = this;
  state_->running = state_->add(scenario);
  state_->self().now.clock[0] = 1;
  state_->run();
  active_ = nullptr;
  return std::move(state_->result);
}

void explorer::fail(const std::string& why) {
  in_scenario = false;
  state_->stop(why);
}

void explorer::name(const void* at, const char* as) {
  const inside here;
  state_->names[at] = as;
}

// --- atomics ---

std::uint64_t explorer::load(atomic_place what, std::memory_order order, site where) {
  const inside here;
  order = mutated(order, where);
  state_->step(where);
  location& from = state_->touch(what);
  const stamp newest = from.newest(), position = state_->pick(from);
  state_->learn(from, position, order);
  const std::uint64_t value = from.history[position].value;
  if (state_->how.records) {
    state_->note("load " + state_->word(what.at) + " " + name_of(order) + " -> " +
                     std::to_string(value) +
                     (position == newest ? "" : ", though it is " + std::to_string(from.value())),
                 where);
  }
  state_->tick();
  return value;
}

void explorer::store(atomic_place what, std::uint64_t value, std::memory_order order, site where) {
  const inside here;
  order = mutated(order, where);
  state_->step(where);
  location& to = state_->touch(what);
  if (state_->how.records) {
    state_->note(
        "store " + state_->word(what.at) + " " + name_of(order) + " = " + std::to_string(value),
        where);
  }
  state_->append(to, what, value, state_->released_by(order, -1));
}

std::uint64_t explorer::modify(atomic_place what, update how, std::uint64_t operand,
                               std::memory_order order, site where) {
  const inside here;
  order = mutated(order, where);
  state_->step(where);
  location& to = state_->touch(what);
  const std::uint64_t old = to.value();
  const int inherited = to.history.back().released;
  state_->learn(to, to.newest(), order);
  std::uint64_t value = operand;
  if (how == update::add) value = old + operand;
  if (how == update::subtract) value = old - operand;
  if (how == update::bit_or) value = old | operand;
  if (how == update::bit_and) value = old & operand;
  if (what.size < 8) value &= (std::uint64_t{1} << what.size * 8) - 1;
  if (state_->how.records) {
    state_->note("change " + state_->word(what.at) + " " + name_of(order) + " " +
                     std::to_string(old) + " -> " + std::to_string(value),
                 where);
  }
  state_->append(to, what, value, state_->released_by(order, inherited));
  return old;
}

bool explorer::compare_exchange(atomic_place what, std::uint64_t& expected, std::uint64_t desired,
                                std::memory_order success, std::memory_order failure, bool weak,
                                site where) {
  const inside here;
  success = mutated(success, where);
  failure = mutated(failure, where, part::failure);
  state_->step(where);
  location& to = state_->touch(what);
  stamp position = state_->pick(to);
  // Only the newest change can be replaced; an older one counts where it makes the comparison fail.
  if (to.history[position].value == expected) position = to.newest();
  std::uint64_t found = to.history[position].value;
  bool equal = found == expected;
  if (equal && weak && state_->left.spurious > 0 && state_->ask(question::spurious, 2) == 1) {
    --state_->left.spurious;
    equal = false;
  }
  state_->learn(to, position, equal ? success : failure);
  if (state_->how.records) {
    state_->note(
        (equal ? "replace " : "compare in vain ") + state_->word(what.at) + " " +
            name_of(equal ? success : failure) + " " + std::to_string(found) +
            (equal ? " -> " + std::to_string(desired) : ", expected " + std::to_string(expected)),
        where);
  }
  if (!equal) {
    expected = found;
    state_->tick();
    return false;
  }
  const int inherited = to.history.back().released;
  state_->append(to, what, desired, state_->released_by(success, inherited));
  return true;
}

void explorer::made(const void* at, std::uint64_t value) {
  const inside here;
  location* const made = state_->words.make(at, value);
  if (made == nullptr) state_->stop("the scenario has too many atomics for the explorer");
  made->maker = state_->running;
  made->made_at = state_->self().now.clock[state_->running];
  state_->tick();
}

void explorer::destroyed(const void* at) {
  const inside here;
  location* const gone = state_->words.find(at);
  if (gone == nullptr) return;
  const knowledge& now = state_->self().now;
  for (thread_number other = 0; other < state_->count; ++other) {
    if (other != state_->running && gone->last_access[other] > now.clock[other]) {
      state_->stop(state_->word(at) + " is destroyed by " + state_->who(state_->running) +
                   ", and nothing orders that after its use by " + state_->who(other));
    }
  }
  gone->alive = false;
  state_->tick();
}

// --- fences ---

void explorer::fence(std::memory_order order, site where) {
  const inside here;
  if (is_dropped(where)) return;
  state_->step(where);
  fiber_thread& me = state_->self();
  if (order == std::memory_order_seq_cst) {
    state_->full_fence(me);
  } else {
    if (acquires(order)) me.now.join(me.pending, state_->used());
    if (releases(order)) {
      me.fenced = me.now;
      me.has_fenced = true;
    }
  }
  state_->note(std::string("fence ") + name_of(order), where);
  state_->tick();
}

void explorer::fence_light(site where) {
  if (state_->how.fence == process_fence_kind::symmetric) fence(std::memory_order_seq_cst, where);
}

bool explorer::fence_heavy(site where) {
  const inside here;
  if (is_dropped(where)) return true;
  state_->step(where);
  fiber_thread& me = state_->self();
  state_->full_fence(me);
  if (state_->how.fence == process_fence_kind::asymmetric) {
    for (std::size_t i = 0; i < state_->count; ++i) {
      if (i != state_->running) state_->full_fence(state_->threads[i]);
    }
    state_->full_fence(me);
  }
  const bool granted = state_->how.fence != process_fence_kind::refused;
  state_->note(granted ? "process-wide fence" : "process-wide fence, refused", where);
  state_->tick();
  return granted;
}

// --- the system ---

void explorer::futex_wait(atomic_place what, std::uint32_t expected, std::uint64_t deadline,
                          site where) {
  const inside here;
  state_->step(where);
  location& on = state_->touch(what);
  fiber_thread& me = state_->self();
  // F3: who comes after a wake sees the change before it; else the comparison is as weak as a load.
  const auto bucket = state_->buckets.find(what.at);
  if (bucket != state_->buckets.end()) {
    stamp& seen = me.now.seen[on.number];
    seen = std::max(seen, bucket->second.seen[on.number]);
  }
  const stamp position = state_->pick(on);
  const std::uint64_t found = on.history[position].value;
  me.now.seen[on.number] = std::max(me.now.seen[on.number], position);
  const bool in_vain = found != expected || deadline <= state_->now;
  const bool spurious =
      !in_vain && state_->left.spurious > 0 && state_->ask(question::spurious, 2) == 1;
  if (spurious) --state_->left.spurious;
  if (state_->how.records) {
    state_->note("futex wait " + state_->word(what.at) + " for a change of " +
                     std::to_string(expected) +
                     (in_vain    ? ": returns, it is " + std::to_string(found)
                      : spurious ? ": returns for no reason"
                                 : ": sleeps"),
                 where);
  }
  state_->tick();
  if (in_vain || spurious) return;
  me.is = status::asleep;
  me.impatience = 0;
  me.sleeps_on = what.at;
  me.deadline = deadline;
  state_->block();
}

void explorer::futex_wake(const void* at, bool all, site where) {
  const inside here;
  if (is_dropped(where)) return;
  state_->step(where);
  knowledge& bucket = state_->buckets[at];
  bucket.join_seen(state_->self().now, state_->used());
  std::vector<thread_number> sleepers;
  for (thread_number i = 0; i < state_->count; ++i) {
    const fiber_thread& each = state_->threads[i];
    if (each.is == status::asleep && each.sleeps_on == at) sleepers.push_back(i);
  }
  if (state_->how.records) {
    state_->note((all ? "futex wake all on " : "futex wake one on ") + state_->word(at) + ": " +
                     std::to_string(sleepers.size()) + " asleep",
                 where);
  }
  if (!all && sleepers.size() > 1) {
    const thread_number one =
        sleepers[state_->ask(question::sleeper, static_cast<unsigned>(sleepers.size()))];
    sleepers.assign(1, one);
  }
  for (const thread_number each : sleepers) state_->threads[each].is = status::ready;
  if (!sleepers.empty()) state_->changed();
  state_->tick();
}

void explorer::pause(const char* how, site where) {
  const inside here;
  fiber_thread& me = state_->self();
  if (std::exchange(me.has_paused, true)) return;
  if (me.impatience == 0 && state_->left.preemptions > 0 &&
      state_->ask(question::patience, 2) == 1) {
    --state_->left.preemptions;
    me.impatience = longest_impatience;
    state_->note("(polls on until its patience ends)", where);
  }
  if (me.impatience > 0) {
    --me.impatience;
    return;
  }
  state_->note(how, where);
  me.polls = true;
  state_->block();
}

std::uint64_t explorer::clock() {
  const inside here;
  const bool crawls = state_->how.clock_may_crawl && state_->ask(question::clock, 2) == 1;
  return state_->now += crawls ? crawl : stride;
}

std::uint64_t explorer::number() noexcept { return state_->running + 1; }

void* explorer::per_thread(std::size_t slot) noexcept { return state_->self().own[slot]; }

thread_number explorer::start(std::function<void()> body, site where) {
  const inside here;
  state_->step(where);
  const thread_number number = state_->start(std::move(body));
  state_->note("starts " + state_->who(number), where);
  return number;
}

void explorer::run_together(const std::vector<std::function<void()>>& bodies) {
  const inside here;
  const thread_number first = static_cast<thread_number>(state_->count);
  for (const std::function<void()>& each : bodies) state_->start(each);
  state_->await_end(first, static_cast<thread_number>(state_->count));
}

void explorer::join(thread_number who, site where) {
  const inside here;
  state_->step(where);
  state_->note("joins " + state_->who(who), where);
  state_->await_end(who, who + 1);
}

// --- plain accesses ---

void explorer::plain_access(std::uintptr_t address, std::size_t size, bool writes) {
  if (!in_scenario) return;
  const inside here;
  state& s = *active_->state_;
  const knowledge& now = s.self().now;
  const bool good = writes ? s.plain.write(address, size, s.running, now)
                           : s.plain.read(address, size, s.running, now);
  if (good) return;
  s.stop(std::string("a data race: ") + s.who(s.running) + (writes ? " writes " : " reads ") +
         std::to_string(size) + " bytes that another thread has used, and nothing orders the two");
}

void explorer::forget_plain(std::uintptr_t address, std::size_t size) {
  if (!in_scenario) return;
  const inside here;
  active_->state_->plain.forget(address, size);
}

}  // namespace lockstep::model
