// SPDX-License-Identifier: MIT
// parallel and teams; what a thread asks about itself.
//
// The compiler makes a region a function, the `microtask`. Its arguments are the thread's number in the process, its
// number in the region, and a word for each variable. The compiler passes the words after the arguments of the call
// that begins the region. Here they are copied to the stack once, and members call the function with them.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

#include "ident.hpp"
#include "runtime/message.hpp"
#include "runtime/ompt.hpp"
#include "runtime/parallel.hpp"
#include "runtime/pool.hpp"
#include "runtime/root.hpp"

namespace lockstep::openmp::llvm {
namespace {

using microtask = void (*)(std::int32_t*, std::int32_t*, ...);

/// A region's function, and how many words follow.
struct region_call {
  microtask function;
  std::size_t count;

  void** words() noexcept { return reinterpret_cast<void**>(this + 1); }
};

template <std::size_t>
using word = void*;

template <std::size_t... Index>
void call_with(microtask function, std::int32_t* id, std::int32_t* rank, void* const* words,
               std::index_sequence<Index...>) {
  reinterpret_cast<void (*)(std::int32_t*, std::int32_t*, word<Index>...)>(function)(
      id, rank, words[Index]...);
}
template <std::size_t Count>
void call_with(microtask function, std::int32_t* id, std::int32_t* rank, void* const* words) {
  call_with(function, id, rank, words, std::make_index_sequence<Count>());
}

/// How to call a function that takes so many words, or fewer: words too many are harmless, because only the caller
/// removes them, as C does on all our systems.
struct way_to_call {
  std::size_t count;
  void (*call)(microtask, std::int32_t*, std::int32_t*, void* const*);
};
template <std::size_t Count>
constexpr way_to_call passing = {Count, call_with<Count>};
constexpr way_to_call ways[] = {passing<0>,  passing<1>,  passing<2>,   passing<3>,  passing<4>,
                                passing<5>,  passing<6>,  passing<7>,   passing<8>,  passing<16>,
                                passing<32>, passing<64>, passing<128>, passing<256>};
constexpr std::size_t exact = 9;  ///< the first ways: as many words as their places say

const way_to_call& way_for(std::size_t count) noexcept {
  if (__builtin_expect(count < exact, 1)) return ways[count];
  for (const way_to_call& each : ways) {
    if (count <= each.count) return each;
  }
  fail("A region with %zu variables: more than %zu", count, std::end(ways)[-1].count);
}

[[gnu::always_inline]] inline void call_with_words(part& self, microtask function,
                                                   std::size_t count, void* const* words) {
  std::int32_t id = thread_id(), rank = static_cast<std::int32_t>(self.rank);
  way_for(count).call(function, &id, &rank, words);
}
/// With a tool. The program's code begins above this frame of the stack.
[[gnu::noinline, gnu::cold]] void call_told(part& self, microtask function, std::size_t count,
                                            void* const* words) {
  self.tool->at.exit.pointer = __builtin_frame_address(0);
  call_with_words(self, function, count, words);
  __asm__ volatile("" ::: "memory");  // not a jump, which would leave this frame
}

outlined_function name_of(microtask function) noexcept {
  return reinterpret_cast<outlined_function>(reinterpret_cast<std::uintptr_t>(function));
}

void call(part& self, region_call& of) {
  if (has_tool()) return call_told(self, of.function, of.count, of.words());
  call_with_words(self, of.function, of.count, of.words());
}

/// What members of a region run. The words came with the call, or lie in memory of the thread that has begun the
/// region.
template <std::size_t Count>
void run_with_few(part& self, const member_call& call) {
  void* const words[] = {call.data, const_cast<void*>(call.more)};
  const microtask function =
      reinterpret_cast<microtask>(reinterpret_cast<std::uintptr_t>(call.function));
  if (has_tool()) return call_told(self, function, Count, words);
  std::int32_t id = thread_id(), rank = static_cast<std::int32_t>(self.rank);
  call_with<Count>(function, &id, &rank, words);
}
void run_with_words(part& self, const member_call& call_of_member) {
  call(self, *static_cast<region_call*>(call_of_member.data));
}

/// What each team runs in its turn. Its initial thread is in no region.
void run_team(void* data) { call(here(), *static_cast<region_call*>(data)); }

}  // namespace
}  // namespace lockstep::openmp::llvm

namespace lockstep::openmp {

/// num_threads(strict: asked, inside) severity() message().
struct special_request {
  int inside = 0;  ///< for regions inside; 0: not given
  bool is_strict = false, is_fatal = false;
  const char* message = nullptr;
};

}  // namespace lockstep::openmp

