// SPDX-License-Identifier: MIT
// tests/platform/processor_wait_test.cpp -- which of the processor's waits is used, and that it does what it says
#include "platform/processor_wait.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#if defined(__linux__)
#include <ucontext.h>
#include <csignal>
#endif

#include "platform/cpus.hpp"
#include "support/threads.hpp"

// batch.py copies directives that choose headers, and reads lines.
#if defined(__linux__) && defined(__GNUC__)
#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv)
#define LOCKSTEP_TEST_ILLEGAL_INSTRUCTIONS 1
#endif
#endif

namespace {

using lockstep::detail::line_instructions;
using lockstep::detail::line_wait;
using lockstep::detail::line_wait_finding;
using lockstep::detail::line_wait_trial;
using lockstep::detail::line_wait_verdict;
using lockstep::detail::native_line_machine;
using lockstep::detail::no_deadline;
using lockstep::detail::processor_wait;

/// A processor by its costs in nanoseconds, on a clock of its own: as native_line_machine.
struct scripted_machine {
  bool exist = true;
  line_wait kind = line_wait::umwait;
  std::uint64_t counter_hz = 2000000000;
  std::uint64_t pass_cost = 50, exit_cost = 0, clock_cost = 25;
  /// How long a wait for so many nanoseconds really takes, besides exit_cost.
  std::uint64_t (*lasts)(std::uint64_t asked, int wait) = [](std::uint64_t asked, int) {
    return asked + 100;
  };
  // What happened.
  std::uint64_t time = 1000;
  int waits = 0, passes = 0, offers = 0;
  bool is_armed = false;

  line_wait offered() {
    ++offers;
    return kind;
  }
  void arm(line_wait, const void* word) {
    EXPECT_NE(word, nullptr);
    is_armed = true;
  }
  void wait(line_wait which, std::uint64_t ticks) {
    EXPECT_EQ(which, kind);
    EXPECT_TRUE(is_armed);
    is_armed = false;
    const std::uint64_t asked = line_instructions::is_timed(kind) ? ticks * 1000000000 / counter_hz
                                                                  : line_wait_trial::usual(kind);
    time += exit_cost + lasts(asked, waits++);
  }
  void pass(line_wait) {
    ++passes;
    time += pass_cost + exit_cost;
  }
  std::uint64_t now() { return time += clock_cost; }
  std::uint64_t ticks() const {
    return static_cast<std::uint64_t>(static_cast<double>(time) * 1e-9 *
                                      static_cast<double>(counter_hz));
  }

