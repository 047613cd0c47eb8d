// SPDX-License-Identifier: MIT
// bindings/c/src/objects.cpp -- event, mutex, latch, semaphore and barrier
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "support.hpp"

using namespace lockstep_c;

struct lockstep_event {
  explicit lockstep_event(lockstep::wait_policy policy) : at(policy) {}
  lockstep::event at;
};

/// A number that no other thread of the process has or has had: the system gives the ids of ended threads to new ones.
static std::uint64_t this_thread() noexcept {
  static std::atomic<std::uint64_t> last{0};
  static thread_local std::uint64_t mine = 0;
  if (mine == 0) mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

/// It knows its holder, and refuses a call that would wait for ever. Only the holder writes `holder`; other threads
/// read some value that is not their own number.
struct lockstep_mutex {
  explicit lockstep_mutex(lockstep::wait_policy policy) : at(policy) {}
  lockstep::mutex at;
  std::atomic<std::uint64_t> holder{0};

  bool is_mine() const noexcept { return holder.load(std::memory_order_relaxed) == this_thread(); }
  void take() noexcept { holder.store(this_thread(), std::memory_order_relaxed); }
};

/// It counts beside the latch, and refuses a count below 0.
struct lockstep_latch {
  lockstep_latch(std::size_t expected, lockstep::wait_policy policy)
      : at(static_cast<std::ptrdiff_t>(expected), policy), left(expected) {}
  lockstep::latch at;
  std::atomic<std::size_t> left;

  bool take(std::size_t n) noexcept {
    std::size_t seen = left.load(std::memory_order_relaxed);
    do {
      if (n > seen) return false;
    } while (!left.compare_exchange_weak(seen, seen - n, std::memory_order_relaxed));
    return true;
  }
};

struct lockstep_semaphore {
  lockstep_semaphore(std::size_t permits, lockstep::wait_policy policy)
      : at(static_cast<std::ptrdiff_t>(permits), policy) {}
  lockstep::counting_semaphore<> at;
};

/// It counts beside the barrier, and refuses a thread too many, with which the barrier would be undefined.
struct lockstep_barrier {
  lockstep_barrier(std::size_t participants, lockstep::wait_policy policy)
      : at(static_cast<std::ptrdiff_t>(participants), policy), expected(participants) {}
  lockstep::barrier<> at;
  const std::uint64_t expected;
  /// The phase times 2^32, and how many threads have come in it. The first thread that returns from a phase begins the
  /// next one here. So if a thread finds the phase full, no thread has returned from it yet.
  std::atomic<std::uint64_t> come{0};

  /// False if all have come. Else `phase` is for left().
  bool enter(std::uint64_t& phase) noexcept {
    std::uint64_t seen = come.load(std::memory_order_acquire);
    do {
      if ((seen & 0xFFFFFFFFu) == expected) return false;
    } while (!come.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel,
                                         std::memory_order_acquire));
    phase = seen >> 32;
    return true;
  }
  void left(std::uint64_t phase) noexcept {
    std::uint64_t full = phase << 32 | expected;
    if (come.load(std::memory_order_acquire) != full) return;
    come.compare_exchange_strong(full, (phase + 1) << 32, std::memory_order_acq_rel,
                                 std::memory_order_acquire);
  }
};

namespace {

constexpr std::size_t most_arrivals = 0x7FFFFFFF, most_permits = 0x3FFFFFFF;

int check_count(const char* function, const char* what, std::size_t count, std::size_t least,
                std::size_t most) noexcept {
  if (count >= least && count <= most) return LOCKSTEP_OK;
  char text[128];
  std::snprintf(text, sizeof text, "%zu %s given, must be %zu to %zu", count, what, least, most);
  return fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
}

/// Requires: `made` is not null.
template <class Object, class... Arguments>
int make(const char* function, Object** made, std::int64_t policy, Arguments... arguments) {
  *made = nullptr;
  if (!is_policy(function, policy)) return LOCKSTEP_ERROR_ARGUMENT;
  return result_of(function, [&] { *made = new Object(arguments..., policy_of(policy)); });
}
template <class Object>
int make_for(const char* function, Object** made, std::int64_t policy, const char* what,
             std::size_t count, std::size_t least, std::size_t most) {
  *made = nullptr;
  const int code = check_count(function, what, count, least, most);
  return code != LOCKSTEP_OK ? code : make(function, made, policy, count);
}

int fail_not_held(const char* function) noexcept {
  return fail(
      LOCKSTEP_ERROR_USE, function,
      "the calling thread does not hold the mutex; only the one that has locked it unlocks");
}
int fail_held(const char* function) noexcept {
  return fail(
      LOCKSTEP_ERROR_USE, function,
      "the calling thread holds the mutex already, and would wait for ever; unlock it first");
}

// An arrival as a number: the phase of lockstep_barrier, and the bytes of the token.
using arrival_token = lockstep::barrier<>::arrival_token;
static_assert(sizeof(arrival_token) == 4 && std::is_trivially_copyable<arrival_token>::value, "");

std::uint64_t number_of(const arrival_token& token, std::uint64_t phase) noexcept {
  std::uint32_t bytes;
  std::memcpy(&bytes, &token, sizeof bytes);
  return phase << 32 | bytes;
}
class arrival_of_number {
 public:
  explicit arrival_of_number(std::uint64_t number) noexcept {
    const std::uint32_t bytes = static_cast<std::uint32_t>(number);
    std::memcpy(room_, &bytes, sizeof bytes);
  }
  const arrival_token& token() const noexcept {
    return *reinterpret_cast<const arrival_token*>(room_);
  }

