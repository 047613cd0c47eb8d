// SPDX-License-Identifier: MIT
// tests/model/explorer/fiber_thread.hpp -- a thread of the model: a fiber, and what it knows and waits for
#pragma once

#include <cxxabi.h>
#include <sys/mman.h>

#include <boost/context/fiber.hpp>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "knowledge.hpp"

namespace lockstep::model {

namespace context = boost::context;

/// True while a scenario's own code runs; then plain accesses count.
inline bool in_scenario = false;

/// In the explorer's own code.
class inside {
 public:
  inside() noexcept { in_scenario = false; }
  ~inside() { in_scenario = true; }
};

/// What the language keeps per system thread about exceptions in flight; here it belongs to a fiber.
struct exceptions_in_flight {
  void* caught = nullptr;
  unsigned uncaught = 0;

  void swap() noexcept {
    auto* const current = reinterpret_cast<exceptions_in_flight*>(abi::__cxa_get_globals());
    std::swap(caught, current->caught);
    std::swap(uncaught, current->uncaught);
  }
};

/// Stacks are made once and used again, so that addresses are the same in every execution.
class stack_pool {
 public:
  static constexpr std::size_t size = 128 * 1024;

  context::stack_context stack(std::size_t number) {
    while (stacks_.size() <= number) stacks_.push_back(allocate());
    return stacks_[number];
  }

 private:
  static context::stack_context allocate() {
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    context::stack_context made;
    made.size = size;
    made.sp = static_cast<char*>(memory) + size;
    return made;
  }
  std::vector<context::stack_context> stacks_;
};

struct keep_stack {
  context::stack_context given;
  context::stack_context allocate() { return given; }
  void deallocate(context::stack_context&) noexcept {}
};

enum class status { unused, ready, asleep, joining, finished };

struct fiber_thread {
  status is = status::unused;
  bool polls = false;
  bool has_paused = false;  // since its last operation: another pause makes no difference
  unsigned impatience = 0;  // pauses to come that do not wait for others
  context::fiber self, root;
  std::function<void()> body;
  exceptions_in_flight exceptions;
  knowledge now;      // what it may rely on
  knowledge pending;  // read without acquire; an acquire fence takes it over
  knowledge fenced;   // as of the last release fence
  bool has_fenced = false;
  const void* sleeps_on = nullptr;
  std::uint64_t deadline = 0;
  thread_number joins = 0, joins_before = 0;  // waits for the end of these threads
  std::uint64_t last_ran = 0;
  std::uint64_t past = 0;
  alignas(16) unsigned char own[8][16] = {};
};

}  // namespace lockstep::model