  line_wait_finding tried(bool is_allowed = true) { return line_wait_trial::of(*this, is_allowed); }
};

constexpr line_wait all_kinds[] = {line_wait::umwait, line_wait::mwaitx, line_wait::wfet,
                                   line_wait::wfe, line_wait::wrs_sto};

const char* kind_name(line_wait kind) {
  static const char* const names[] = {"none", "umwait", "mwaitx", "wfet", "wfe", "wrs_sto"};
  return names[static_cast<std::uint32_t>(kind)];
}

TEST(processor_wait, LINE_5_a_kind_that_waits_as_long_as_asked_is_on) {
  for (const line_wait kind : all_kinds) {
    scripted_machine machine;
    machine.kind = kind;
    const line_wait_finding found = machine.tried();
    EXPECT_TRUE(found.is_on());
    EXPECT_EQ(found.kind(), kind);
    EXPECT_GT(machine.waits, 0);
    EXPECT_GT(machine.passes, 0);
  }
}

TEST(processor_wait, LINE_5_a_kind_that_is_trapped_is_off) {
  for (const line_wait kind : all_kinds) {
    scripted_machine machine;
    machine.kind = kind;
    machine.exit_cost = 1000;  // to the hypervisor and back
    EXPECT_EQ(machine.tried().verdict(), line_wait_verdict::slow);
    EXPECT_FALSE(machine.tried().is_on());
  }
}

TEST(processor_wait, LINE_5_a_kind_whose_waits_give_the_CPU_away_is_off) {
  for (const line_wait kind : all_kinds) {
    scripted_machine machine;
    machine.kind = kind;
    machine.lasts = [](std::uint64_t, int) { return std::uint64_t{1000000}; };
    EXPECT_EQ(machine.tried().verdict(), line_wait_verdict::slow);
  }
}

TEST(processor_wait, LINE_5_a_kind_that_does_not_wait_is_off) {
  for (const line_wait kind : all_kinds) {
    scripted_machine machine;
    machine.kind = kind;
    machine.lasts = [](std::uint64_t, int) { return std::uint64_t{40}; };
    EXPECT_EQ(machine.tried().verdict(), line_wait_verdict::idle);
  }
}

TEST(processor_wait, a_disturbed_round_of_the_trial_decides_nothing) {
  for (const line_wait kind : all_kinds) {
    scripted_machine machine;
    machine.kind = kind;
    machine.lasts = [](std::uint64_t asked, int wait) {
      return wait == 0   ? 30
             : wait == 1 ? 5000000
                         : asked + 100;  // a flag that was set, a time slice
    };
    EXPECT_TRUE(machine.tried().is_on());
  }
}

TEST(processor_wait, a_slow_clock_does_not_look_like_a_trap) {
  scripted_machine machine;
  machine.clock_cost = 1500;
  EXPECT_TRUE(machine.tried().is_on());
}

TEST(processor_wait, what_is_absent_or_refused_is_never_executed) {
  scripted_machine absent;
  absent.kind = line_wait::none;
  EXPECT_EQ(absent.tried().verdict(), line_wait_verdict::absent);
  scripted_machine refused;
  EXPECT_EQ(refused.tried(false).verdict(), line_wait_verdict::refused);
  EXPECT_EQ(refused.offers, 0) << "not even asked for";
  scripted_machine without_code;
  without_code.exist = false;
  EXPECT_EQ(without_code.tried().verdict(), line_wait_verdict::no_code);
  EXPECT_EQ(absent.waits + absent.passes + refused.waits + refused.passes + without_code.waits +
                without_code.passes,
            0);
}

TEST(processor_wait, LINE_2_times_become_ticks_of_the_counter) {
  for (const std::uint64_t hz : {1000000u, 24000000u, 1000000000u, 3600000000u}) {
    scripted_machine machine;
    machine.counter_hz = hz;
    const line_wait_finding found = machine.tried();
    const double wanted = 1e-5 * static_cast<double>(hz);
    EXPECT_NEAR(static_cast<double>(found.ticks(10000)), wanted, 0.06 * wanted + 1) << hz;
  }
}

TEST(processor_wait, a_finding_is_one_word_and_is_never_unknown) {
  for (const line_wait kind : all_kinds) {
    const line_wait_finding made(line_wait_verdict::on, kind, 0xffffff);
    const line_wait_finding read(made.word());
    EXPECT_EQ(read.kind(), kind);
    EXPECT_TRUE(read.is_on());
    EXPECT_EQ(read.ticks(1024), 0xffffffu);
    EXPECT_GT(std::strlen(made.text()), 2u);
  }
  EXPECT_NE(lockstep::detail::try_processor_wait().word(), 0u);
}

TEST(processor_wait, every_verdict_has_a_text_that_says_why) {
  const auto text = [](line_wait_verdict verdict) {
    return std::string(line_wait_finding(verdict, line_wait::umwait, 1).text());
  };
  EXPECT_EQ(text(line_wait_verdict::on), "UMWAIT");
  EXPECT_NE(text(line_wait_verdict::slow).find("trapped"), std::string::npos);
  EXPECT_NE(text(line_wait_verdict::idle).find("does not wait"), std::string::npos);
  EXPECT_NE(text(line_wait_verdict::refused).find("LOCKSTEP_PROCESSOR_WAIT"), std::string::npos);
  EXPECT_NE(text(line_wait_verdict::absent).find("no such instruction"), std::string::npos);
  EXPECT_NE(text(line_wait_verdict::no_code).find("compiler"), std::string::npos);
}

TEST(processor_wait, what_is_offered_and_what_is_said_agree) {
  const char* const name = processor_wait::name();
  EXPECT_STREQ(name, processor_wait::name());
  const bool is_off = std::strncmp(name, "none", 4) == 0 || std::strncmp(name, "off", 3) == 0;
  EXPECT_EQ(processor_wait::shortest() == no_deadline, is_off) << name;
}

TEST(processor_wait, LINE_5_the_variable_switches_it_off) {
  const char* const before = std::getenv("LOCKSTEP_PROCESSOR_WAIT");
  const std::string kept = before != nullptr ? before : "";
  for (const char* no : {"0", " FALSE\t"}) {
    setenv("LOCKSTEP_PROCESSOR_WAIT", no, 1);
    EXPECT_EQ(lockstep::detail::try_processor_wait().verdict(),
              line_instructions::exist ? line_wait_verdict::refused : line_wait_verdict::no_code);
  }
  for (const char* yes : {"1", "true", "", "perhaps"}) {
    setenv("LOCKSTEP_PROCESSOR_WAIT", yes, 1);
    EXPECT_NE(lockstep::detail::try_processor_wait().verdict(), line_wait_verdict::refused) << yes;
  }
  if (before != nullptr) {
    setenv("LOCKSTEP_PROCESSOR_WAIT", kept.c_str(), 1);
  } else {
    unsetenv("LOCKSTEP_PROCESSOR_WAIT");
  }
}

#if defined(LOCKSTEP_TEST_ILLEGAL_INSTRUCTIONS)

/// What a processor that has not got an instruction was asked to execute: its bytes and operands.
struct illegal {
  std::string bytes;
  std::uint64_t a, b, c, d;  // x86: RAX to RDX; AArch64: X0
};
illegal notes[8];
int noted_count = 0;

/// Notes the instruction and passes over it.
void note_illegal(int, siginfo_t*, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  illegal found{"", 0, 0, 0, 0};
#if defined(__x86_64__)
  const auto value = [&](int name) { return static_cast<std::uint64_t>(machine.gregs[name]); };
  const std::uint64_t at = value(REG_RIP);
  // Of those that are tried here, two have four bytes, two three.
  const std::size_t size = *reinterpret_cast<const unsigned char*>(at) == 0x0f ? 3 : 4;
  found = {"", value(REG_RAX), value(REG_RBX), value(REG_RCX), value(REG_RDX)};
  machine.gregs[REG_RIP] += static_cast<greg_t>(size);
#elif defined(__aarch64__)
  const std::uint64_t at = machine.pc;
  const std::size_t size = 4;
  found.a = machine.regs[0];
  machine.pc += size;
#else
  const std::uint64_t at = machine.__gregs[REG_PC];
  const std::size_t size = 4;
  machine.__gregs[REG_PC] += size;
#endif
  found.bytes.assign(reinterpret_cast<const char*>(at), size);
  if (noted_count < 8) notes[noted_count++] = found;
}

/// While it lives, illegal instructions are noted.
class noting {
 public:
  noting() {
    noted_count = 0;
    struct sigaction action = {};
    action.sa_sigaction = &note_illegal;
    action.sa_flags = SA_SIGINFO;
    is_set_ = sigaction(SIGILL, &action, &before_) == 0;
  }
  noting(const noting&) = delete;
  noting& operator=(const noting&) = delete;
  ~noting() {
    if (is_set_) sigaction(SIGILL, &before_, nullptr);
  }
  bool is_set() const { return is_set_; }

