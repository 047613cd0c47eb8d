// SPDX-License-Identifier: MIT
// tests/platform/bochs/line_waits.cpp -- a kind of x86's waits on two processors of an emulated PC
//
// What platform.processor_wait does with threads, without a system: Bochs executes these instructions, QEMU does not.
// LINE_WAIT says which kind the processor must offer: mwaitx, or umwait (Bochs 3.0 and later). WAITS_END_BY_TIME is 0 for
// Bochs 2.7, which never ends a wait by its time: there a change that is lost is a hang, and LINE-2 is not shown.
// Times are ticks of an emulated clock: no other work disturbs them.
// Prints a line for each check to the port that Bochs shows, and switches the PC off.
#include "platform/line_instructions.hpp"

#include <cstdint>

namespace {

using lockstep::detail::line_instructions;
using lockstep::detail::line_wait;
using lockstep::detail::tick_clock;

constexpr line_wait kind = line_wait::LINE_WAIT;
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
    line_instructions::arm(kind, &at.word);
    if (look(at) >= value) break;
    line_instructions::wait(kind, ticks);
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

bool near(std::uint64_t found, std::uint64_t wanted) {
  return found >= wanted - wanted / 20 && found <= wanted + wanted / 20 + 1000;
}

void start_second_processor() {
  volatile std::uint32_t* const command = reinterpret_cast<volatile std::uint32_t*>(0xfee00300);
  *command = 0xc4500;  // INIT to all others
  pause_for(200000);
  *command = 0xc4608;  // begin at 0x8000
  pause_for(200000);
}

/// Nobody writes: how long a wait for so many ticks lasts.
std::uint64_t lasts(std::uint64_t ticks) {
  return ticks_of([ticks] {
    line_instructions::arm(kind, &lines[0].word);
    line_instructions::wait(kind, ticks);
  });
}

void LINE_2_waits_end_by_their_time() {
  const std::uint64_t times[] = {3000, 100000, 5000000};
  for (const std::uint64_t asked : times) {
    const std::uint64_t lasted = lasts(asked);
    check("LINE-2 a wait for nothing ends by its time, ticks", near(lasted, asked), lasted);
  }
  line_instructions::arm(kind, &lines[0].word);
  publish(lines[0], 0);
  const std::uint64_t written = ticks_of([] { line_instructions::wait(kind, long_time); });
  check("a write between arm() and wait() keeps it from beginning, ticks", written < 1000, written);
}

/// The longest time of UMWAIT and TPAUSE, which systems set; 0: none.
void limit_user_waits(std::uint32_t ticks) {
  __asm__ __volatile__("wrmsr" : : "c"(0xe1), "a"(ticks), "d"(0));
}

/// Not used by the library, since it waits for a time only. It is WAITPKG's third: the same encoding but for a prefix.
void tpause(std::uint64_t until) {
  __asm__ __volatile__(".byte 0x66, 0x0f, 0xae, 0xf1"  // tpause %ecx
                       :
                       : "a"(static_cast<std::uint32_t>(until)),
                         "d"(static_cast<std::uint32_t>(until >> 32)), "c"(1)
                       : "cc", "memory");
}

void user_waits_end_at_the_limit_of_the_system() {
  limit_user_waits(20000);
  const std::uint64_t limited = lasts(long_time);
  check("LINE-2 a wait ends at the system's limit of 20000, ticks", near(limited, 20000), limited);
  limit_user_waits(0);
  const std::uint64_t paused = ticks_of([] { tpause(tick_clock::now() + 50000); });
  check("TPAUSE for 50000, which is not used, lasts ticks", near(paused, 50000), paused);
}

/// UMWAIT ends at an interrupt that waits to be taken, and the BIOS has started the PC's clock.
void mask_interrupts() {
  out(0x21, '\xff');
  out(0xa1, '\xff');
}

void first_processor() {
  mask_interrupts();
  const line_wait found = line_instructions::offered();
  check("offered() says the kind of the model", found == kind, static_cast<std::uint64_t>(found));
  if (found != kind) return;
  std::uint64_t ticks = ticks_of([] { line_instructions::pass(kind); });
  check("a wait with nothing armed is over at once, ticks", ticks < 1000, ticks);
  if (WAITS_END_BY_TIME) LINE_2_waits_end_by_their_time();
  if (WAITS_END_BY_TIME && kind == line_wait::umwait) user_waits_end_at_the_limit_of_the_system();
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
