// SPDX-License-Identifier: MIT
#include "mpi/heat/heat_on_ranks.hpp"

#include <cstring>

#include "support/error.hpp"

namespace examples {
namespace {

/// The grid at the beginning: cold, with a hot square off its middle.
double first_value(const heat_problem& of, std::uint64_t row, std::uint64_t column) {
  const bool is_hot = row >= of.rows / 4 && row < of.rows / 2 && column >= of.columns / 3 &&
                      column < of.columns - of.columns / 4;
  return is_hot ? 100.0 : 20.0;
}
constexpr double above_the_grid = 80.0, below_the_grid = 0.0, beside_the_grid = 10.0;

/// One cell; the only place where it is computed.
double next_value(const double* u, std::size_t stride, double diffusion) {
  const double around = (u[-static_cast<std::ptrdiff_t>(stride)] + u[stride]) + (u[-1] + u[1]);
  return u[0] + diffusion * (around - 4.0 * u[0]);
}
void compute(const std::vector<double>& from, std::vector<double>& to, std::size_t first,
             std::size_t last, std::size_t stride, double diffusion) {
  for (std::size_t i = first; i < last; ++i) to[i] = next_value(&from[i], stride, diffusion);
}

}  // namespace

heat_on_ranks::heat_on_ranks(lockstep::mpi::world& world, lockstep::team& team,
                             const heat_problem& problem)
    : world_(world),
      team_(team),
      problem_(problem),
      cut_(world.size(), {problem.rows, problem.columns}, {false, problem.is_ring}),
      rows_(cut_.local_extents(world.rank())[0]),
      columns_(cut_.local_extents(world.rank())[1]),
      first_row_(cut_.offset(world.rank())[0]),
      first_column_(cut_.offset(world.rank())[1]),
      stride_(columns_ + 2),
      cells_{cells((rows_ + 2) * stride_), cells((rows_ + 2) * stride_)},
      ghosts_{{{world, team, cut_.neighbours(world.rank(), cells_[0].data(), 1)},
               {world, team, cut_.neighbours(world.rank(), cells_[1].data(), 1)}}} {
  begin();
}

void heat_on_ranks::begin() {
  for (cells& each : cells_) {
    // The edge of the grid, which no halo writes. Where a neighbour is, its cells overwrite this.
    for (std::size_t row = 0; row < rows_ + 2; ++row) {
      each[at(row, 0)] = each[at(row, columns_ + 1)] = beside_the_grid;
    }
    for (std::size_t column = 0; column < stride_; ++column) {
      each[at(0, column)] = above_the_grid;
      each[at(rows_ + 1, column)] = below_the_grid;
    }
    for (std::size_t row = 1; row <= rows_; ++row) {
      for (std::size_t column = 1; column <= columns_; ++column) {
        each[at(row, column)] =
            first_value(problem_, first_row_ + row - 1, first_column_ + column - 1);
      }
    }
  }
}

void heat_on_ranks::run_to(std::uint64_t step) {
  if (step <= step_) return;
  const std::uint64_t last = step;
  if (!world_.run(team_, [&](lockstep::member& me) { advance(me, last); })) {
    throw input_error("the run was stopped");
  }
  step_ = last;
}

/// Each member computes the rows of its block: first what neighbours need, then, while that is under way, what is inside.
void heat_on_ranks::advance(lockstep::member& me, std::uint64_t last) {
  const lockstep::index_range mine = lockstep::static_block(1, rows_ + 1, me.rank(), me.size());
  const double diffusion = problem_.diffusion;
  ghosts_[step_ % 2].publish(me);
  for (std::uint64_t step = step_; step < last; ++step) {
    const cells& from = cells_[step % 2];
    cells& to = cells_[(step + 1) % 2];
    const auto compute_row = [&](std::size_t row, std::size_t first, std::size_t end) {
      compute(from, to, at(row, first), at(row, end), stride_, diffusion);
    };
    ghosts_[step % 2].await_ghosts(me);
    for (std::size_t row = mine.first; row < mine.last; ++row) {
      if (row == 1 || row == rows_) {
        compute_row(row, 1, columns_ + 1);
      } else {
        compute_row(row, 1, 2);
        if (columns_ > 1) compute_row(row, columns_, columns_ + 1);
      }
    }
    if (step + 1 < last) ghosts_[(step + 1) % 2].publish(me);
    for (std::size_t row = mine.first; row < mine.last; ++row) {
      if (row != 1 && row != rows_ && columns_ > 2) compute_row(row, 2, columns_);
    }
    me.sync_threads();  // rows of other members are read in the next step
  }
}

void heat_on_ranks::write_result(const std::string& path) const {
  // Where this rank's cells are in the file, and where they are in its memory: boxes of larger ones, as MPI knows them.
  const auto box = [](std::size_t of_rows, std::size_t of_columns, std::size_t rows,
                      std::size_t columns, std::size_t first_row, std::size_t first_column) {
    const int whole[] = {static_cast<int>(of_rows), static_cast<int>(of_columns)};
    const int part[] = {static_cast<int>(rows), static_cast<int>(columns)};
    const int start[] = {static_cast<int>(first_row), static_cast<int>(first_column)};
    MPI_Datatype made;
    MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &made);
    MPI_Type_commit(&made);
    return made;
  };
  MPI_File file;
  if (MPI_File_open(world_.comm(), path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                    &file) != MPI_SUCCESS) {
    throw input_error("cannot write " + in_quotes(path));
  }
  MPI_Datatype in_file =
      box(problem_.rows, problem_.columns, rows_, columns_, first_row_, first_column_);
  MPI_Datatype in_memory = box(rows_ + 2, stride_, rows_, columns_, 1, 1);
  MPI_File_set_size(file, 0);  // of a longer file nothing is left
  MPI_File_set_view(file, 0, MPI_DOUBLE, in_file, "native", MPI_INFO_NULL);
  const int error = MPI_File_write_all(file, present().data(), 1, in_memory, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Type_free(&in_file);
  MPI_Type_free(&in_memory);
  if (world_.sync_min(error == MPI_SUCCESS ? 1 : 0) == 0) {
    throw input_error("cannot write all of " + in_quotes(path));
  }
}

bool heat_on_ranks::is_as_serial() const {
  const std::size_t stride = problem_.columns + 2;
  std::vector<double> from((problem_.rows + 2) * stride, beside_the_grid), to;
  for (std::size_t column = 0; column < stride; ++column) {
    from[column] = above_the_grid;
    from[(problem_.rows + 1) * stride + column] = below_the_grid;
  }
  for (std::size_t row = 0; row < problem_.rows; ++row) {
    for (std::size_t column = 0; column < problem_.columns; ++column) {
      from[(row + 1) * stride + column + 1] = first_value(problem_, row, column);
    }
  }
  to = from;
  for (std::uint64_t step = 0; step < step_; ++step) {
    for (std::size_t row = 1; row <= problem_.rows; ++row) {
      const std::size_t first = row * stride + 1, last = first + problem_.columns;
      if (problem_.is_ring) {
        from[first - 1] = from[last - 1];
        from[last] = from[first];
      }
      compute(from, to, first, last, stride, problem_.diffusion);
    }
    from.swap(to);
  }
  for (std::size_t row = 0; row < rows_; ++row) {
    const double* mine = &present()[at(row + 1, 1)];
    const double* serial = &from[(first_row_ + row + 1) * stride + first_column_ + 1];
    if (std::memcmp(mine, serial, columns_ * sizeof(double)) != 0) return false;
  }
  return true;
}

}  // namespace examples
