// SPDX-License-Identifier: MIT
// tests/build/timed.cpp -- timed waits on systems of 32 bits, whose time_t may have 64
//
// usage: timed [old|new]: this call of the futex is refused with ENOSYS
// Fails if a wait that nobody ends returns too early again and again: then the kernel has read another time.
#include <lockstep/lockstep.hpp>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

namespace {

using lockstep::detail::native_futex;
using lockstep::detail::wait_word;
using lockstep::detail::native::monotonic_nanoseconds;

/// Refuses the call to this thread and to those that it makes.
bool refuse(unsigned number) {
  sock_filter program[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                           {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, number},
                           {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
                           {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  sock_fprog filter = {sizeof program / sizeof *program, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// How often a wait of 150 ms returns: the kernel reads its seconds and its nanoseconds.
int returns_of_a_wait() {
  const wait_word word{0};
  const std::uint64_t deadline = monotonic_nanoseconds() + 150000000;
  int returns = 0;
  for (; monotonic_nanoseconds() < deadline; ++returns) native_futex::wait(word, 0, deadline);
  return returns;
}

/// A wait with the longest deadline, and one without, are ended by a wake.
void be_woken(std::uint64_t deadline) {
  wait_word word{0};
  std::thread waiter([&] {
    while (word.load(std::memory_order_acquire) == 0) native_futex::wait(word, 0, deadline);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // as a rule, it sleeps by then
  word.store(1, std::memory_order_release);
  native_futex::wake_all(&word);
  waiter.join();
}

}  // namespace

int main(int, char** arguments) {
  const std::string refused = arguments[1] != nullptr ? arguments[1] : "";
#if defined(SYS_futex_time64)
  if (refused == "new" && !refuse(SYS_futex_time64)) return 77;
#endif
#if defined(SYS_futex)
  if (refused == "old" && !refuse(SYS_futex)) return 77;
#endif
  const int returns = returns_of_a_wait();
  std::printf("%u bytes of time_t, %d returns\n", static_cast<unsigned>(sizeof(time_t)), returns);
  // The C library cannot start threads without the old call.
  if (returns > 20 || refused == "old") return returns > 20 ? 1 : 0;
  be_woken(lockstep::detail::no_deadline - 1);
  be_woken(lockstep::detail::no_deadline);
  lockstep::counting_semaphore<> permits(0);
  return permits.try_acquire_for(std::chrono::milliseconds(20)) ? 1 : 0;
}
