// SPDX-License-Identifier: MIT
#include "stress/disturbance.hpp"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "platform/cpus.hpp"
#include "stress/actor.hpp"
#include "support/quota_group.hpp"

namespace lockstep::stress {

using namespace detail;
namespace {

constexpr std::size_t most_exempt = 8;
std::atomic<int> exempt[most_exempt];

bool is_exempt(int thread) {
  return std::any_of(std::begin(exempt), std::end(exempt),
                     [thread](const std::atomic<int>& each) { return each.load() == thread; });
}

/// The names of a directory's entries but "." and "..".
std::vector<std::string> entries_of(const std::string& directory) {
  std::vector<std::string> names;
  DIR* const open = opendir(directory.c_str());
  if (open == nullptr) return names;
  while (const dirent* const each = readdir(open)) {
    if (each->d_name[0] != '.') names.emplace_back(each->d_name);
  }
  closedir(open);
  return names;
}

std::vector<int> threads_of_this_process() {
  std::vector<int> threads;
  for (const std::string& name : entries_of("/proc/self/task")) {
    const int number = std::atoi(name.c_str());
    if (!is_exempt(number)) threads.push_back(number);
  }
  return threads;
}

/// Binds all threads, exempt ones too; new ones inherit it.
class one_cpu : public disturbance {
 public:
  one_cpu() : before_(detail::affinity()) {
    if (before_.size() < 2) throw unavailable("there is only one CPU anyway");
    bind({before_.back()});
  }
  ~one_cpu() override { bind(before_); }

 private:
  static void bind(const std::vector<unsigned>& cpus) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (const unsigned each : cpus) CPU_SET(each, &mask);
    for (const std::string& name : entries_of("/proc/self/task")) {
      sched_setaffinity(std::atoi(name.c_str()), sizeof mask, &mask);
    }
  }

  std::vector<unsigned> before_;
};

/// The process moves to a control group of its own below the one it is in, and back.
class quota : public disturbance {
 public:
  quota() {
    if (!group_.made() || !group_.enter()) {
      throw unavailable("no control group with CPU quotas is writable");
    }
  }
  ~quota() override { group_.leave(); }

 private:
  const test::quota_group group_{"20000"};
};

/// Sends SIGUSR1 to one random thread after another. The handler sleeps for the time it finds set.
class signals : public disturbance {
 public:
  signals(std::uint64_t seed, bool freezes) : random_(seed), freezes_(freezes) {
    struct sigaction action = {};
    action.sa_handler = [](int) { sleep_in_handler(); };
    sigaction(SIGUSR1, &action, nullptr);
    sender_ = std::thread([this] { send(); });
  }
  ~signals() override {
    stop_.store(true);
    sender_.join();
    // One may still be on its way: the handler stays, and does nothing.
    freeze_nanoseconds_.store(0);
  }

 private:
  static void sleep_in_handler() {
    const long time = freeze_nanoseconds_.load(std::memory_order_relaxed);
    if (time == 0) return;
    const int saved = errno;
    const timespec pause = {0, time};
    nanosleep(&pause, nullptr);
    errno = saved;
  }

  void send() {
    exempt_this_thread();
    while (!stop_.load()) {
      const std::vector<int> threads = threads_of_this_process();
      for (int i = 0; i < 16 && !threads.empty() && !stop_.load(); ++i) {
        if (freezes_) freeze_nanoseconds_.store(8000L << random_.below(11));
        const int target = threads[random_.below(threads.size())];
        syscall(SYS_tgkill, getpid(), target, SIGUSR1);
        // Two threads are frozen about half of the time, many seldom.
        const std::int64_t longest = freezes_ ? 4096 : 256;
        std::this_thread::sleep_for(std::chrono::microseconds(longest >> random_.below(9)));
      }
    }
  }

  static inline std::atomic<long> freeze_nanoseconds_{0};

  random_source random_;
  bool freezes_;
  std::atomic<bool> stop_{false};
  std::thread sender_;
};

}  // namespace

const std::vector<std::string>& disturbance_names() {
  static const std::vector<std::string> names = {"none", "one-cpu", "quota", "signals", "freezer"};
  return names;
}

std::unique_ptr<disturbance> start_disturbance(const std::string& name, std::uint64_t seed) {
  if (name == "one-cpu") return std::make_unique<one_cpu>();
  if (name == "quota") return std::make_unique<quota>();
  if (name == "signals") return std::make_unique<signals>(seed, false);
  if (name == "freezer") return std::make_unique<signals>(seed, true);
  return std::make_unique<disturbance>();
}

void exempt_this_thread() {
  const int self = static_cast<int>(syscall(SYS_gettid));
  for (std::atomic<int>& each : exempt) {
    int nobody = 0;
    if (is_exempt(self) || each.compare_exchange_strong(nobody, self)) return;
  }
  // All places are taken. The threads of earlier disturbances have ended, so the last place may be used again.
  exempt[most_exempt - 1].store(self);
}

}  // namespace lockstep::stress
