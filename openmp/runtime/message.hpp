// SPDX-License-Identifier: MIT
// openmp/runtime/message.hpp -- what the runtime prints to stderr
#ifndef LOCKSTEP_OPENMP_RUNTIME_MESSAGE_HPP
#define LOCKSTEP_OPENMP_RUNTIME_MESSAGE_HPP

namespace lockstep::openmp {

/// Prints a line in one piece: "libgomp (lockstep): " and what std::printf would print.
void say(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));
/// Silences say(), or ends that.
void quiet(bool yes) noexcept;
/// Prints as say(), even if that is silenced. Then ends the process with status 1, as GCC's runtime does.
[[noreturn]] void fail(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_MESSAGE_HPP
