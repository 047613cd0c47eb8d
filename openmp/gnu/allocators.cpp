// SPDX-License-Identifier: MIT
// What the clause `allocate`, and Fortran's directives of that name, call.
#include "runtime/allocators.hpp"

#include <cstddef>
#include <unordered_set>

#include "runtime/abi.hpp"
#include "runtime/message.hpp"
#include "runtime/word_lock.hpp"

using namespace lockstep::openmp;
using namespace lockstep::openmp::allocators;

// A private variable needs memory, even if the allocator has none.
OPENMP_IN_BOTH(void*, GOMP_alloc)(std::size_t align, std::size_t size, handle from) {
  void* const block = allocate(align, size, from, false);
  if (block == nullptr && size > 0) fail("Out of memory allocating %zu bytes", size);
  return block;
}
OPENMP_IN_BOTH(void, GOMP_free)(void* block, handle) { release(block); }

namespace {

word_lock scalars_lock;
/// Never destroyed: programs free blocks in their last moments.
std::unordered_set<void*>& scalars() noexcept {
  static std::unordered_set<void*>* const all = new std::unordered_set<void*>;
  return *all;
}

}  // namespace

// For Fortran's `allocate` and `allocators` directives: notes which scalars have a block of ours. Then deallocate and
// similar statements free it by GOMP_free, wherever they stand. The question is the last use of the block.
OPENMP_API void GOMP_add_alloc(void* block) {
  if (block == nullptr) return;
  scalars_lock.lock();
  scalars().insert(block);
  scalars_lock.unlock();
}
OPENMP_API bool GOMP_is_alloc(void* block) {
  scalars_lock.lock();
  const bool is_ours = scalars().erase(block) != 0;
  scalars_lock.unlock();
  return is_ours;
}