 private:
  alignas(arrival_token) unsigned char room_[sizeof(arrival_token)];
};

int fail_full(const char* function, std::uint64_t expected) noexcept {
  char text[160];
  std::snprintf(
      text, sizeof text,
      "one thread more than the %llu that the barrier is for; create it for all that come",
      static_cast<unsigned long long>(expected));
  return fail(LOCKSTEP_ERROR_USE, function, text);
}

}  // namespace

// --- event ---

int lockstep_event_create(int64_t policy, lockstep_event** event) {
  LOCKSTEP_C_REFUSE_NULL(event);
  return make(__func__, event, policy);
}

void lockstep_event_destroy(lockstep_event* event) { delete event; }

int lockstep_event_notify(lockstep_event* event) {
  return LOCKSTEP_C_ON(event, event->at.notify());
}

int lockstep_event_wait(lockstep_event* event) {
  return LOCKSTEP_C_ON(event, event->at.wait(nowhere()) ? LOCKSTEP_OK : LOCKSTEP_TERMINATED);
}

int lockstep_event_wait_for(lockstep_event* event, int64_t nanoseconds) {
  return LOCKSTEP_C_ON(event,
                       status_code(event->at.wait_until(deadline_of(nanoseconds), nowhere())));
}

int lockstep_event_try_wait(lockstep_event* event) {
  LOCKSTEP_C_REFUSE_NULL(event);
  return event->at.try_wait() ? LOCKSTEP_OK : LOCKSTEP_BUSY;
}

int lockstep_event_terminate(lockstep_event* event) {
  return LOCKSTEP_C_ON(event, event->at.terminate());
}

// --- mutex ---

int lockstep_mutex_create(int64_t policy, lockstep_mutex** mutex) {
  LOCKSTEP_C_REFUSE_NULL(mutex);
  return make(__func__, mutex, policy);
}

void lockstep_mutex_destroy(lockstep_mutex* mutex) { delete mutex; }

int lockstep_mutex_lock(lockstep_mutex* mutex) {
  LOCKSTEP_C_REFUSE_NULL(mutex);
  if (mutex->is_mine()) return fail_held(__func__);
  return result_of(__func__, [=] {
    mutex->at.lock();
    mutex->take();
  });
}

int lockstep_mutex_try_lock(lockstep_mutex* mutex) {
  LOCKSTEP_C_REFUSE_NULL(mutex);
  if (!mutex->at.try_lock()) return LOCKSTEP_BUSY;
  mutex->take();
  return LOCKSTEP_OK;
}

int lockstep_mutex_lock_for(lockstep_mutex* mutex, int64_t nanoseconds) {
  LOCKSTEP_C_REFUSE_NULL(mutex);
  if (mutex->is_mine()) return fail_held(__func__);
  return result_of(__func__, [=] {
    if (!mutex->at.try_lock_until(deadline_of(nanoseconds))) return LOCKSTEP_TIMED_OUT;
    mutex->take();
    return LOCKSTEP_OK;
  });
}

int lockstep_mutex_unlock(lockstep_mutex* mutex) {
  LOCKSTEP_C_REFUSE_NULL(mutex);
  if (!mutex->is_mine()) return fail_not_held(__func__);
  mutex->holder.store(0, std::memory_order_relaxed);
  return result_of(__func__, [=] { mutex->at.unlock(); });
}

// --- latch ---

int lockstep_latch_create(size_t expected, int64_t policy, lockstep_latch** latch) {
  LOCKSTEP_C_REFUSE_NULL(latch);
  return make_for(__func__, latch, policy, "arrivals", expected, 0, most_arrivals);
}

