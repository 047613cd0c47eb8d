// SPDX-License-Identifier: MIT
// tests/support/refuse.hpp -- a sandbox that refuses single system calls (Linux seccomp)
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace lockstep::test {

/// From now on the calling thread gets `error` for the system call `number`, where the second argument,
/// without its bit 7 (FUTEX_PRIVATE_FLAG), is `operation`; -1 stands for any. Cannot be undone: use a
/// thread or a process of its own. False if the system has no such filters.
inline bool refuse_system_call(long number, int operation, int error) {
  constexpr unsigned short load = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr unsigned short keep_bits = BPF_ALU | BPF_AND | BPF_K, give = BPF_RET | BPF_K;
  const unsigned refusal = SECCOMP_RET_ERRNO | static_cast<unsigned>(error);
  // The low half of the argument, on a little-endian machine.
  constexpr unsigned second_argument = offsetof(seccomp_data, args[1]);
  const unsigned bits = operation < 0 ? 0u : 0x7Fu,
                 wanted = operation < 0 ? 0u : unsigned(operation);
  sock_filter program[] = {
      {load, 0, 0, offsetof(seccomp_data, nr)},
      {equal, 0, 4, static_cast<unsigned>(number)},
      {load, 0, 0, second_argument},
      {keep_bits, 0, 0, bits},
      {equal, 0, 1, wanted},
      {give, 0, 0, refusal},
      {give, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog filter = {sizeof program / sizeof program[0], program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace lockstep::test
