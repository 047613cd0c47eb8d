// SPDX-License-Identifier: MIT
// taskgroup, and what tasks reduce in it, or in a region or a worksharing construct with reduction(task, ...).
//
// The program describes the variables. From this we make the array that the runtime knows (task_groups.hpp). In
// front of each member's copies we note which of them the member has initialised: it does so when one of its tasks asks
// for a copy. At the end of a group its maker combines the copies. At the end of a region or a worksharing construct
// the last member to come combines them into its own variables. After that the members' variables are combined in the
// usual way.
//
// Memory order (# marks the line)
//   #  access           order    pairs  why it suffices
//   1  ended.fetch_add  acq_rel  1      the last member sees the copies of all
#include "runtime/task_groups.hpp"

#include <cstdlib>

#include "ident.hpp"
#include "runtime/loops.hpp"
#include "runtime/message.hpp"
#include "runtime/ompt.hpp"
#include "runtime/shared_region.hpp"

namespace lockstep::openmp::llvm {
namespace {

using i32 = std::int32_t;
using any_function = void (*)();
using initializer = void (*)(void* copy, const void* original);
using old_initializer = void (*)(void* copy);
using finalizer = void (*)(void* copy);
using combiner = void (*)(void* into, void* copy);

/// kmp_task_red_input_t, for compilers until Clang 10.
struct old_reduction {
  void* variable;
  std::size_t size;
  old_initializer initialize;
  finalizer finalize;
  combiner combine;
  std::uint32_t flags;

  const void* original() const noexcept { return nullptr; }
  initializer function() const noexcept {
    return reinterpret_cast<initializer>(reinterpret_cast<any_function>(initialize));
  }
};
/// kmp_taskred_input_t.
struct reduction {
  void* variable;
  void* first;  ///< what copies start from, if not from the variable
  std::size_t size;
  initializer initialize;
  finalizer finalize;
  combiner combine;
  std::uint32_t flags;

  const void* original() const noexcept { return first != nullptr ? first : variable; }
  initializer function() const noexcept { return initialize; }
};

/// A reduced variable, as we keep it.
struct reduced_variable {
  void* variable;
  const void* original;  ///< null: an old_initializer
  initializer initialize;
  finalizer finalize;
  combiner combine;
  std::size_t at;     ///< the place of its copy among a member's copies
  std::size_t index;  ///< of the byte that tells whether the member has initialised it
};

/// The array of words (task_groups.hpp), and what it refers to.
struct reductions {
  std::size_t count;
  std::uintptr_t* words;
  reduced_variable* variables;