void lockstep_latch_destroy(lockstep_latch* latch) { delete latch; }

int lockstep_latch_count_down(lockstep_latch* latch, size_t n) {
  LOCKSTEP_C_REFUSE_NULL(latch);
  if (!latch->take(n)) {
    char text[96];
    std::snprintf(text, sizeof text, "%zu taken off, which is more than what is left of the count",
                  n);
    return fail(LOCKSTEP_ERROR_ARGUMENT, __func__, text);
  }
  return result_of(__func__, [=] { latch->at.count_down(static_cast<std::ptrdiff_t>(n)); });
}

int lockstep_latch_wait(lockstep_latch* latch) {
  return LOCKSTEP_C_ON(latch, latch->at.wait(nowhere()));
}

int lockstep_latch_wait_for(lockstep_latch* latch, int64_t nanoseconds) {
  return LOCKSTEP_C_ON(latch,
                       status_code(latch->at.wait_until(deadline_of(nanoseconds), nowhere())));
}

int lockstep_latch_try_wait(const lockstep_latch* latch) {
  LOCKSTEP_C_REFUSE_NULL(latch);
  return latch->at.try_wait() ? LOCKSTEP_OK : LOCKSTEP_BUSY;
}

// --- semaphore ---

int lockstep_semaphore_create(size_t permits, int64_t policy, lockstep_semaphore** semaphore) {
  LOCKSTEP_C_REFUSE_NULL(semaphore);
  return make_for(__func__, semaphore, policy, "permits", permits, 0, most_permits);
}

void lockstep_semaphore_destroy(lockstep_semaphore* semaphore) { delete semaphore; }

int lockstep_semaphore_acquire(lockstep_semaphore* semaphore) {
  return LOCKSTEP_C_ON(semaphore, semaphore->at.acquire(nowhere()));
}

int lockstep_semaphore_acquire_for(lockstep_semaphore* semaphore, int64_t nanoseconds) {
  return LOCKSTEP_C_ON(semaphore,
                       semaphore->at.try_acquire_until(deadline_of(nanoseconds), nowhere())
                           ? LOCKSTEP_OK
                           : LOCKSTEP_TIMED_OUT);
}

int lockstep_semaphore_try_acquire(lockstep_semaphore* semaphore) {
  LOCKSTEP_C_REFUSE_NULL(semaphore);
  return semaphore->at.try_acquire() ? LOCKSTEP_OK : LOCKSTEP_BUSY;
}

int lockstep_semaphore_release(lockstep_semaphore* semaphore, size_t count) {
  LOCKSTEP_C_REFUSE_NULL(semaphore);
  if (const int code = check_count(__func__, "permits", count, 0, most_permits)) return code;
  return result_of(__func__, [=] { semaphore->at.release(static_cast<std::ptrdiff_t>(count)); });
}

// --- barrier ---

int lockstep_barrier_create(size_t expected, int64_t policy, lockstep_barrier** barrier) {
  LOCKSTEP_C_REFUSE_NULL(barrier);
  return make_for(__func__, barrier, policy, "participants", expected, 1, most_arrivals);
}

void lockstep_barrier_destroy(lockstep_barrier* barrier) { delete barrier; }

int lockstep_barrier_arrive_and_wait(lockstep_barrier* barrier) {
  LOCKSTEP_C_REFUSE_NULL(barrier);
  std::uint64_t phase;
  if (!barrier->enter(phase)) return fail_full(__func__, barrier->expected);
  return result_of(__func__, [=] {
    barrier->at.arrive_and_wait(nowhere());
    barrier->left(phase);
  });
}

int lockstep_barrier_arrive(lockstep_barrier* barrier, uint64_t* arrival) {
  LOCKSTEP_C_REFUSE_NULL(barrier, arrival);
  std::uint64_t phase;
  if (!barrier->enter(phase)) return fail_full(__func__, barrier->expected);
  return result_of(__func__, [=] { *arrival = number_of(barrier->at.arrive(), phase); });
}

int lockstep_barrier_wait_for(lockstep_barrier* barrier, uint64_t arrival, int64_t nanoseconds) {
  LOCKSTEP_C_REFUSE_NULL(barrier);
  return result_of(__func__, [=] {
    const arrival_of_number made(arrival);
    const lockstep::wait_status status =
        barrier->at.wait_until(made.token(), deadline_of(nanoseconds), nowhere());
    if (status == lockstep::wait_status::ready) barrier->left(arrival >> 32);
    return status_code(status);
  });
}
