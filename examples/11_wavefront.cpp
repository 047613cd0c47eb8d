// SPDX-License-Identifier: MIT
// 11_wavefront [members] [letters] -- members that wait for one neighbour each
//
// The edit distance of two texts: each cell of a table needs the cells above, to the left, and above left. Each
// member has a band of columns, and goes down the rows. It may begin a row when its left neighbour has finished that
// row in its own band. A barrier after each row would make all members wait for the slowest; with publish() and
// await_step() each waits for its neighbour only.
#include <algorithm>
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "numbered.hpp"

namespace {

std::string text_of(std::size_t letters, std::size_t factor) {
  std::string text(letters, ' ');
  for (std::size_t i = 0; i < letters; ++i) text[i] = "acgt"[(i * i * factor + 3 * i) % 11 % 4];
  return text;
}

class distance_table {
 public:
  distance_table(std::string down, std::string across)
      : down_(std::move(down)),
        across_(std::move(across)),
        width_(across_.size() + 1),
        cells_((down_.size() + 1) * width_) {
    for (std::size_t j = 0; j < width_; ++j) cells_[j] = j;
    for (std::size_t i = 0; i <= down_.size(); ++i) cells_[i * width_] = i;
  }

  std::size_t rows() const { return down_.size(); }
  std::size_t columns() const { return across_.size(); }
  std::size_t distance() const { return cells_.back(); }

  /// Rows and columns from 1 on.
  void fill_row(std::size_t i, std::size_t first, std::size_t last) {
    std::size_t* const here = &cells_[i * width_];
    const std::size_t* const above = here - width_;
    for (std::size_t j = first; j < last; ++j) {
      const std::size_t other = down_[i - 1] == across_[j - 1] ? 0 : 1;
      here[j] = std::min(above[j - 1] + other, std::min(above[j], here[j - 1]) + 1);
    }
  }

 private:
  std::string down_, across_;
  std::size_t width_;
  std::vector<std::size_t> cells_;
};

void fill_band(lockstep::member& me, distance_table& table) {
  // Rows per step: with fewer, members spend most of their time waiting; with more, they begin later.
  constexpr std::size_t rows_per_step = 16;

  const lockstep::index_range band =
      lockstep::static_block(1, table.columns() + 1, me.rank(), me.size());
  std::size_t step = 0;
  for (std::size_t first = 1; first <= table.rows(); first += rows_per_step) {
    ++step;
    if (me.rank() > 0 && !me.await_step(me.rank() - 1, step)) return;
    const std::size_t last = std::min(first + rows_per_step, table.rows() + 1);
    for (std::size_t i = first; i < last; ++i) table.fill_row(i, band.first, band.last);
    me.publish(step);
  }
}

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t members = given.number("members", 1, 1000, lockstep::usable_cpus());
  const std::size_t letters = given.number("letters", 0, 3000, 1000);
  given.end();

  distance_table shared(text_of(letters, 7), text_of(letters, 5));
  lockstep::team team(members);
  team.run([&](lockstep::member& me) { fill_band(me, shared); });

  distance_table alone(text_of(letters, 7), text_of(letters, 5));
  for (std::size_t i = 1; i <= alone.rows(); ++i) alone.fill_row(i, 1, alone.columns() + 1);

  const bool same = shared.distance() == alone.distance();
  numbered::print_line(std::to_string(team.size()) + " members");
  numbered::print_line("distance " + std::to_string(shared.distance()));
  numbered::print_line(same ? "check: ok" : "check: FAILED");
  return same ? 0 : 1;
}
