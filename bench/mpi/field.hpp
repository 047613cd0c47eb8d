// SPDX-License-Identifier: MIT
// bench/mpi/field.hpp -- a rank's rows of a field, with a row of each neighbour above and below, and loops over rows
#pragma once

#include <cstddef>
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
  field(std::size_t rows, std::size_t columns, double value)
      : rows_(rows), stride_(columns + 2), values_((rows + 2) * stride_, value) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return stride_ - 2; }
  /// Its first own element; those at -1 and columns() are the border of the whole field.
  [[nodiscard]] double* row(std::size_t i) { return values_.data() + i * stride_ + 1; }
  [[nodiscard]] const double* row(std::size_t i) const { return values_.data() + i * stride_ + 1; }

 private:
  std::size_t rows_, stride_;
  std::vector<double> values_;
};

/// One sweep of Jacobi's iteration for the Poisson equation with the right side 1; returns the sum of squared changes.
inline double jacobi_rows(row_range rows, const field& from, field& to) {
  double change = 0;
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    const double *above = from.row(i - 1), *here = from.row(i), *below = from.row(i + 1);
    double* next = to.row(i);
    for (std::size_t j = 0, columns = from.columns(); j < columns; ++j) {
      next[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1] + 1.0);
      change += (next[j] - here[j]) * (next[j] - here[j]);
    }
  }
  return change;
}

/// One step of the explicit heat equation.
inline void heat_rows(row_range rows, const field& from, field& to) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    const double *above = from.row(i - 1), *here = from.row(i), *below = from.row(i + 1);
    double* next = to.row(i);
    for (std::size_t j = 0, columns = from.columns(); j < columns; ++j) {
      next[j] = here[j] + 0.2 * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4.0 * here[j]);
    }
  }
}

/// q = A p for the five-point matrix A; returns the part of p q.
inline double multiply_rows(row_range rows, const field& p, field& q) {
  double product = 0;
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    const double *above = p.row(i - 1), *here = p.row(i), *below = p.row(i + 1);
    double* result = q.row(i);
    for (std::size_t j = 0, columns = p.columns(); j < columns; ++j) {
      result[j] = 4.0 * here[j] - above[j] - below[j] - here[j - 1] - here[j + 1];
      product += result[j] * here[j];
    }
  }
  return product;
}

/// x += alpha p, r -= alpha q; returns the part of r r.
inline double advance_rows(row_range rows, double alpha, const field& p, const field& q, field& x,
                           field& r) {
  double square = 0;
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    const double *direction = p.row(i), *image = q.row(i);
    double *solution = x.row(i), *residual = r.row(i);
    for (std::size_t j = 0, columns = p.columns(); j < columns; ++j) {
      solution[j] += alpha * direction[j];
      residual[j] -= alpha * image[j];
      square += residual[j] * residual[j];
    }
  }
  return square;
}

/// p = r + beta p
inline void turn_rows(row_range rows, double beta, const field& r, field& p) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    const double* residual = r.row(i);
    double* direction = p.row(i);
    for (std::size_t j = 0, columns = p.columns(); j < columns; ++j) {
      direction[j] = residual[j] + beta * direction[j];
    }
  }
}

inline void fill_rows(row_range rows, double value, field& f) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    for (std::size_t j = 0; j < f.columns(); ++j) f.row(i)[j] = value;
  }
}

}  // namespace mpi_bench
