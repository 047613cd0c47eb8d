// SPDX-License-Identifier: MIT
// Allocators. All memory comes from malloc(), for all memory spaces but omp_high_bw_mem_space. The traits alignment,
// pool_size and fallback have an effect. A request for what we cannot give (high bandwidth, pinned pages) makes no
// allocator, as the specification demands.
//
// A block begins with a header of ours, which lies before the address that the program has.
#include "allocators.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include <lockstep/detail/platform/atomic.hpp>

#include "abi.hpp"
#include "message.hpp"
#include "part.hpp"

namespace lockstep::openmp::allocators {
namespace {

// omp_memspace_handle_t, omp_alloctrait_key_t, omp_alloctrait_value_t.
constexpr std::uintptr_t high_bandwidth_space = 3, last_space = 4;
enum trait_key : int {
  sync_hint = 1,
  alignment,
  access,
  pool_size,
  fallback,
  fallback_data,
  pinned,
  partition
};
constexpr std::uintptr_t by_default = ~std::uintptr_t{0};
enum trait_value : std::uintptr_t {
  no = 0,
  contended = 3,
  private_hint = 6,
  all = 7,
  cgroup = 10,
  default_memory = 11,
  null = 12,
  abort_program = 13,
  another_allocator = 14,
  environment = 15,
  interleaved = 18
};

struct allocator {
  std::size_t align = 1;
  std::size_t pool = ~std::size_t{0};
  std::uintptr_t when_full = default_memory;
  handle other = none;
  detail::atomic<std::size_t> used{0};
};

/// The allocator of a handle that omp_init_allocator() gave; null for predefined ones.
allocator* of(handle which) noexcept {
  return which > last_predefined ? reinterpret_cast<allocator*>(which) : nullptr;
}

struct header {
  void* start;        ///< as malloc() gave it
  std::size_t size;   ///< as the program asked for it
  std::size_t total;  ///< that is counted in the allocator's pool
  handle owner;
};

header& header_of(void* block) noexcept { return static_cast<header*>(block)[-1]; }

bool is_power_of_2(std::size_t value) noexcept { return value != 0 && (value & (value - 1)) == 0; }

/// Counts `size` bytes in the allocator's pool. False if they do not fit. Relaxed: a count publishes nothing.
bool reserve(allocator& in, std::size_t size) noexcept {
  std::size_t used = in.used.load(detail::memory_order_relaxed);
  while (size <= in.pool && used <= in.pool - size) {
    if (in.used.compare_exchange_strong(used, used + size, detail::memory_order_relaxed,
                                        detail::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}
void give_back(allocator& in, std::size_t size) noexcept {
  in.used.fetch_sub(size, detail::memory_order_relaxed);
}

/// What a block takes: its size, and room to align it after its header.
struct extent {
  std::size_t align, extra, total;

  extent(const allocator* in, std::size_t asked_align, std::size_t size) noexcept
      : align(in != nullptr && in->align > asked_align ? in->align : asked_align) {
    if (align < alignof(std::max_align_t)) align = alignof(std::max_align_t);
    extra = sizeof(header) + align - 1;
    total = size + extra;
  }
  bool is_possible() const noexcept { return is_power_of_2(align) && total > extra; }
  /// The program's address in the memory at `start`.
  void* block_in(void* start) const noexcept {
    return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(start) + extra) &
                                   ~(align - 1));
  }
};

/// Makes a block larger or smaller within its allocator, without needing room for both. Null, and nothing changed, if
/// that fails.
void* resize(void* block, std::size_t size) noexcept {
  const header old = header_of(block);
  allocator* const in = of(old.owner);
  const extent needs(in, 1, size);
  if (!needs.is_possible()) return nullptr;
  if (in != nullptr && needs.total > old.total && !reserve(*in, needs.total - old.total))
    return nullptr;
  const std::size_t offset =
      static_cast<std::size_t>(static_cast<char*>(block) - static_cast<char*>(old.start));
  const std::size_t least = offset + (old.size < size ? old.size : size);
  void* const start = std::realloc(old.start, needs.total > least ? needs.total : least);
  if (start == nullptr) {
    if (in != nullptr && needs.total > old.total) give_back(*in, needs.total - old.total);
    return nullptr;
  }
  if (in != nullptr && needs.total < old.total) give_back(*in, old.total - needs.total);
  void* const made = needs.block_in(start);
  std::memmove(made, static_cast<char*>(start) + offset, old.size < size ? old.size : size);
  header_of(made) = header{start, size, needs.total, old.owner};
  return made;
}

}  // namespace

handle make(std::uintptr_t space, int count, const trait* traits) noexcept {
  if (space > last_space || space == high_bandwidth_space) return none;
  std::unique_ptr<allocator> made(new (std::nothrow) allocator);
  if (made == nullptr) return none;
  for (int i = 0; i < count; ++i) {
    const std::uintptr_t value = traits[i].value;
    switch (traits[i].key) {
      case sync_hint:
        if (value != by_default && (value < contended || value > private_hint)) return none;
        break;
      case alignment:
        if (value == by_default) break;
        if (!is_power_of_2(value)) return none;
        made->align = value;
        break;
      case access:
        if (value != by_default && (value < all || value > cgroup)) return none;
        break;
      case pool_size: made->pool = value; break;  // by_default: all that there is
      case fallback:
        if (value == by_default) break;
        if (value < default_memory || value > another_allocator) return none;
        made->when_full = value;
        break;
      case fallback_data: made->other = value; break;
      case pinned:
        if (value != by_default && value != no) return none;
        break;
      case partition:
        if (value != by_default && (value < environment || value > interleaved)) return none;
        break;
      default: return none;
    }
  }
  return reinterpret_cast<handle>(made.release());
}

void destroy(handle which) noexcept { delete of(which); }

void* allocate(std::size_t align, std::size_t size, handle from, bool is_zeroed) noexcept {
  if (size == 0) return nullptr;
  if (from == none) from = here().variables().allocator;
  // Repeats as long as an allocator names another as its fallback. The last one gives malloc's memory, or none.
  while (true) {
    allocator* const in = of(from);
    const extent needs(in, align, size);
    if (needs.is_possible() && (in == nullptr || reserve(*in, needs.total))) {
      void* const start = is_zeroed ? std::calloc(1, needs.total) : std::malloc(needs.total);
      if (start != nullptr) {
        void* const block = needs.block_in(start);
        header_of(block) = header{start, size, needs.total, from};
        return block;
      }
      if (in != nullptr) give_back(*in, needs.total);
    }
    if (in == nullptr) return nullptr;  // the fallback of a predefined allocator is the same memory
    switch (in->when_full) {
      case default_memory: from = usual; break;
      case another_allocator: from = in->other; break;
      case abort_program: fail("Out of memory allocating %zu bytes", size);
      default: return nullptr;
    }
    if (from == none) return nullptr;
  }
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  const header kept = header_of(block);
  if (allocator* const in = of(kept.owner)) give_back(*in, kept.total);
  std::free(kept.start);
}

void* reallocate(void* block, std::size_t size, handle from) noexcept {
  if (block == nullptr) return allocate(1, size, from, false);
  if (size == 0) {
    release(block);
    return nullptr;
  }
  const header& old = header_of(block);
  if (from == none) from = old.owner;
  if (from == old.owner) {
    if (void* const made = resize(block, size)) return made;
  }
  void* const made = allocate(1, size, from, false);
  if (made == nullptr) return nullptr;
  std::memcpy(made, block, old.size < size ? old.size : size);
  release(block);
  return made;
}

const char* name_of(handle which) noexcept {
  static const char* const names[] = {"",
                                      "omp_default_mem_alloc",
                                      "omp_large_cap_mem_alloc",
                                      "omp_const_mem_alloc",
                                      "omp_high_bw_mem_alloc",
                                      "omp_low_lat_mem_alloc",
                                      "omp_cgroup_mem_alloc",
                                      "omp_pteam_mem_alloc",
                                      "omp_thread_mem_alloc"};
  return which <= last_predefined ? names[which] : "";
}

}  // namespace lockstep::openmp::allocators
