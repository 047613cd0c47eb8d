// SPDX-License-Identifier: MIT
#include "mpi/field.hpp"

namespace mpi_bench {

double jacobi_rows(row_range rows, const field& from, field& to) {
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

void heat_rows(row_range rows, const field& from, field& to) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    const double *above = from.row(i - 1), *here = from.row(i), *below = from.row(i + 1);
    double* next = to.row(i);
    for (std::size_t j = 0, columns = from.columns(); j < columns; ++j) {
      next[j] = here[j] + 0.2 * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4.0 * here[j]);
    }
  }
}

double multiply_rows(row_range rows, const field& p, field& q) {
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

double advance_rows(row_range rows, double alpha, const field& p, const field& q, field& x,
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

void turn_rows(row_range rows, double beta, const field& r, field& p) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    const double* residual = r.row(i);
    double* direction = p.row(i);
    for (std::size_t j = 0, columns = p.columns(); j < columns; ++j) {
      direction[j] = residual[j] + beta * direction[j];
    }
  }
}

void fill_rows(row_range rows, double value, field& f) {
  for (std::size_t i = rows.first; i < rows.last; ++i) {
    for (std::size_t j = 0; j < f.columns(); ++j) f.row(i)[j] = value;
  }
}

double dot_range(std::size_t first, std::size_t last, const double* x, const double* y) {
  double sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace mpi_bench
