// SPDX-License-Identifier: MIT
#include "stress/watchdog.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#include "stress/disturbance.hpp"

// Only there with a sanitizer: called before the program dies of its report.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace lockstep::stress {
namespace {

/// For handlers of crashes, which cannot wait for a lock.
char where[512] = "before the first round\n";

void tell_where() {
  const ssize_t written = write(STDERR_FILENO, where, std::strlen(where));
  (void)written;
}

void tell_and_die(int signal_number) {
  tell_where();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void prepare_for_death() {
  if (is_sanitized()) {
    __sanitizer_set_death_callback(&tell_where);
    signal(SIGABRT, &tell_and_die);
  } else {
    for (const int each : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(each, &tell_and_die);
  }
}

}  // namespace

bool is_sanitized() noexcept { return &__sanitizer_set_death_callback != nullptr; }

watchdog::watchdog(std::chrono::seconds patience, std::function<void()> at_end)
    : patience_(patience), at_end_(std::move(at_end)), thread_([this] { watch(); }) {
  prepare_for_death();
}

watchdog::~watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void watchdog::begin(const std::string& what, std::function<std::string()> reached) {
  const std::lock_guard<std::mutex> lock(mutex_);
  what_ = what;
  reached_ = std::move(reached);
  std::snprintf(where, sizeof where, "stress: died in %s\n", what.c_str());
}

void watchdog::end() {
  const std::lock_guard<std::mutex> lock(mutex_);
  reached_ = nullptr;
  ++rounds_;
}

void watchdog::watch() {
  exempt_this_thread();
  using clock = std::chrono::steady_clock;
  std::unique_lock<std::mutex> lock(mutex_);
  std::uint64_t seen = 0;
  clock::time_point since = clock::now();
  while (!changed_.wait_for(lock, std::chrono::seconds(1), [&] { return stopped_; })) {
    if (rounds_ != seen || !reached_) {
      seen = rounds_;
      since = clock::now();
    } else if (clock::now() - since >= patience_) {
      bark();
    }
  }
}

void watchdog::bark() {
  std::fflush(stdout);
  std::fprintf(stderr, "stress: HANG: no end for %lld s in %s\nreached:\n%s",
               static_cast<long long>(patience_.count()), what_.c_str(), reached_().c_str());
  at_end_();
  std::_Exit(1);
}

}  // namespace lockstep::stress
