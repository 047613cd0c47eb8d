// SPDX-License-Identifier: MIT
// lockstep/platform/fork_list.hpp -- objects that are told when they have been copied into a child (layer: platform)
//
// fork() copies the memory, but only the calling thread. An object that owns threads has a
// fork_listener as its last member; in the child, the function of each is called, while no other thread
// exists yet.
//
//   O1  The list is locked around every fork(), so that it is whole in the child.
//   O2  Where the system has no such call, in_child() is never called: see at_fork.hpp.
#ifndef LOCKSTEP_PLATFORM_FORK_LIST_HPP
#define LOCKSTEP_PLATFORM_FORK_LIST_HPP

#include <mutex>

#include "at_fork.hpp"
#include "futex.hpp"

namespace lockstep {
namespace platform {

class fork_listener {
 public:
  /// From now on, until its end, in_child(owner) is called in the child, before fork() returns there. It must not
  /// start threads nor allocate. The owner must be whole that long: another thread may fork at any time.
  fork_listener(void* owner, void (*in_child)(void*)) : owner_(owner), in_child_(in_child) {
    const std::lock_guard<std::mutex> held(list().lock);
    next_ = list().first;
    list().first = this;
  }
  ~fork_listener() {
    const std::lock_guard<std::mutex> held(list().lock);
    fork_listener** at = &list().first;
    while (*at != this) at = &(*at)->next_;
    *at = next_;
  }
  fork_listener(const fork_listener&) = delete;
  fork_listener& operator=(const fork_listener&) = delete;

 private:
  struct all {
    std::mutex lock;
    fork_listener* first = nullptr;

    all() {
      native_futex::
          prepare_for_fork();  // in_child() may wake: children are told in the order of these two
      call_at_fork(before, after, child);
    }
  };

  static all& list() {
    static all* const instance = new all;  // never destroyed: teams may be statics
    return *instance;
  }
  static void before() { list().lock.lock(); }
  static void after() { list().lock.unlock(); }
  static void child() {
    for (fork_listener* at = list().first; at != nullptr; at = at->next_) at->in_child_(at->owner_);
    list().lock.unlock();
  }

  void* owner_;
  void (*in_child_)(void*);
  fork_listener* next_ = nullptr;
};

}  // namespace platform
}  // namespace lockstep

#endif  // LOCKSTEP_PLATFORM_FORK_LIST_HPP
