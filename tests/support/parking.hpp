// SPDX-License-Identifier: MIT
// tests/support/parking.hpp -- which objects the queues of waiting threads know
#pragma once

#include <cstdint>

#include "wait/parking_lot.hpp"

namespace lockstep::test {

/// Whether the child of a fork() at this moment would correct the word of the object with that key (PARKING-4).
/// Requires: the queue of the key is locked.
inline bool is_known(std::uintptr_t key) {
  const detail::parked_thread* at = detail::parking_lot::bucket_of(key).waiting.first();
  while (at != nullptr && at->key() != key) at = at->next();
  return at != nullptr;
}

}  // namespace lockstep::test
