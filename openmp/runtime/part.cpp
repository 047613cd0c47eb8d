// SPDX-License-Identifier: MIT
// What a thread keeps, from its first call to its end.
#include "part.hpp"

#include <pthread.h>

#include <new>

#include "platform/once.hpp"
#include "team/environment.hpp"

#include "affinity.hpp"
#include "control_variables.hpp"
#include "message.hpp"
#include "ompt.hpp"
#include "parallel.hpp"
#include "pool.hpp"
#include "root.hpp"
#include "synchronization.hpp"

namespace lockstep::openmp {

__thread thread_record this_record;

namespace {

// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  numbers.fetch_add  relaxed  -      hands out numbers, nothing else
detail::atomic<std::uint32_t> numbers{0};

/// A thread ends. Its pools end, with their threads.
void end_thread(void* value) noexcept {
  thread_record& record = this_record;
  pool::end_all(record);
  if (value == &record) return;
  root_part* const initial = static_cast<root_part*>(value);
  if (has_tool()) ompt::end_initial_thread(*initial);
  record.current = nullptr;
  delete initial;
  if (has_tool()) ompt::forget_this_thread();
}

pthread_key_t make_key() noexcept {
  pthread_key_t key;
  if (pthread_key_create(&key, end_thread) != 0)
    fail("The system has no key left for data of threads");
  return key;
}

}  // namespace

void end_with_thread(root_part* initial) noexcept {
  static detail::made_once<pthread_key_t> key;
  const pthread_key_t own = key.get(make_key);
  if (initial != nullptr) {
    pthread_setspecific(own, initial);
  } else if (pthread_getspecific(own) == nullptr) {
    pthread_setspecific(own, &this_record);
  }
}

bool end_threads() noexcept {
  if (here().outer != nullptr) return false;  // in a region, or in target, which may be in one
  pool::end_all(this_record);
  return true;
}

part& begin_thread() noexcept {
  read_what_main_has_set();
  // Observers start here, so that they see the first region, too.
  static_cast<void>(detail::environment::of_process());
  root_part* const made = new (std::nothrow) root_part;
  if (made == nullptr) fail("Out of memory");
  made->implicit.variables = &process_settings().initial;
  made->places = affinity::initial_places();
  this_record.current = made;
  end_with_thread(made);
  if (has_tool()) ompt::begin_initial_thread(*made);
  return *made;
}

root_part& root_of(part& of) noexcept {
  part* at = &of;
  while (at->outer != nullptr) at = at->outer;
  return static_cast<root_part&>(*at);
}

std::uint32_t thread_number() noexcept {
  std::uint32_t& number = this_record.number;
  if (number == 0) number = numbers.fetch_add(1, detail::memory_order_relaxed) + 1;  // 1
  return number;
}

shared_region& make_shared_of(part& self) noexcept {
  self.shared = new (std::nothrow) shared_region;
  if (self.shared == nullptr) fail("Out of memory");
  return *self.shared;
}

}  // namespace lockstep::openmp