namespace lockstep::openmp::llvm {
namespace {

special_request& ask_specially(part& self) noexcept {
  if (self.asked_specially == nullptr) self.asked_specially = new (std::nothrow) special_request;
  if (self.asked_specially == nullptr) fail("Out of memory");
  return *self.asked_specially;
}

[[gnu::noinline, gnu::cold]] void take_special(part& self, region_request& request, unsigned size) {
  special_request* const asked = std::exchange(self.asked_specially, nullptr);
  request.threads_inside = asked->inside;
  if (asked->is_strict && size < request.asked) {
    std::fprintf(stderr, "OMP: %s: num_threads(strict: %u) has %u threads%s%s\n",
                 asked->is_fatal ? "Error" : "Warning", request.asked, size,
                 asked->message != nullptr ? ": " : "",
                 asked->message != nullptr ? asked->message : "");
    if (asked->is_fatal) std::abort();
  }
  delete asked;
}

/// What the program has asked for the region that comes now.
region_request take_asked(part& self) noexcept {
  region_request request;
  request.bind = self.asked_bind;
  request.asked = self.asked_threads;
  // Written only if something was asked: members of the region around read this line.
  if (request.asked != 0) self.asked_threads = 0;
  if (request.bind != proc_bind::no) self.asked_bind = proc_bind::no;
  return request;
}

void fork(part& self, microtask function, void* data, region_request& request) noexcept {
  if (__builtin_expect(self.asked_specially == nullptr, 1))
    return run_region(self, name_of(function), data, request);
  const unsigned size = resolve_threads(self, request.asked);
  take_special(self, request, size);
  run_region(self, name_of(function), data, size, request);
}
/// Passes words with the call if they fit. Otherwise members read them in the caller's memory.
void fork_with_few(part& self, microtask function, std::size_t count, void* first,
                   void* second) noexcept {
  static constexpr part_body bodies[] = {run_with_few<0>, run_with_few<1>, run_with_few<2>};
  region_request request = take_asked(self);
  request.body = bodies[count];
  request.more = second;
  fork(self, function, first, request);
}
[[gnu::noinline]] void fork_with_words(part& self, region_call& of) noexcept {
  region_request request = take_asked(self);
  request.body = run_with_words;
  fork(self, of.function, &of, request);
}

/// Makes the call in `memory`, which has size_for(count) bytes.
region_call& take_words(void* memory, microtask function, std::size_t count,
                        std::va_list arguments) noexcept {
  region_call& taken = *::new (memory) region_call{function, count};
  for (std::size_t i = 0; i < count; ++i) taken.words()[i] = va_arg(arguments, void*);
  for (std::size_t i = count; i < way_for(count).count; ++i) taken.words()[i] = nullptr;
  return taken;
}
std::size_t size_for(std::size_t count) noexcept {
  return sizeof(region_call) + way_for(count).count * sizeof(void*);
}
/// On the stack of a function whose words follow its argument `function`. If possible the words lie on one line,
/// because all members read them.
#define TAKE_WORDS(taken)                                                             \
  void* const memory = __builtin_alloca_with_align(size_for(as_size(count)), 64 * 8); \
  std::va_list arguments;                                                             \
  va_start(arguments, function);                                                      \
  region_call& taken = take_words(memory, function, as_size(count), arguments);       \
  va_end(arguments)

constexpr std::size_t as_size(std::int32_t count) noexcept {
  return static_cast<std::size_t>(count);
}

/// The part of a region of one, which the program runs itself between two calls.
struct kept_part : lone_part {
  using lone_part::lone_part;

