// SPDX-License-Identifier: MIT
// src/wait/misuse_registry.hpp -- who owns and waits on objects, where misuse is diagnosed (layer: wait)
#ifndef LOCKSTEP_SRC_WAIT_MISUSE_REGISTRY_HPP
#define LOCKSTEP_SRC_WAIT_MISUSE_REGISTRY_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lockstep/detail/platform/system.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include "../platform/fork.hpp"
#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace misuse {

/// The calling thread waits on `object` while this lives.
class waiting_scope {
 public:
  explicit waiting_scope(const void* object) : object_(object) { waiting(object_); }
  ~waiting_scope() {
    if (diagnosed) let_go(object_, detail::number_of_this_thread());
  }
  waiting_scope(const waiting_scope&) = delete;
  waiting_scope& operator=(const waiting_scope&) = delete;

 private:
  const void* object_;
};

#if LOCKSTEP_DIAGNOSE_MISUSE

/// Which thread holds or waits on which object. One table for the process.
class registry {
 public:
  enum class role { owner, reader, waiter, plan };
  static constexpr std::uint64_t any_thread = 0;

  /// ATFORK-3.
  static void watch_forks() noexcept { detail::watch_forks<around_fork>(); }

  static void add(const void* object, role as) {
    bucket& home = bucket_of(object);
    const holding<system_mutex> lock(home.lock);
    if (home.entries == nullptr) home.entries = new list;
    entries_of(home).add(entry{object, as, detail::label_of_this_thread()});
  }

  /// Takes one entry of that thread out; false if there is none.
  static bool remove(const void* object, role as,
                     std::uint64_t thread = detail::number_of_this_thread()) {
    bucket& home = bucket_of(object);
    const holding<system_mutex> lock(home.lock);
    if (home.entries == nullptr) return false;
    list& entries = entries_of(home);
    for (std::size_t i = 0; i < entries.size; ++i) {
      const entry& each = entries.data[i];
      if (each.object != object || each.as != as) continue;
      if (thread != any_thread && each.who.number != thread) continue;
      entries.remove(i);
      return true;
    }
    return false;
  }

  /// Any thread in that role; its number is 0 if there is none.
  static detail::thread_label find(const void* object, role as) {
    bucket& home = bucket_of(object);
    const holding<system_mutex> lock(home.lock);
    if (home.entries == nullptr) return detail::thread_label();
    const list& entries = entries_of(home);
    for (std::size_t i = 0; i < entries.size; ++i) {
      const entry& each = entries.data[i];
      if (each.object == object && each.as == as) return each.who;
    }
    return detail::thread_label();
  }

 private:
  struct entry {
    const void* object;
    role as;
    detail::thread_label who;
  };
  /// Not a std::vector: modules with different C++ libraries share it.
  struct list {
    entry* data = nullptr;
    std::size_t size = 0, capacity = 0;

    void add(const entry& one) {
      if (size == capacity) {
        const std::size_t room = size < 4 ? 4 : 2 * size;
        entry* const made = static_cast<entry*>(::operator new(room * sizeof(entry)));
        if (size > 0) std::memcpy(made, data, size * sizeof(entry));
        ::operator delete(data);
        data = made;
        capacity = room;
      }
      data[size++] = one;
    }
    void remove(std::size_t at) noexcept { data[at] = data[--size]; }
  };
  using bucket = detail::misuse_bucket;

  static list& entries_of(bucket& home) noexcept { return *static_cast<list*>(home.entries); }

  // One table for the process, never destroyed: static objects may be used until the very end.
  static bucket& bucket_of(const void* object) {
    watch_forks();
    const std::size_t place = reinterpret_cast<std::uintptr_t>(object) / 8;
    return detail::process().misuse[place % detail::process_state::misuse_size];
  }

  /// The table is whole in the child, and tells of the thread that is left only.
  struct around_fork : guarded_by_section {
    static fork_section& section() { return detail::process().misuse_forks; }
    static void lock() {
      for (bucket& each : detail::process().misuse) each.lock.lock();
    }
    static void unlock() {
      for (bucket& each : detail::process().misuse) each.lock.unlock();
    }
    static void in_child() {
      for (bucket& each : detail::process().misuse) {
        if (each.entries != nullptr) forget_others(entries_of(each));
        each.lock.unlock();
      }
    }
    static void forget_others(list& entries) {
      for (std::size_t at = entries.size; at-- > 0;) {
        const entry& each = entries.data[at];
        if (each.as == role::plan || each.who.number == detail::number_of_this_thread()) continue;
        entries.remove(at);
      }
    }
  };
};

#endif

}  // namespace misuse
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_MISUSE_REGISTRY_HPP
