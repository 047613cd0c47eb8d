// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <array>
#include <atomic>

#include "support/pause.hpp"

namespace figures {
namespace {

/// Two plain words passed to and fro: what the hardware needs, and no more.
class ping_pong {
 public:
  void operator()(std::size_t rank) {
    const std::uint32_t turn = ++turns_[rank].count;
    if (rank == 0) words_[0].value.store(turn, std::memory_order_release);
    while (words_[rank ^ 1].value.load(std::memory_order_acquire) != turn) {
      bench::cpu_relax();
    }
    if (rank == 1) words_[1].value.store(turn, std::memory_order_release);
  }

 private:
  struct alignas(128) word {
    std::atomic<std::uint32_t> value{0};
  };
  struct alignas(128) private_count {
    std::uint32_t count = 0;
  };

  std::array<word, 2> words_;
  std::array<private_count, 2> turns_;
};

}  // namespace

double probe_line_transfer() {
  static ping_pong line;
  constexpr std::size_t rounds = 20000;
  return time_per_operation(2, rounds, placement::spread, [](std::size_t rank) { line(rank); }) / 2;
}

}  // namespace figures
