// SPDX-License-Identifier: MIT
#include "inpaint/membrane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/error.hpp"

namespace examples {

membrane::membrane(const image& picture, std::uint32_t hole, double relaxation)
    : picture_(picture),
      relaxation_(relaxation),
      stride_(picture.width + 2),
      values_((picture.height + 2) * stride_, 0.0),
      weights_(values_.size(), 0.0) {
  if (picture.channels != 1)
    throw input_error("the picture is in colour; only grey ones are filled");
  const double first_guess = picture.max_value / 2.0;
  std::size_t known = 0;
  for (std::size_t row = 0; row < rows(); ++row) {
    for (std::size_t column = 0; column < columns(); ++column) {
      const std::uint16_t sample = picture.samples[row * columns() + column];
      const std::size_t cell = (row + 1) * stride_ + column + 1;
      values_[cell] = sample == hole ? first_guess : sample;
      const int neighbours =
          (row > 0) + (row + 1 < rows()) + (column > 0) + (column + 1 < columns());
      if (sample != hole) {
        ++known;
      } else if (neighbours > 0) {
        weights_[cell] = 1.0 / neighbours;
      }
    }
  }
  if (known == 0) {
    throw input_error(fmt::format("no pixel is known: all samples are {}, as holes are", hole));
  }
}

std::size_t membrane::missing() const {
  return static_cast<std::size_t>(
      std::count_if(weights_.begin(), weights_.end(), [](double weight) { return weight > 0; }));
}

double membrane::relax(const cell_range& of) {
  double change = 0;
  for (std::size_t row = of.first_row; row < of.last_row; ++row) {
    double* const here = &values_[(row + 1) * stride_ + 1];
    const double* const above = here - stride_;
    const double* const below = here + stride_;
    const double* const left = here - 1;
    const double* const weight = &weights_[(row + 1) * stride_ + 1];
    for (std::size_t i = of.first_column; i < of.last_column; ++i) {
      if (weight[i] == 0) continue;
      // The cell to the left comes last in the sum, because its value is ready last. The zeros of the border do not
      // count, because the weight is one over the number of real neighbours.
      const double others = above[i] + below[i] + here[i + 1];
      const double step = relaxation_ * (weight[i] * (others + left[i]) - here[i]);
      here[i] += step;
      change = std::max(change, std::abs(step));
    }
  }
  return change;
}

image membrane::result() const {
  image filled = picture_;
  for (std::size_t row = 0; row < rows(); ++row) {
    for (std::size_t column = 0; column < columns(); ++column) {
      const double value = std::round(values_[(row + 1) * stride_ + column + 1]);
      const double most = picture_.max_value;
      filled.samples[row * columns() + column] =
          static_cast<std::uint16_t>(std::clamp(value, 0.0, most));
    }
  }
  return filled;
}

namespace {

/// Runs sweeps_per_test sweeps at a time, until the last of them changes little.
template <class Sweeps>
sweep_count repeat(const sweep_rule& rule, Sweeps sweeps) {
  sweep_count count;
  while (!count.has_converged && count.sweeps < rule.most_sweeps) {
    count.change = sweeps();
    count.sweeps += rule.sweeps_per_test;
    count.has_converged = count.change <= rule.tolerance;
  }
  return count;
}

std::size_t parts(std::size_t cells, std::size_t of_each) {
  return (cells + of_each - 1) / of_each;
}

cell_range tile_at(const membrane& of, std::size_t size, std::size_t row, std::size_t column) {
  return {row * size, std::min((row + 1) * size, of.rows()), column * size,
          std::min((column + 1) * size, of.columns())};
}

}  // namespace

sweep_count fill_serially(membrane& of, const sweep_rule& rule) {
  return repeat(rule, [&] {
    double change = 0;
    for (std::size_t sweep = 0; sweep < rule.sweeps_per_test; ++sweep) {
      change = of.relax({0, of.rows(), 0, of.columns()});
    }
    return change;
  });
}

sweep_count fill_by_bands(membrane& of, const sweep_rule& rule, lockstep::team& team) {
  const std::size_t strips = parts(of.rows(), rule.tile);
  return repeat(rule, [&] {
    double largest = 0;
    // [bands]
    team.run([&](lockstep::member& me) {
      const auto band = lockstep::static_block(0, of.columns(), me.rank(), me.size());
      double change = 0;
      std::size_t step = 0;  // strips of rows that are done, over all sweeps
      for (std::size_t sweep = 0; sweep < rule.sweeps_per_test; ++sweep) {
        change = 0;
        for (std::size_t strip = 0; strip < strips; ++strip) {
          const bool has_left = me.rank() > 0;
          const bool has_right = me.rank() + 1 < me.size() && sweep > 0;
          // The left band's strip of this sweep, and the right band's of the sweep before.
          if (has_left && !me.await_step(me.rank() - 1, step + 1)) return;
          if (has_right && !me.await_step(me.rank() + 1, step + 1 - strips)) return;
          const std::size_t end = std::min((strip + 1) * rule.tile, of.rows());
          change = std::max(change, of.relax({strip * rule.tile, end, band.first, band.last}));
          me.publish(++step);
        }
      }
      change = me.sync_max(change);
      me.masked([&] { largest = change; });
    });
    // [/bands]
    return largest;
  });
}

tiled_sweeps::tiled_sweeps(membrane& of, const sweep_rule& rule)
    : membrane_(of),
      rule_(rule),
      changes_(parts(of.rows(), rule.tile) * parts(of.columns(), rule.tile)) {
  const std::size_t down = parts(of.rows(), rule.tile);
  const std::size_t across = parts(of.columns(), rule.tile);
  // [tiles]
  std::vector<lockstep::graph_node> tiles;
  graph_.overlap();  // sweeps do, as far as the order below allows
  // In each sweep `before` comes before `after`, and `before` of the next sweep after `after` of this one.
  const auto keep_order = [&](std::size_t before, std::size_t after) {
    graph_.edge(tiles[before], tiles[after]).feedback(tiles[after], tiles[before], 1);
  };
  for (std::size_t k = 0; k < down * across; ++k) {
    const cell_range cells = tile_at(of, rule.tile, k / across, k % across);
    tiles.push_back(graph_.node(fmt::format("tile {},{}", k / across, k % across),
                                [=, this] { changes_[k].value = membrane_.relax(cells); }));
    if (k % across > 0) keep_order(k - 1, k);    // the tile to the left
    if (k >= across) keep_order(k - across, k);  // the tile above
  }
  // [/tiles]
}

sweep_count tiled_sweeps::fill(lockstep::plan& plan) {
  return repeat(rule_, [&] {
    plan.run(rule_.sweeps_per_test);
    double change = 0;
    for (const auto& each : changes_) change = std::max(change, each.value);
    return change;
  });
}

}  // namespace examples
