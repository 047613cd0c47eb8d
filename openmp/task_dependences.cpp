// SPDX-License-Identifier: MIT
// openmp/task_dependences.cpp -- depend(): see task_dependences.hpp
#include "task_dependences.hpp"

#include <cstdlib>

#include "message.hpp"

namespace lockstep::openmp {

struct dependence_entry {
  const void* address;
  dependence_entry* next;  ///< in its bucket, or free
  dependence_use* current;
  dependence_use* before;
  dependence_kind kind;  ///< of the current generation
};

namespace {

/// What GCC writes into omp_depend_t.
enum : std::uintptr_t {
  object_in = 1,
  object_out = 2,
  object_inout = 3,
  object_mutexinoutset = 4,
  object_inoutset = 5
};

struct dependence_array {
  void** addresses;
  std::size_t count, outs, ins_end;

  explicit dependence_array(void** depend) noexcept {
    const auto number = [depend](int i) { return reinterpret_cast<std::size_t>(depend[i]); };
    if (number(0) != 0) {
      count = ins_end = number(0);
      outs = number(1);
      addresses = depend + 2;
    } else {
      count = number(1);
      outs = number(2) + number(3);  // DEPEND-3
      ins_end = outs + number(4);
      addresses = depend + 5;
    }
  }
  template <class Function>
  void for_each(const Function& function) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (i < outs) {
        function(i, addresses[i], dependence_kind::out);
      } else if (i < ins_end) {
        function(i, addresses[i], dependence_kind::in);
      } else {
        void** const object = static_cast<void**>(addresses[i]);
        function(i, object[0], kind_of(reinterpret_cast<std::uintptr_t>(object[1])));
      }
    }
  }

 private:
  static dependence_kind kind_of(std::uintptr_t number) noexcept {
    switch (number) {
      case object_in: return dependence_kind::in;
      case object_out:
      case object_inout:
      case object_mutexinoutset: return dependence_kind::out;
      case object_inoutset: return dependence_kind::inoutset;
      default:
        fail("unknown kind of dependence %zu in an omp_depend_t", static_cast<std::size_t>(number));
    }
  }
};

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

void insert(dependence_use*& first, dependence_use& use) noexcept {
  use.next = first;
  use.at = &first;
  if (first != nullptr) first->at = &use.next;
  first = &use;
}

void unlink(dependence_use& use) noexcept {
  *use.at = use.next;
  if (use.next != nullptr) use.next->at = use.at;
}

/// The current generation becomes the one before. What was before it has ended, or its tasks wait for it.
void begin_generation(dependence_entry& entry) noexcept {
  for (dependence_use* use = entry.before; use != nullptr; use = use->next) use->entry = nullptr;
  entry.before = entry.current;
  if (entry.before != nullptr) entry.before->at = &entry.before;
  entry.current = nullptr;
}

}  // namespace

std::size_t count_dependences(void** depend) noexcept { return dependence_array(depend).count; }

dependence_table::~dependence_table() {
  for (std::size_t i = 0; buckets_ != nullptr && i < std::size_t{1} << bits_; ++i)
    free_chain(buckets_[i]);
  free_chain(free_entries_);
  free_chain(free_edges_);
  std::free(buckets_);
}

void dependence_table::add(explicit_task& one, void** depend) noexcept {
  dependence_array(depend).for_each([&](std::size_t i, void* address, dependence_kind kind) {
    dependence_use& use = one.uses[i];
    use.task = &one;
    use.entry = nullptr;
    if (address == nullptr && kind == dependence_kind::out) {
      name_all_memory(one, true);
    } else {
      name(one, &use, address, kind);
    }
  });
}

void dependence_table::add_wait(explicit_task& one, void** depend) noexcept {
  dependence_array(depend).for_each([&](std::size_t, void* address, dependence_kind kind) {
    if (address == nullptr && kind == dependence_kind::out) {
      name_all_memory(one, false);
    } else {
      name(one, nullptr, address, kind);
    }
  });
}

