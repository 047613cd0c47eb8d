// SPDX-License-Identifier: MIT
// lockstep/detail/platform/fork_list.hpp -- objects that are told when they have been copied into a child (layer: platform)
//
// fork() copies the memory, but only the calling thread. An object that owns threads has a
// fork_listener as its last member; in the child, the function of each is called, while no other thread
// exists yet.
//
//   O1  The list is locked around every fork(), so that it is whole in the child.
//   O2  The list is one for the process.
//   O3  Where the system has no such call, in_child() is never called: see at_fork.hpp.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FORK_LIST_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FORK_LIST_HPP

#include <mutex>

#include "at_fork.hpp"
#include "futex.hpp"
#include "process_state.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class fork_listener {
 public:
  /// From now on, until its end, in_child(owner) is called in the child, before fork() returns there. It must not
  /// start threads nor allocate. The owner must be whole that long: another thread may fork at any time.
  fork_listener(void* owner, void (*in_child)(void*)) : owner_(owner), in_child_(in_child) {
    // in_child() may wake: the tables that this needs are put right before.
    native_futex::prepare_for_fork();
    watch_forks<all>();
    const std::lock_guard<std::mutex> held(process().fork_listeners.lock());
    next_ = first();
    if (next_ != nullptr) next_->previous_ = this;
    process().first_fork_listener = this;
  }
  ~fork_listener() {
    const std::lock_guard<std::mutex> held(process().fork_listeners.lock());
    if (next_ != nullptr) next_->previous_ = previous_;
    if (previous_ != nullptr) {
      previous_->next_ = next_;
    } else {
      process().first_fork_listener = next_;
    }
  }
  fork_listener(const fork_listener&) = delete;
  fork_listener& operator=(const fork_listener&) = delete;

 private:
  struct all {
    static void before() { process().fork_listeners.enter(); }
    static void after() {
      fork_section& section = process().fork_listeners;
      if (section.is_last()) section.leave();
    }
    static void child() {
      fork_section& section = process().fork_listeners;
      if (!section.is_last()) return;
      for (fork_listener* at = first(); at != nullptr; at = at->next_) at->in_child_(at->owner_);
      section.leave();
    }
  };

  static fork_listener* first() noexcept {
    return static_cast<fork_listener*>(process().first_fork_listener);
  }

  void* owner_;
  void (*in_child_)(void*);
  fork_listener* next_ = nullptr;
  fork_listener* previous_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_FORK_LIST_HPP