  ompt::region_scope* told = nullptr;  ///< null if there is no tool
};

void begin_alone(part& self) noexcept {
  region_request request = take_asked(self);
  if (self.asked_specially != nullptr) take_special(self, request, 1);
  ompt::region_scope* told = nullptr;
  if (has_tool()) {
    told = new (std::nothrow)
        ompt::region_scope(self, 1, 1, ompt::parallel_team | ompt::invoker_program);
  }
  // It needs a function, because it is in a region.
  kept_part* const made = new (std::nothrow) kept_part(self, run_team, request);
  if (made == nullptr) fail("Out of memory");
  made->told = told;
  if (told != nullptr) ompt::begin_part(*made, told->info, told->info.primary);
}
void end_alone(part& self) noexcept {
  kept_part* const ending = static_cast<kept_part*>(&self);
  ompt::region_scope* const told = ending->told;
  if (told != nullptr) ompt::arrive_at_end(self);
  delete ending;
  delete told;
}

}  // namespace

OPENMP_API std::int32_t __kmpc_global_thread_num(ident*) {
  note_call();
  return thread_id();
}
OPENMP_API std::int32_t __kmpc_global_num_threads(ident*) {
  return static_cast<std::int32_t>(here().size);
}
OPENMP_API std::int32_t __kmpc_bound_thread_num(ident*) {
  return static_cast<std::int32_t>(here().rank);
}
OPENMP_API std::int32_t __kmpc_bound_num_threads(ident*) {
  return static_cast<std::int32_t>(here().size);
}
OPENMP_API std::int32_t __kmpc_in_parallel(ident*) { return here().active_level > 0 ? 1 : 0; }

// Programs tell when they begin and end. We need neither.
OPENMP_API void __kmpc_begin(ident*, std::int32_t) {}
OPENMP_API void __kmpc_end(ident*) {}
OPENMP_API std::int32_t __kmpc_ok_to_fork(ident*) { return 1; }

// --- parallel ---

OPENMP_API void __kmpc_push_num_threads(ident*, std::int32_t, std::int32_t threads) {
  here().asked_threads = threads > 0 ? static_cast<std::uint32_t>(threads) : 0;
}
OPENMP_API void __kmpc_push_num_threads_strict(ident* at, std::int32_t id, std::int32_t threads,
                                               int severity, const char* message) {
  __kmpc_push_num_threads(at, id, threads);
  special_request& asked = ask_specially(here());
  asked.is_strict = true;
  asked.is_fatal = severity == severity_fatal;
  asked.message = message;
}
/// The numbers are for the region and for regions inside it. Deeper levels have the number of the last one.
OPENMP_API void __kmpc_push_num_threads_list(ident* at, std::int32_t id, std::uint32_t length,
                                             const std::int32_t* threads) {
  __kmpc_push_num_threads(at, id, threads[0]);
  if (length > 1) ask_specially(here()).inside = threads[1];
}
OPENMP_API void __kmpc_push_num_threads_list_strict(ident* at, std::int32_t id,
                                                    std::uint32_t length,
                                                    const std::int32_t* threads, int severity,
                                                    const char* message) {
  __kmpc_push_num_threads_list(at, id, length, threads);
  __kmpc_push_num_threads_strict(at, id, threads[0], severity, message);
}
OPENMP_API void __kmpc_pop_num_threads(ident*, std::int32_t) {}
OPENMP_API void __kmpc_push_proc_bind(ident*, std::int32_t, int bind) {
  here().asked_bind = static_cast<proc_bind>(bind);
}

OPENMP_API void __kmpc_fork_call(ident*, std::int32_t count, microtask function, ...) {
  part& self = entered();
  if (count <= 2) {
    std::va_list arguments;
    va_start(arguments, function);
    void* const first = count > 0 ? va_arg(arguments, void*) : nullptr;
    void* const second = count > 1 ? va_arg(arguments, void*) : nullptr;
    va_end(arguments);
    return fork_with_few(self, function, as_size(count), first, second);
  }
  TAKE_WORDS(call);
  fork_with_words(self, call);
}

OPENMP_API void __kmpc_serialized_parallel(ident*, std::int32_t) {
  begin_alone(entered());
  if (has_tool()) ompt::set_exit_of_program(here());
}
OPENMP_API void __kmpc_end_serialized_parallel(ident*, std::int32_t) { end_alone(entered()); }

/// The call passes one word for all variables, or none.
OPENMP_API void __kmpc_fork_call_if(ident*, std::int32_t count, microtask function,
                                    std::int32_t condition, void* word) {
  part& self = entered();
  const std::size_t words = word != nullptr && count > 0 ? 1 : 0;
  if (condition != 0) return fork_with_few(self, function, words, word, nullptr);
  begin_alone(self);
  call_with_words(here(), function, words, &word);
  end_alone(here());
}

// --- teams ---

OPENMP_API void __kmpc_push_num_teams_51(ident*, std::int32_t, std::int32_t least,
                                         std::int32_t most, std::int32_t thread_limit) {
  root_part& root = root_of(here());
  root.asked_teams = static_cast<unsigned>(most > 0 ? most : least > 0 ? least : 0);
  root.asked_thread_limit = thread_limit > 0 ? thread_limit : 0;
}
OPENMP_API void __kmpc_push_num_teams(ident* at, std::int32_t id, std::int32_t teams,
                                      std::int32_t thread_limit) {
  __kmpc_push_num_teams_51(at, id, teams, teams, thread_limit);
}
OPENMP_API void __kmpc_set_thread_limit(ident*, std::int32_t, std::int32_t thread_limit) {
  if (thread_limit > 0) here().running->own_variables().thread_limit = thread_limit;
}
OPENMP_API void __kmpc_fork_teams(ident*, std::int32_t count, microtask function, ...) {
  TAKE_WORDS(call);
  part& self = entered();
  root_part& root = root_of(self);
  const unsigned teams = std::exchange(root.asked_teams, 0u);
  run_teams(self, run_team, &call, teams, std::exchange(root.asked_thread_limit, 0));
}

}  // namespace lockstep::openmp::llvm
