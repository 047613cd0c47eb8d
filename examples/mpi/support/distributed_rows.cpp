// SPDX-License-Identifier: MIT
#include "mpi/support/distributed_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "mpi/support/ranks.hpp"
#include "support/error.hpp"

namespace examples {
namespace {

/// Rows [first, last) with the columns of the whole system.
linear_system slice(const linear_system& whole, std::size_t first, std::size_t last) {
  linear_system rows;
  const auto part = [](const auto& values, std::size_t from, std::size_t to) {
    return std::vector(values.begin() + static_cast<std::ptrdiff_t>(from),
                       values.begin() + static_cast<std::ptrdiff_t>(to));
  };
  const std::size_t first_entry = whole.row_begin[first], last_entry = whole.row_begin[last];
  rows.diagonal = part(whole.diagonal, first, last);
  rows.right_side = part(whole.right_side, first, last);
  rows.row_begin = part(whole.row_begin, first, last + 1);
  for (std::size_t& begin : rows.row_begin) begin -= first_entry;
  rows.column = part(whole.column, first_entry, last_entry);
  rows.value = part(whole.value, first_entry, last_entry);
  return rows;
}

/// Numbers the columns by their places on this rank, and notes which rows need none of the other ranks.
distributed_rows numbered(linear_system rows, std::size_t first) {
  distributed_rows result;
  result.first = first;
  const std::size_t count = rows.unknowns();
  const auto is_own = [&](std::uint32_t column) {
    return column >= first && column - first < count;
  };
  std::vector<std::uint32_t>& needed = result.needed;
  std::copy_if(rows.column.begin(), rows.column.end(), std::back_inserter(needed),
               [&](std::uint32_t column) { return !is_own(column); });
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  result.is_inner.assign(count, 1);
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t k = rows.row_begin[row]; k < rows.row_begin[row + 1]; ++k) {
      std::uint32_t& column = rows.column[k];
      if (is_own(column)) {
        column -= static_cast<std::uint32_t>(first);
        continue;
      }
      const auto place = std::lower_bound(needed.begin(), needed.end(), column) - needed.begin();
      column = static_cast<std::uint32_t>(count + static_cast<std::size_t>(place));
      result.is_inner[row] = 0;
    }
    if (result.is_inner[row] != 0) result.inner.push_back(row);
  }
  result.own = std::move(rows);
  return result;
}

void send_rows(lockstep::mpi::world& world, std::size_t to, const linear_system& rows) {
  send_values(world, to, std::span(rows.diagonal));
  send_values(world, to, std::span(rows.row_begin));
  send_values(world, to, std::span(rows.column));
  send_values(world, to, std::span(rows.value));
  send_values(world, to, std::span(rows.right_side));
}
linear_system receive_rows(lockstep::mpi::world& world, std::size_t from) {
  linear_system rows;
  rows.diagonal = receive_values<double>(world, from);
  rows.row_begin = receive_values<std::size_t>(world, from);
  rows.column = receive_values<std::uint32_t>(world, from);
  rows.value = receive_values<double>(world, from);
  rows.right_side = receive_values<double>(world, from);
  return rows;
}

}  // namespace

distributed_rows rows_of(const linear_system& whole, std::size_t first, std::size_t last) {
  distributed_rows rows = numbered(slice(whole, first, last), first);
  rows.unknowns = whole.unknowns();
  rows.scale = norm_scale(whole.right_side);
  return rows;
}

distributed_rows distribute(lockstep::mpi::world& world, const linear_system& whole) {
  first_rank_does(world, [&] {
    if (whole.unknowns() >= world.size()) return;
    throw input_error(fmt::format(
        "the matrix has {} rows, fewer than the {} ranks: start no more ranks than rows",
        whole.unknowns(), world.size()));
  });
  const std::size_t unknowns = world.broadcast(0, whole.unknowns());
  const double scale = world.broadcast(0, norm_scale(whole.right_side));
  if (world.rank() == 0) {
    for (std::size_t rank = 1; rank < world.size(); ++rank) {
      const lockstep::index_range part = world.part_of(unknowns, rank);
      send_rows(world, rank, slice(whole, part.first, part.last));
    }
  }
  const lockstep::index_range mine = world.part_of(unknowns);
  distributed_rows rows = numbered(
      world.rank() == 0 ? slice(whole, mine.first, mine.last) : receive_rows(world, 0), mine.first);
  rows.unknowns = unknowns;
  rows.scale = scale;
  return rows;
}

std::vector<double> collect(lockstep::mpi::world& world, std::size_t unknowns,
                            const std::vector<double>& own) {
  if (world.rank() != 0) {
    send_values(world, 0, std::span(own));
    return {};
  }
  std::vector<double> all = own;
  all.reserve(unknowns);
  for (std::size_t rank = 1; rank < world.size(); ++rank) {
    const std::vector<double> part = receive_values<double>(world, rank);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace examples
