// SPDX-License-Identifier: MIT
#include "memory.hpp"

namespace lockstep::model {

memory::memory() : table_(entries), locations_(most_locations) {}

void memory::reset() noexcept {
  used_ = kept_used_ = 0;
  ++execution_;
}

memory::entry& memory::entry_of(const void* address) noexcept {
  const std::uint64_t product = reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15u;
  std::size_t at = static_cast<std::size_t>(product >> 53);
  while (table_[at].execution == execution_ && table_[at].address != address) {
    at = (at + 1) % entries;
  }
  return table_[at];
}

location* memory::find(const void* address) noexcept {
  const entry& found = entry_of(address);
  return found.execution == execution_ ? &locations_[found.number] : nullptr;
}

location* memory::make(const void* address, std::uint64_t value, std::uint64_t past) {
  if (used_ == most_locations) return nullptr;
  entry_of(address) = entry{address, execution_, used_};
  location& made = locations_[used_];
  made.address = address;
  made.number = used_++;
  made.alive = true;
  made.maker = 0;
  made.made_at = 0;
  made.history.clear();
  made.history.push_back(change{value, -1, past});
  made.last_access.fill(0);
  return &made;
}

int memory::keep(const knowledge& what) {
  if (kept_used_ == kept_.size()) kept_.resize(kept_.size() * 2 + 64);
  // All of it: a location made later has the index of none of these, but was zero before.
  kept_[kept_used_] = what;
  return static_cast<int>(kept_used_++);
}

}  // namespace lockstep::model
