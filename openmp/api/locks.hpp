// SPDX-License-Identifier: MIT
// openmp/api/locks.hpp -- locks, under our own names: programs call them by several names and versions
#ifndef LOCKSTEP_OPENMP_API_LOCKS_HPP
#define LOCKSTEP_OPENMP_API_LOCKS_HPP

#include "runtime/abi.hpp"
#include "runtime/word_lock.hpp"

namespace lockstep::openmp {
struct nest_lock;
/// In the program's memory, where OMP_1.0 has two ints.
using nest_handle [[gnu::aligned(4)]] = nest_lock*;
}  // namespace lockstep::openmp

OPENMP_API void lock_init(lockstep::openmp::word_lock*);
OPENMP_API void lock_destroy(lockstep::openmp::word_lock*);
OPENMP_API void lock_set(lockstep::openmp::word_lock*);
OPENMP_API void lock_unset(lockstep::openmp::word_lock*);
OPENMP_API int lock_test(lockstep::openmp::word_lock*);
OPENMP_API void nest_lock_init(lockstep::openmp::nest_handle*);
OPENMP_API void nest_lock_destroy(lockstep::openmp::nest_handle*);
OPENMP_API void nest_lock_set(lockstep::openmp::nest_handle*);
OPENMP_API void nest_lock_unset(lockstep::openmp::nest_handle*);
OPENMP_API int nest_lock_test(lockstep::openmp::nest_handle*);

#endif  // LOCKSTEP_OPENMP_API_LOCKS_HPP
