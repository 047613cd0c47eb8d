// SPDX-License-Identifier: MIT
// tests/platform/processor_wait_test.cpp -- which of the processor's waits is used, and that it does what it says
#include <lockstep/detail/platform/processor_wait.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#if defined(__linux__) && defined(__x86_64__)
#include <ucontext.h>
#include <csignal>
#endif

#include "lockstep/detail/platform/cpus.hpp"
#include "support/threads.hpp"

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
  EXPECT_NE(processor_wait::try_anew().word(), 0u);
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
    EXPECT_EQ(processor_wait::try_anew().verdict(),
              line_instructions::exist ? line_wait_verdict::refused : line_wait_verdict::no_code);
  }
  for (const char* yes : {"1", "true", "", "perhaps"}) {
    setenv("LOCKSTEP_PROCESSOR_WAIT", yes, 1);
    EXPECT_NE(processor_wait::try_anew().verdict(), line_wait_verdict::refused) << yes;
  }
  if (before != nullptr) {
    setenv("LOCKSTEP_PROCESSOR_WAIT", kept.c_str(), 1);
  } else {
    unsetenv("LOCKSTEP_PROCESSOR_WAIT");
  }
}

/// The kind of this machine. WFE is there on every AArch64, if nothing bounds it: then the other thread does.
line_wait kind_here() {
  const line_wait kind = line_instructions::offered();
#if defined(__aarch64__)
  if (kind == line_wait::none && line_instructions::exist) return line_wait::wfe;
#endif
  return kind;
}

/// One thread counts upwards, the other waits for each number and answers it: by the native instructions, as the wait
/// engine uses them. A change that is lost ends at the time limit, so what is shown is that they execute, that the
/// loop makes progress, and that each look after a wait sees what came before the change.
TEST(processor_wait, LINE_1_two_threads_follow_each_other_by_the_native_instructions) {
  const line_wait kind = kind_here();
  if (kind == line_wait::none) GTEST_SKIP() << "the processor has no such instruction";
  if (lockstep::detail::count_usable_cpus() < 2) GTEST_SKIP() << "needs two CPUs";
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

TEST(processor_wait, LINE_2_waits_for_nothing_end_by_themselves) {
  const line_wait kind = line_instructions::offered();
  if (kind == line_wait::none) GTEST_SKIP() << "the processor has no such instruction";
  const std::uint32_t word = 0;
  for (int i = 0; i < 100; ++i) {
    line_instructions::arm(kind, &word);
    line_instructions::wait(kind, 5000);
    line_instructions::pass(kind);
  }
}

#if defined(__linux__) && defined(__x86_64__) && defined(__GNUC__)

/// What a processor that has not got an instruction was asked to execute: its bytes and operands.
struct illegal {
  std::string bytes;
  greg_t a, b, c, d;
};
illegal* noted = nullptr;
int noted_count = 0;

/// Notes the instruction and passes over it. Of those that are tried here, two have four bytes, two three.
void note_illegal(int, siginfo_t*, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const unsigned char* const at = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  const std::size_t size = at[0] == 0x0f ? 3 : 4;
  if (noted_count < 8) {
    noted[noted_count++] = {std::string(reinterpret_cast<const char*>(at), size),
                            registers[REG_RAX], registers[REG_RBX], registers[REG_RCX],
                            registers[REG_RDX]};
  }
  registers[REG_RIP] += static_cast<greg_t>(size);
}

/// What processors that lack a kind are asked to execute.
class illegal_instructions : public testing::TestWithParam<line_wait> {
 protected:
  void SetUp() override {
    if (line_instructions::offered() == GetParam()) GTEST_SKIP() << "the processor has it";
    noted = notes_;
    noted_count = 0;
    struct sigaction action = {};
    action.sa_sigaction = &note_illegal;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(sigaction(SIGILL, &action, &before_), 0);
    is_set_ = true;
  }
  void TearDown() override {
    if (is_set_) sigaction(SIGILL, &before_, nullptr);
  }
  /// The note of the first of these bytes.
  const illegal* note(const char* bytes, std::size_t size) const {
    const auto found = std::find_if(notes_, notes_ + noted_count, [&](const illegal& each) {
      return each.bytes == std::string(bytes, size);
    });
    return found == notes_ + noted_count ? nullptr : found;
  }

  illegal notes_[8];
  struct sigaction before_;
  bool is_set_ = false;
};
INSTANTIATE_TEST_SUITE_P(kinds, illegal_instructions,
                         testing::Values(line_wait::umwait, line_wait::mwaitx));

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
  const greg_t at = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(&word));
  if (kind == line_wait::umwait) {
    const illegal* const armed = note("\xf3\x0f\xae\xf0", 4);   // umonitor rax
    const illegal* const waited = note("\xf2\x0f\xae\xf1", 4);  // umwait ecx, until edx:eax
    ASSERT_TRUE(armed != nullptr && waited != nullptr);
    EXPECT_EQ(armed->a, at);
    EXPECT_EQ(waited->c, 1) << "C0.1";
    const std::uint64_t until =
        static_cast<std::uint64_t>(waited->d) << 32 | static_cast<std::uint64_t>(waited->a);
    EXPECT_GE(until, before + 7000);
    EXPECT_LE(until, after + 7000);
    EXPECT_EQ(noted_count, 3);
    EXPECT_EQ(notes_[2].a + notes_[2].d, 0) << "a time that has passed";
  } else {
    const illegal* const armed = note("\x0f\x01\xfa", 3);   // monitorx rax, ecx, edx
    const illegal* const waited = note("\x0f\x01\xfb", 3);  // mwaitx eax, ecx, ebx
    ASSERT_TRUE(armed != nullptr && waited != nullptr);
    EXPECT_EQ(armed->a, at);
    EXPECT_EQ(armed->c | armed->d, 0);
    EXPECT_EQ(waited->a, 0xf0) << "C0";
    EXPECT_EQ(waited->b, 7000);
    EXPECT_EQ(waited->c, 2) << "with the timer";
  }
}

#endif

}  // namespace
