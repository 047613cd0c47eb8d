// SPDX-License-Identifier: MIT
// Critical sections, with a name and without; and atomic operations that the processor does not have.
#include <lockstep/mutex.hpp>

#include "abi.hpp"

namespace {

constinit lockstep::mutex critical_lock;
constinit lockstep::mutex atomic_lock;

/// A name is a word of the program, of zeros at first. So is a mutex of lockstep.
static_assert(sizeof(lockstep::mutex) <= sizeof(void*) &&
                  alignof(lockstep::mutex) <= alignof(void*),
              "it fits");
lockstep::mutex& lock_of(void** name) noexcept { return *reinterpret_cast<lockstep::mutex*>(name); }

}  // namespace

OPENMP_API void GOMP_critical_start() { critical_lock.lock(); }
OPENMP_API void GOMP_critical_end() { critical_lock.unlock(); }
OPENMP_API void GOMP_critical_name_start(void** name) { lock_of(name).lock(); }
OPENMP_API void GOMP_critical_name_end(void** name) { lock_of(name).unlock(); }
OPENMP_API void GOMP_atomic_start() { atomic_lock.lock(); }
OPENMP_API void GOMP_atomic_end() { atomic_lock.unlock(); }