  char* copies_of(unsigned member) const noexcept {
    return reinterpret_cast<char*>(words[2] + member * words[1]);
  }
};
constexpr std::size_t words_before = 7, words_of_variable = 3;

/// Lies before each member's copies. That of member 0 also counts the members that have come to the end.
struct copies_front {
  detail::atomic<std::uint32_t> ended;
  bool is_initialized[1];  ///< and so on
};

template <class Input>
reductions& describe(int number, const Input* inputs) noexcept {
  const auto count = static_cast<std::size_t>(number);
  const std::size_t word_count = words_before + count * words_of_variable;
  const std::size_t size =
      sizeof(reductions) + count * sizeof(reduced_variable) + word_count * sizeof(std::uintptr_t);
  reductions* const made = static_cast<reductions*>(std::malloc(size));
  if (made == nullptr) fail("Out of memory allocating %zu bytes", size);
  made->count = count;
  made->variables = reinterpret_cast<reduced_variable*>(made + 1);
  made->words = reinterpret_cast<std::uintptr_t*>(made->variables + count);
  std::size_t at = sizeof(copies_front) + count;
  for (std::size_t i = 0; i < count; ++i) {
    const Input& input = inputs[i];
    at = round_up(at, input.size < 64 ? 16 : 64);
    made->variables[i] = {
        input.variable, input.original(), input.function(), input.finalize, input.combine, at, i};
    std::uintptr_t* const words_of = made->words + words_before + i * words_of_variable;
    words_of[0] = reinterpret_cast<std::uintptr_t>(input.variable);
    words_of[1] = at;
    words_of[2] = reinterpret_cast<std::uintptr_t>(&made->variables[i]);
    at += input.size;
  }
  made->words[0] = count;
  made->words[1] = round_up(at, 64);
  made->words[2] = 64;
  made->words[4] = reinterpret_cast<std::uintptr_t>(made);
  return *made;
}

void combine(const reductions& of, unsigned members) noexcept {
  for (unsigned member = 0; member < members; ++member) {
    char* const of_member = of.copies_of(member);
    const copies_front& front = *reinterpret_cast<copies_front*>(of_member);
    for (std::size_t i = 0; i < of.count; ++i) {
      if (!front.is_initialized[i]) continue;
      const reduced_variable& one = of.variables[i];
      one.combine(one.variable, of_member + one.at);
      if (one.finalize != nullptr) one.finalize(of_member + one.at);
    }
  }
}

/// In a region of one, tasks change the variables themselves.
template <class Input>
void* begin_in_group(part& self, int count, const Input* inputs) noexcept {
  task_group* const group = self.running->group;
  if (self.is_alone() || group == nullptr) return group;
  reductions& made = describe(count, inputs);
  make_copies(made.words, self.size);
  group->reductions = made.words;
  group->describes_copies = true;
  return group;
}

template <class Input>
void* begin_in_construct(part& self, int count, const Input* inputs) noexcept {
  if (self.is_alone()) return &begin_taskgroup(self);
  reductions& made = describe(count, inputs);
  // A construct with a record and no iterations.
  end_loop(self);
  begin_loop_with(self, loop_spec::of(0L, 0L, 1L).with(schedule_kind::fixed, true, 0), made.words,
                  nullptr);
  end_loop(self);
  self.running->group->describes_copies = true;
  return self.running->group;
}

}  // namespace

OPENMP_API void __kmpc_taskgroup(ident*, i32) { begin_taskgroup(entered()); }
OPENMP_API void __kmpc_end_taskgroup(ident*, i32) {
  part& self = entered();
  const task_group* const group = self.running->group;
  if (group == nullptr) return;
  reductions* const of =
      group->describes_copies ? reinterpret_cast<reductions*>(group->reductions[4]) : nullptr;
  kept_memory* const kept = group->kept;
  end_taskgroup(self);
  if (of == nullptr) return;
  if (kept == nullptr) {
    combine(*of, self.size);
    free_copies(of->words);
  } else {
    copies_front& front = *reinterpret_cast<copies_front*>(of->copies_of(0));
    if (front.ended.fetch_add(1, detail::memory_order_acq_rel) + 1 == self.size) {  // 1
      combine(*of, self.size);
      self.shared->tasks.free(*kept);
    }
  }
  std::free(of);
}

OPENMP_API void* __kmpc_task_reduction_init(int, int count, const old_reduction* of) {
  return begin_in_group(entered(), count, of);
}
OPENMP_API void* __kmpc_taskred_init(int, int count, const reduction* of) {
  return begin_in_group(entered(), count, of);
}

/// Called by all members, first of all in the region or in a worksharing construct.
OPENMP_API void* __kmpc_task_reduction_modifier_init(ident*, int, int, int count,
                                                     const old_reduction* of) {
  return begin_in_construct(entered(), count, of);
}
OPENMP_API void* __kmpc_taskred_modifier_init(ident*, int, int, int count, const reduction* of) {
  return begin_in_construct(entered(), count, of);
}
OPENMP_API void __kmpc_task_reduction_modifier_fini(ident* at, int thread, int) {
  __kmpc_end_taskgroup(at, thread);
}

/// The calling member's copy of a variable. `address`: of the variable, or of any of its copies.
OPENMP_API void* __kmpc_task_reduction_get_th_data(int, void*, void* address) {
  const part& self = entered();
  if (self.is_alone()) return address;
  const found_copy found = copy_of(self, reinterpret_cast<std::uintptr_t>(address), true);
  const reduced_variable& one = *reinterpret_cast<const reduced_variable*>(found.description);
  void* const copy = reinterpret_cast<void*>(found.own);
  bool& is_initialized =
      reinterpret_cast<copies_front*>(found.own - one.at)->is_initialized[one.index];
  if (!is_initialized) {
    is_initialized = true;
    if (one.initialize != nullptr) {
      if (one.original != nullptr) {
        one.initialize(copy, one.original);
      } else {
        reinterpret_cast<old_initializer>(reinterpret_cast<any_function>(one.initialize))(copy);
      }
    }
  }
  return copy;
}

}  // namespace lockstep::openmp::llvm
