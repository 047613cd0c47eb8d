// SPDX-License-Identifier: MIT
// bench/mpi/field.hpp -- a rank's rows of a field, with a row of each neighbour above and below, and loops over rows
//
// The loops are in field.cpp, one object for all contenders: what they cost does not depend on what synchronises them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace mpi_bench {

/// Of the whole field, over all ranks.
struct shape {
  std::size_t rows, columns;
};

struct row_range {
  std::size_t first, last;
};

/// Block `index` of `blocks` of about equal length.
inline row_range block_of(std::size_t length, std::size_t index, std::size_t blocks) {
  return {length * index / blocks, length * (index + 1) / blocks};
}

/// Rows 1 to rows() are the rank's own; 0 and rows() + 1 are its neighbours', or the border of the whole field.
class field {
 public:
  /// Fields of different places do not get into each other's way: where they begin in a page decides a third of a step's time,
  /// and is not left to the heap.
  field(std::size_t rows, std::size_t columns, double value, std::size_t place)
      : rows_(rows), stride_(columns + 2), values_((rows + 2) * stride_ + 2 * page, value) {
    void* first = values_.data();
    std::size_t room = values_.size() * sizeof(double);
    first_ = static_cast<double*>(std::align(page * sizeof(double), 1, first, room)) +
             place * 320 % page;
  }
  field(const field&) = delete;
  field& operator=(const field&) = delete;

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return stride_ - 2; }
  /// Its first own element; those at -1 and columns() are the border of the whole field.
  [[nodiscard]] double* row(std::size_t i) { return first_ + i * stride_ + 1; }
  [[nodiscard]] const double* row(std::size_t i) const { return first_ + i * stride_ + 1; }

 private:
  static constexpr std::size_t page = 512;  // in values
  std::size_t rows_, stride_;
  std::vector<double> values_;
  double* first_ = nullptr;
};

/// One sweep of Jacobi's iteration for the Poisson equation with the right side 1; returns the sum of squared changes.
double jacobi_rows(row_range rows, const field& from, field& to);
/// One step of the explicit heat equation.
void heat_rows(row_range rows, const field& from, field& to);
/// q = A p for the five-point matrix A; returns the part of p q.
double multiply_rows(row_range rows, const field& p, field& q);
/// x += alpha p, r -= alpha q; returns the part of r r.
double advance_rows(row_range rows, double alpha, const field& p, const field& q, field& x,
                    field& r);
/// p = r + beta p
void turn_rows(row_range rows, double beta, const field& r, field& p);
void fill_rows(row_range rows, double value, field& f);
/// The part of x y.
double dot_range(std::size_t first, std::size_t last, const double* x, const double* y);

}  // namespace mpi_bench