 private:
  struct sigaction before_;
  bool is_set_;
};

/// Whether the processor executes it, be it said or not. WFE is left out: without the event stream nothing bounds it.
bool is_executed(line_wait kind) {
  const noting notes_of_this;
  const std::uint32_t word = 0;
  line_instructions::arm(kind, &word);
  line_instructions::wait(kind, 1);
  line_instructions::pass(kind);
  return notes_of_this.is_set() && noted_count == 0;
}

#endif

/// The kinds that are written for this machine; with WFE, which no processor finds illegal.
std::vector<line_wait> written_kinds([[maybe_unused]] bool with_wfe) {
#if defined(__x86_64__) && defined(__GNUC__)
  return {line_wait::umwait, line_wait::mwaitx};
#elif defined(__aarch64__)
  if (with_wfe) return {line_wait::wfet, line_wait::wfe};
  return {line_wait::wfet};
#elif defined(__riscv)
  return {line_wait::wrs_sto};
#else
  return {};
#endif
}

class native_waits : public testing::TestWithParam<line_wait> {
 protected:
  void SetUp() override {
    if (line_instructions::offered() == GetParam()) return;
    // QEMU's user emulation executes WFET, but does not say so as Linux does.
#if defined(LOCKSTEP_TEST_ILLEGAL_INSTRUCTIONS)
    if (GetParam() == line_wait::wfet && is_executed(GetParam())) return;
#endif
    GTEST_SKIP() << "not offered: the processor has no such instruction, or a better one";
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(native_waits);
INSTANTIATE_TEST_SUITE_P(kinds, native_waits, testing::ValuesIn(written_kinds(true)),
                         [](const auto& each) { return kind_name(each.param); });

/// One thread counts upwards, the other waits for each number and answers it: by the native instructions, as the wait
/// engine uses them. A change that is lost ends at the time limit, so what is shown is that they execute, that the
/// loop makes progress, and that each look after a wait sees what came before the change.
void follow_each_other(line_wait kind) {
  constexpr std::uint32_t last = 2000;
  struct alignas(128) slot {
    std::atomic<std::uint32_t> word{0};
    std::uint32_t plain = 0;
  } slots[2];
  std::uint32_t wrong = 0;
  lockstep::test::run_threads(2, [&](unsigned rank) {
    slot &own = slots[rank], &other = slots[1 - rank];
    for (std::uint32_t i = 1; i <= last; ++i) {
      if (rank == 0) {
        own.plain = i;
        own.word.store(i, std::memory_order_release);
      }
      while (other.word.load(std::memory_order_acquire) < i) {
        line_instructions::arm(kind, &other.word);
        if (other.word.load(std::memory_order_acquire) >= i) break;
        line_instructions::wait(kind, 20000);
      }
      if (other.plain != i) ++wrong;
      if (rank == 1) {
        own.plain = i;
        own.word.store(i, std::memory_order_release);
      }
    }
  });
  EXPECT_EQ(wrong, 0u);
}

TEST_P(native_waits, LINE_1_two_threads_follow_each_other) {
  if (lockstep::detail::count_usable_cpus() < 2) GTEST_SKIP() << "needs two CPUs";
  follow_each_other(GetParam());
}

#if defined(__aarch64__)
/// WFE is there on every AArch64. Where nothing bounds it, the other thread does.
TEST(processor_wait, LINE_1_two_threads_follow_each_other_by_WFE_without_the_event_stream) {
  if (!line_instructions::exist) GTEST_SKIP() << "not known for this compiler and system";
  if (lockstep::detail::count_usable_cpus() < 2) GTEST_SKIP() << "needs two CPUs";
  follow_each_other(line_wait::wfe);
}
#endif

TEST_P(native_waits, LINE_2_waits_for_nothing_end_by_themselves) {
  const std::uint32_t word = 0;
  for (int i = 0; i < 100; ++i) {
    line_instructions::arm(GetParam(), &word);
    line_instructions::wait(GetParam(), 5000);
    line_instructions::pass(GetParam());
  }
}

#if defined(LOCKSTEP_TEST_ILLEGAL_INSTRUCTIONS)

/// What processors that lack a kind are asked to execute.
class illegal_instructions : public testing::TestWithParam<line_wait> {
 protected:
  void SetUp() override {
    if (line_instructions::offered() == GetParam()) GTEST_SKIP() << "the processor has it";
    ASSERT_TRUE(noting_.is_set());
  }
  /// The note of the first of these bytes.
  const illegal* note(const char* bytes, std::size_t size) const {
    const auto found = std::find_if(notes, notes + noted_count, [&](const illegal& each) {
      return each.bytes == std::string(bytes, size);
    });
    return found == notes + noted_count ? nullptr : found;
  }

 private:
  noting noting_;
};
INSTANTIATE_TEST_SUITE_P(kinds, illegal_instructions, testing::ValuesIn(written_kinds(false)),
                         [](const auto& each) { return kind_name(each.param); });

TEST_P(illegal_instructions,
       a_kind_is_the_instructions_that_its_maker_defines_with_their_operands) {
  const line_wait kind = GetParam();
  const std::uint32_t word = 0;
  line_instructions::arm(kind, &word);
  const std::uint64_t before = lockstep::detail::tick_clock::now();
  line_instructions::wait(kind, 7000);
  const std::uint64_t after = lockstep::detail::tick_clock::now();
  line_instructions::pass(kind);
  if (noted_count == 0)
    GTEST_SKIP() << "the processor executes it, but does not say that it has it";
  if (kind == line_wait::umwait) {
    const illegal* const armed = note("\xf3\x0f\xae\xf0", 4);   // umonitor rax
    const illegal* const waited = note("\xf2\x0f\xae\xf1", 4);  // umwait ecx, until edx:eax
    ASSERT_TRUE(armed != nullptr && waited != nullptr);
    EXPECT_EQ(armed->a, reinterpret_cast<std::uintptr_t>(&word));
    EXPECT_EQ(waited->c, 1u) << "C0.1";
    const std::uint64_t until = waited->d << 32 | waited->a;
    EXPECT_GE(until, before + 7000);
    EXPECT_LE(until, after + 7000);
    EXPECT_EQ(noted_count, 3);
    EXPECT_EQ(notes[2].a + notes[2].d, 0u) << "a time that has passed";
  } else if (kind == line_wait::mwaitx) {
    const illegal* const armed = note("\x0f\x01\xfa", 3);   // monitorx rax, ecx, edx
    const illegal* const waited = note("\x0f\x01\xfb", 3);  // mwaitx eax, ecx, ebx
    ASSERT_TRUE(armed != nullptr && waited != nullptr);
    EXPECT_EQ(armed->a, reinterpret_cast<std::uintptr_t>(&word));
    EXPECT_EQ(armed->c | armed->d, 0u);
    EXPECT_EQ(waited->a, 0xf0u) << "C0";
    EXPECT_EQ(waited->b, 7000u);
    EXPECT_EQ(waited->c, 2u) << "with the timer";
  } else if (kind == line_wait::wfet) {
    const illegal* const waited = note("\x00\x10\x03\xd5", 4);  // wfet x0
    ASSERT_TRUE(waited != nullptr);
    EXPECT_GE(waited->a, before + 7000);
    EXPECT_LE(waited->a, after + 7000);
    EXPECT_EQ(noted_count, 2);
  } else {
    EXPECT_TRUE(note("\x73\x00\xd0\x01", 4) != nullptr);  // wrs.sto
    EXPECT_EQ(noted_count, 2);
  }
}

#endif

}  // namespace
