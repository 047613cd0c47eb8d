// SPDX-License-Identifier: MIT
// openmp/runtime/task_dependences.cpp -- depend(): see task_dependences.hpp
#include "task_dependences.hpp"

#include <cstdlib>
#include <iterator>

#include "message.hpp"
#include "ompt.hpp"

namespace lockstep::openmp {

struct dependence_entry {
  const void* address;
  dependence_entry* next;  ///< in its bucket, or free
  dependence_use* current;
  dependence_use* before;
  dependence_kind kind;  ///< of the current generation
};

namespace {

template <class Type>
Type* allocate(std::size_t count = 1) noexcept {
  void* const memory = std::calloc(count, sizeof(Type));
  if (memory == nullptr) fail("Out of memory allocating %zu bytes", count * sizeof(Type));
  return static_cast<Type*>(memory);
}

template <class Type>
void free_chain(Type* first) noexcept {
  while (first != nullptr) {
    Type* const next = first->next;
    std::free(first);
    first = next;
  }
}

bool is_shared(dependence_kind kind) noexcept { return kind != dependence_kind::out; }

}  // namespace

void free_edges(explicit_task& of) noexcept { free_chain(of.more_edges); }

dependence_use* allocate_uses(explicit_task& of, std::size_t count) noexcept {
  const std::size_t size = sizeof(edge_block) + count * sizeof(dependence_use);
  edge_block* const block = static_cast<edge_block*>(std::malloc(size));
  if (block == nullptr) fail("Out of memory allocating %zu bytes", size);
  block->next = of.more_edges;
  block->used = std::size(block->edges);
  of.more_edges = block;
  return reinterpret_cast<dependence_use*>(block + 1);
}

dependence_table::newcomer::newcomer(part& by, explicit_task& task) noexcept
    : self(by), one(task), edge(nullptr), edges(0) {
  one.blockers.store(being_added, detail::memory_order_relaxed);  // 6
}

dependence_edge& dependence_table::newcomer::take_edge() noexcept {
  if (edge == nullptr) {
    edge_block* block = one.more_edges;
    if (block == nullptr || block->used == std::size(block->edges)) {
      block = allocate<edge_block>();
      block->next = one.more_edges;
      one.more_edges = block;
    }
    edge = &block->edges[block->used++];
    edge->successor = &one;
  }
  return *edge;
}

bool dependence_table::newcomer::finish() noexcept {
  if (edges == 0) return true;
  const std::uint32_t rest = being_added - edges;
  return one.blockers.fetch_sub(rest, detail::memory_order_acquire) == rest;  // 7
}

dependence_table::~dependence_table() {
  free_chain(free_entries_);
  std::free(buckets_);
}

bool dependence_table::add(part& self, explicit_task& one, const dependence_list& named) noexcept {
  if (entries_ + uses_ >= most_kept_) forget_ended(self);
  newcomer by(self, one);
  for (std::size_t i = 0; i < named.count; ++i) {
    const dependence what = named.at(i);
    dependence_use& use = one.uses[i];
    use.edge.successor = &one;
    use.entry = nullptr;
    by.edge = &use.edge;
    if (what.is_all_memory()) {
      name_all_memory(by, true);
    } else {
      name(by, &use, what.address, what.kind);
    }
  }
  if (one.named == 0) one.successors.store(forgotten, detail::memory_order_relaxed);  // 5
  return by.finish();
}

bool dependence_table::add_wait(part& self, explicit_task& wait,
                                const dependence_list& named) noexcept {
  newcomer by(self, wait);
  for (std::size_t i = 0; i < named.count; ++i) {
    const dependence what = named.at(i);
    if (what.is_all_memory()) {
      name_all_memory(by, false);
    } else {
      name(by, nullptr, what.address, what.kind);
    }
  }
  return by.finish();
}

/// `forgets`: the caller removes the task from the table here. False if the task has ended.
bool dependence_table::wait_for(newcomer& by, explicit_task& predecessor, bool forgets) noexcept {
  const bool is_last = forgets && --predecessor.named == 0;
  if (&predecessor == &by.one) return true;
  std::uintptr_t seen = predecessor.successors.load(detail::memory_order_acquire);  // 1
  if (has_tool() && (seen & ended) == 0)
    ompt::task_dependence::tell(&info_of(predecessor).own, &info_of(by.one).own);
  while ((seen & ended) == 0) {
    dependence_edge& edge = by.take_edge();
    edge.next = edges_of(seen);
    const std::uintptr_t wanted =
        reinterpret_cast<std::uintptr_t>(&edge) | (is_last ? forgotten : 0);
    if (predecessor.successors.compare_exchange_strong(seen, wanted,
                                                       detail::memory_order_release,     // 2
                                                       detail::memory_order_acquire)) {  // 1
      by.edge = nullptr;
      ++by.edges;
      return true;
    }
  }
  if (is_last) pool_.let_go(&by.self, predecessor);
  return false;
}

/// Removes those that have ended in any case.
void dependence_table::wait_for_all(newcomer& by, dependence_use* use, bool forgets) noexcept {
  while (use != nullptr) {
    explicit_task& predecessor = *use->edge.successor;
    dependence_use& here = *use;
    use = here.next;
    if (forgets) {
      unlink(here);
      wait_for(by, predecessor, true);
    } else if (!wait_for(by, predecessor, false)) {
      unlink(here);
      forget(by.self, predecessor);
    }
  }
}

void dependence_table::name(newcomer& by, dependence_use* use, void* address,
                            dependence_kind kind) noexcept {
  if (all_memory_ != nullptr && !wait_for(by, *all_memory_, false)) {
    forget(by.self, *all_memory_);
    all_memory_ = nullptr;
  }
  if (use != nullptr && entries_ >= (buckets_ == nullptr ? 0 : std::size_t{1} << bits_)) grow();
  if (buckets_ == nullptr) return;
  dependence_entry** const place = place_of(address);
  dependence_entry* entry = *place;
  if (entry == nullptr) {
    if (use == nullptr) return;
    entry = free_entries_;
    if (entry != nullptr) {
      free_entries_ = entry->next;
    } else {
      entry = allocate<dependence_entry>();
    }
    *entry = {address, nullptr, nullptr, nullptr, kind};
    *place = entry;
    ++entries_;
  }
  dependence_use* const first = entry->current;
  if (use != nullptr && first != nullptr && first->edge.successor == &by.one) {
    // The task has named the address before, in the same array. What it named first stays if that was the same, or a
    // write. Otherwise the task now writes as well.
    if (entry->kind == kind || !is_shared(entry->kind)) return;
    unlink(*first);
    --by.one.named;
    kind = dependence_kind::out;
  }
  const bool joins = is_shared(kind) && entry->kind == kind;
  if (use == nullptr) return wait_for_all(by, joins ? entry->before : entry->current, false);
  if (joins) {
    wait_for_all(by, entry->before, false);
  } else {
    // If this task writes, later ones wait for it alone. Otherwise tasks of its kind wait for the generation before,
    // too.
    wait_for_all(by, entry->current, !is_shared(kind));
    forget_generation(by.self, entry->before);
    entry->before = entry->current;
    if (entry->before != nullptr) entry->before->at = &entry->before;
    entry->current = nullptr;
    entry->kind = kind;
  }
  use->entry = entry;
  use->next = entry->current;
  use->at = &entry->current;
  if (use->next != nullptr) use->next->at = &use->next;
  entry->current = use;
  ++uses_;
  ++by.one.named;
}

void dependence_table::name_all_memory(newcomer& by, bool is_task) noexcept {
  if (all_memory_ != nullptr) wait_for(by, *all_memory_, false);
  for (std::size_t i = 0; buckets_ != nullptr && i < std::size_t{1} << bits_; ++i) {
    for (dependence_entry** at = &buckets_[i]; *at != nullptr;) {
      wait_for_all(by, (*at)->current, is_task);
      if (is_task) {
        // All later tasks wait for this one, and so for those.
        forget_generation(by.self, (*at)->before);
        remove(at);
      } else {
        at = &(*at)->next;
      }
    }
  }
  if (!is_task || all_memory_ == &by.one) return;
  if (all_memory_ != nullptr) forget(by.self, *all_memory_);
  all_memory_ = &by.one;
  ++by.one.named;
}

void dependence_table::forget(part& self, explicit_task& one) noexcept {
  if (--one.named != 0) return;
  const std::uintptr_t before =
      one.successors.fetch_or(forgotten, detail::memory_order_acq_rel);  // 4
  if ((before & ended) != 0) pool_.let_go(&self, one);
}

void dependence_table::forget_generation(part& self, dependence_use* use,
                                         bool only_ended) noexcept {
  while (use != nullptr) {
    dependence_use& here = *use;
    explicit_task& of = *here.edge.successor;
    use = here.next;
    if (only_ended && (of.successors.load(detail::memory_order_acquire) & ended) == 0) {  // 1
      continue;
    }
    unlink(here);
    forget(self, of);
  }
}

void dependence_table::unlink(dependence_use& use) noexcept {
  *use.at = use.next;
  if (use.next != nullptr) use.next->at = use.at;
  use.entry = nullptr;
  --uses_;
}

dependence_edge* dependence_table::remove(explicit_task& one) noexcept {
  for (std::size_t i = 0; i < one.use_count; ++i) {
    if (one.uses[i].entry != nullptr) unlink(one.uses[i]);
  }
  if (all_memory_ == &one) all_memory_ = nullptr;
  return edges_of(one.successors.load(detail::memory_order_relaxed));  // 5
}

/// Called when there are twice as many as were left the last time. So its time for each new one is constant.
void dependence_table::forget_ended(part& self) noexcept {
  for (std::size_t i = 0; buckets_ != nullptr && i < std::size_t{1} << bits_; ++i) {
    for (dependence_entry** at = &buckets_[i]; *at != nullptr;) {
      dependence_entry& entry = **at;
      forget_generation(self, entry.current, true);
      forget_generation(self, entry.before, true);
      if (entry.current == nullptr && entry.before == nullptr) {
        remove(at);
      } else {
        at = &entry.next;
      }
    }
  }
  const std::size_t twice = 2 * (entries_ + uses_);
  most_kept_ = twice > fewest_kept ? twice : fewest_kept;
}

void dependence_table::forget_all(part& self) noexcept {
  for (std::size_t i = 0; buckets_ != nullptr && i < std::size_t{1} << bits_; ++i) {
    while (buckets_[i] != nullptr) {
      forget_generation(self, buckets_[i]->current);
      forget_generation(self, buckets_[i]->before);
      remove(&buckets_[i]);
    }
  }
  if (all_memory_ != nullptr) forget(self, *all_memory_);
  all_memory_ = nullptr;
}

dependence_entry** dependence_table::place_of(const void* address) noexcept {
  const std::uint64_t mixed =
      reinterpret_cast<std::uintptr_t>(address) * std::uint64_t{0x9e3779b97f4a7c15};
  dependence_entry** place = &buckets_[mixed >> (64 - bits_)];
  while (*place != nullptr && (*place)->address != address) place = &(*place)->next;
  return place;
}

void dependence_table::remove(dependence_entry** place) noexcept {
  dependence_entry& entry = **place;
  *place = entry.next;
  entry.next = free_entries_;
  free_entries_ = &entry;
  --entries_;
}

void dependence_table::grow() noexcept {
  dependence_entry** const old = buckets_;
  const std::size_t old_count = old == nullptr ? 0 : std::size_t{1} << bits_;
  bits_ = old == nullptr ? first_bits : bits_ + 1;
  buckets_ = allocate<dependence_entry*>(std::size_t{1} << bits_);
  for (std::size_t i = 0; i < old_count; ++i) {
    for (dependence_entry* entry = old[i]; entry != nullptr;) {
      dependence_entry* const next = entry->next;
      entry->next = nullptr;
      *place_of(entry->address) = entry;
      entry = next;
    }
  }
  std::free(old);
}

}  // namespace lockstep::openmp
