// SPDX-License-Identifier: MIT
// tests/platform/bochs/line_waits.cpp -- MONITORX and MWAITX on two processors of an emulated PC
//
// What platform.processor_wait does with threads, without a system: Bochs executes these instructions, QEMU does not.
// Bochs 2.7 never ends a wait by its time. So a change that is lost is a hang, and LINE-2 is not shown here.
// Prints a line for each check to the port that Bochs shows, and switches the PC off.
#include <lockstep/detail/platform/line_instructions.hpp>

#include <cstdint>

namespace {

using lockstep::detail::line_instructions;
using lockstep::detail::line_wait;
using lockstep::detail::tick_clock;

constexpr std::uint32_t rounds = 2000;
constexpr std::uint64_t long_time = 2000000000;  // ticks

void out(std::uint16_t port, char byte) {
  __asm__ __volatile__("outb %0, %1" : : "a"(byte), "Nd"(port));
}
void print(const char* text) {
  for (; *text != 0; ++text) out(0xe9, *text);
}
void print(std::uint64_t number) {
  if (number >= 10) print(number / 10);
  out(0xe9, static_cast<char>('0' + number % 10));
}
int failures = 0;
void check(const char* what, bool holds, std::uint64_t figure) {
  print(holds ? "ok      " : "FAILED  ");
  print(what);
  print(": ");
  print(figure);
  print("\n");
  failures += !holds;
}

struct alignas(128) line {
  std::uint32_t word, plain;
} lines[2];

std::uint32_t look(const line& at) { return __atomic_load_n(&at.word, __ATOMIC_ACQUIRE); }
void publish(line& at, std::uint32_t value) {
  at.plain = value;
  __atomic_store_n(&at.word, value, __ATOMIC_RELEASE);
}

/// As the wait engine: arm, look, wait, look. Returns how often it waited.
std::uint64_t await(const line& at, std::uint32_t value, std::uint64_t ticks) {
  std::uint64_t waits = 0;
  while (look(at) < value) {
    line_instructions::arm(line_wait::mwaitx, &at.word);
    if (look(at) >= value) break;
    line_instructions::wait(line_wait::mwaitx, ticks);
    ++waits;
  }
  return waits;
}

template <class Function>
std::uint64_t ticks_of(Function&& f) {
  const std::uint64_t start = tick_clock::now();
  f();
  return tick_clock::now() - start;
}

void pause_for(std::uint64_t ticks) {
  const std::uint64_t start = tick_clock::now();
  while (tick_clock::now() - start < ticks) lockstep::detail::cpu_relax();
}

void start_second_processor() {
  volatile std::uint32_t* const command = reinterpret_cast<volatile std::uint32_t*>(0xfee00300);
  *command = 0xc4500;  // INIT to all others
  pause_for(200000);
  *command = 0xc4608;  // begin at 0x8000
  pause_for(200000);
}

void first_processor() {
  const line_wait kind = line_instructions::offered();
  check("offered() says MWAITX", kind == line_wait::mwaitx, static_cast<std::uint64_t>(kind));
  if (kind != line_wait::mwaitx) return;
  std::uint64_t ticks = ticks_of([] { line_instructions::pass(line_wait::mwaitx); });
  check("a wait with nothing armed is over at once, ticks", ticks < 1000, ticks);
  start_second_processor();
  std::uint64_t waits = 0, wrong = 0;
  ticks = ticks_of([&] {
    for (std::uint32_t i = 1; i <= rounds; ++i) {
      publish(lines[0], i);
      waits += await(lines[1], i, long_time);
      wrong += lines[1].plain != i;
    }
  });
  check("LINE-1 no change was lost in 2000 rounds of two processors, ticks", ticks < long_time,
        ticks);
  check("and the first one did wait, times", waits >= rounds / 10, waits);
  check("what came before a change is seen after it, not in rounds", wrong == 0, wrong);
}

void second_processor() {
  for (std::uint32_t i = 1; i <= rounds; ++i) {
    await(lines[0], i, long_time);
    if (i % 3 == 0) pause_for(300);
    publish(lines[1], i);
  }
}

}  // namespace

extern "C" void processor_main(unsigned rank) {
  if (rank != 0) return second_processor();
  first_processor();
  print(failures == 0 ? "all passed\n" : "some failed\n");
  for (const char* each = "Shutdown"; *each != 0; ++each) out(0x8900, *each);
}