void dependence_table::remove(explicit_task& one) noexcept {
  for (std::size_t i = 0; i < one.use_count; ++i) {
    dependence_use& use = one.uses[i];
    if (use.entry == nullptr) continue;
    unlink(use);
    forget_if_unused(*use.entry);
  }
  if (all_memory_ == &one) all_memory_ = nullptr;
}

void dependence_table::wait_for(explicit_task& one, explicit_task& predecessor) noexcept {
  if (&one == &predecessor) return;
  // What a task names twice in a row makes no second edge.
  if (predecessor.successors != nullptr && predecessor.successors->successor == &one) return;
  dependence_edge* edge = free_edges_;
  if (edge != nullptr) {
    free_edges_ = edge->next;
  } else {
    edge = allocate<dependence_edge>();
  }
  edge->successor = &one;
  edge->next = predecessor.successors;
  predecessor.successors = edge;
  ++one.blockers;
}

void dependence_table::wait_for_all(explicit_task& one, const dependence_use* generation) noexcept {
  for (; generation != nullptr; generation = generation->next) wait_for(one, *generation->task);
}

void dependence_table::name(explicit_task& one, dependence_use* use, void* address,
                            dependence_kind kind) noexcept {
  if (all_memory_ != nullptr) wait_for(one, *all_memory_);
  if (use != nullptr && entries_ >= (buckets_ == nullptr ? 0 : std::size_t{1} << bits_)) grow();
  if (buckets_ == nullptr) return;
  dependence_entry** const place = place_of(address);
  dependence_entry* entry = *place;
  const bool joins = entry != nullptr && is_shared(kind) && entry->kind == kind;
  if (entry != nullptr) wait_for_all(one, joins ? entry->before : entry->current);
  if (use == nullptr) return;
  if (entry == nullptr) {
    entry = free_entries_;
    if (entry != nullptr) {
      free_entries_ = entry->next;
    } else {
      entry = allocate<dependence_entry>();
    }
    *entry = {address, nullptr, nullptr, nullptr, kind};
    *place = entry;
    ++entries_;
  } else if (!joins) {
    // The same task may have named the address before, in this very array: then what it named first stays, if that
    // was to write; else it now writes as well.
    dependence_use* const first = entry->current;
    if (first != nullptr && first->task == &one) {
      if (!is_shared(entry->kind)) return;
      unlink(*first);
      first->entry = nullptr;
      kind = dependence_kind::out;
    }
    if (entry->current != nullptr) begin_generation(*entry);
    entry->kind = kind;
  } else if (entry->current != nullptr && entry->current->task == &one) {
    return;
  }
  use->entry = entry;
  insert(entry->current, *use);
}

void dependence_table::name_all_memory(explicit_task& one, bool is_task) noexcept {
  if (all_memory_ != nullptr) wait_for(one, *all_memory_);
  for (std::size_t i = 0; buckets_ != nullptr && i < std::size_t{1} << bits_; ++i) {
    for (dependence_entry* entry = buckets_[i]; entry != nullptr;) {
      dependence_entry* const next = entry->next;
      wait_for_all(one, entry->current);
      if (is_task) {
        // All later ones wait for this task, and so for those.
        for (dependence_use* use = entry->current; use != nullptr; use = use->next)
          use->entry = nullptr;
        for (dependence_use* use = entry->before; use != nullptr; use = use->next)
          use->entry = nullptr;
        entry->next = free_entries_;
        free_entries_ = entry;
        --entries_;
      }
      entry = next;
    }
    if (is_task) buckets_[i] = nullptr;
  }
  if (is_task) all_memory_ = &one;
}

dependence_entry** dependence_table::place_of(const void* address) noexcept {
  const std::uint64_t mixed =
      reinterpret_cast<std::uintptr_t>(address) * std::uint64_t{0x9e3779b97f4a7c15};
  dependence_entry** place = &buckets_[mixed >> (64 - bits_)];
  while (*place != nullptr && (*place)->address != address) place = &(*place)->next;
  return place;
}

void dependence_table::forget_if_unused(dependence_entry& entry) noexcept {
  if (entry.current != nullptr) return;  // DEPEND-2
  *place_of(entry.address) = entry.next;
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
