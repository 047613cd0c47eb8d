// SPDX-License-Identifier: MIT
// tests/build/modules.cpp -- a program and a shared library of other systems: what waits in one is woken by the other
//
// usage: modules LIBRARY; compiled with -DMODULE=1 it is that library. A lost wake-up hangs until the caller's timeout.
#include <lockstep/lockstep.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <set>
#include <thread>

#if defined(_WIN32)
#include <windows.h>
#define EXPORTED extern "C" __declspec(dllexport)
#else
#include <dlfcn.h>
#define EXPORTED extern "C" __attribute__((visibility("default")))
#endif

struct log_file;

/// What the library does with objects of the program.
struct offer {
  void (*notify)(lockstep::event&);
  void (*release)(lockstep::semaphore&);
  void (*lock)(lockstep::mutex&);
  void (*unlock)(lockstep::mutex&);
  void (*run)(lockstep::team&, int* calls);
  std::uint64_t (*thread_number)();
  const void* (*process)();
};

#if MODULE

namespace {

const offer offered = {
    [](lockstep::event& event) { event.notify(); },
    [](lockstep::semaphore& semaphore) { semaphore.release(); },
    [](lockstep::mutex& mutex) { mutex.lock(); },
    [](lockstep::mutex& mutex) { mutex.unlock(); },
    [](lockstep::team& team, int* calls) {
      team.run([calls](lockstep::member& me) { me.critical<log_file>([calls] { ++*calls; }); });
    },
    [] { return lockstep::detail::number_of_this_thread(); },
    []() -> const void* { return &lockstep::detail::find_observers(false); },
};

}  // namespace

EXPORTED const offer* offers() { return &offered; }

#else

namespace {

const offer* load(const char* path) {
  using offers_of = const offer* (*)();
#if defined(_WIN32)
  const HMODULE library = LoadLibraryA(path);
  return library != nullptr ? reinterpret_cast<offers_of>(
                                  reinterpret_cast<void*>(GetProcAddress(library, "offers")))()
                            : nullptr;
#else
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return library != nullptr ? reinterpret_cast<offers_of>(dlsym(library, "offers"))() : nullptr;
#endif
}

/// wake() comes when wait() sleeps, as a rule.
template <class Wait, class Wake>
void meet(Wait wait, Wake wake) {
  std::thread waiter(wait);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  wake();
  waiter.join();
}

bool threads_have_numbers(const offer& other) {
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 200; ++i) {
    std::thread([&] {
      const std::uint64_t here = lockstep::detail::number_of_this_thread();
      if (other.thread_number() == here) numbers.insert(here);
    }).join();
  }
  return numbers.size() == 200;
}

}  // namespace

int main(int, char** arguments) {
  const offer* const other = load(arguments[1]);
  if (other == nullptr) return 2;
  if (other->process() != &lockstep::detail::find_observers(false)) return 3;
  if (!threads_have_numbers(*other)) return 4;

  const lockstep::wait_policy policy = lockstep::wait_policy::block();
  lockstep::event event(policy);
  meet([&] { event.wait(); }, [&] { other->notify(event); });
  lockstep::semaphore semaphore(0, policy);
  meet([&] { semaphore.acquire(); }, [&] { other->release(semaphore); });
  lockstep::mutex mutex(policy);
  other->lock(mutex);
  meet([&] { mutex.lock(), mutex.unlock(); }, [&] { other->unlock(mutex); });
  lockstep::team team(3);
  int calls = 0;
  other->run(team, &calls);
  if (calls != 3) return 5;

  // A timed wait sleeps, and comes to its end.
  const auto start = std::chrono::steady_clock::now();
  const bool is_taken = semaphore.try_acquire_for(std::chrono::milliseconds(30));
  const auto time = std::chrono::steady_clock::now() - start;
  if (is_taken || time < std::chrono::milliseconds(30)) return 6;
  std::puts("met");
  return 0;
}

#endif
