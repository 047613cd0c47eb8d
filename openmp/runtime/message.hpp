// SPDX-License-Identifier: MIT
// openmp/runtime/message.hpp -- what the runtime says on stderr
#ifndef LOCKSTEP_OPENMP_RUNTIME_MESSAGE_HPP
#define LOCKSTEP_OPENMP_RUNTIME_MESSAGE_HPP

namespace lockstep::openmp {

/// One line, written at once: "libgomp (lockstep): " and what std::printf would print.
void say(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));
/// From now on say() says nothing, or again something.
void quiet(bool yes) noexcept;
/// The same as say(), always; then the process ends with status 1, as with GCC's runtime.
[[noreturn]] void fail(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_MESSAGE_HPP
