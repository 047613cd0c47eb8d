// SPDX-License-Identifier: MIT
// bench/mpi/kernels.hpp -- Jacobi's iteration, conjugate gradients and the heat equation, for whatever synchronises them
//
// The rows of a field are divided among the ranks, and a rank's rows among its members. Member 0, the keeper, has the first and
// the last row: it computes them first, starts their exchange, and goes on with its part of the rows between them. So the rows
// are under way while all work, and nobody else waits for them. What differs between the contenders is the crew:
//
//   crew.member(), crew.members()   of the rank
//   crew.sync()                     returns when all members of the rank have called it
//   crew.sum(x)                     the sum over all members of all ranks; is a sync() as well
//   Peer::exchange                  row_exchange, or its like
//
// A step of Jacobi has one sum, one of conjugate gradients two sums and a sync, one of the heat equation a sync.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "mpi/field.hpp"

namespace mpi_bench {

inline row_range rows_of_rank(MPI_Comm comm, std::size_t rows) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  return block_of(rows, static_cast<std::size_t>(rank), static_cast<std::size_t>(size));
}

inline std::size_t count_of(row_range rows) { return rows.last - rows.first; }

/// A member's rows between the outer ones of the rank; the keeper has two fewer.
inline row_range inner_rows(std::size_t rows, std::size_t member, std::size_t members) {
  const auto end = [&](std::size_t of) {
    const std::size_t fair = rows * of / members;
    return std::clamp<std::size_t>(fair, 2, rows);
  };
  return {member == 0 ? 2 : end(member), end(member + 1)};
}

template <class Crew>
bool is_keeper(const Crew& crew) {
  return crew.member() == 0;
}

template <class Exchange, class Crew>
void start(Exchange& exchange, Crew& crew) {
  is_keeper(crew) ? exchange.start(crew) : exchange.join(crew);
}
/// For the members that need no neighbour's rows: they call it before the exchange starts again.
template <class Exchange, class Crew>
void leave(Exchange& exchange, Crew& crew) {
  if (!is_keeper(crew)) exchange.leave(crew);
}

/// Does f(rows) for the outer rows.
template <class Function>
void for_outer_rows(std::size_t rows, Function&& f) {
  f(row_range{1, 2});
  if (rows > 1) f(row_range{rows, rows + 1});
}

template <class Peer>
class jacobi {
 public:
  jacobi(Peer& by, shape whole)
      : rows_(count_of(rows_of_rank(by.comm(), whole.rows))),
        fields_{field(rows_, whole.columns, 0, 0), field(rows_, whole.columns, 0, 1)},
        exchanges_{{{by, fields_[0]}, {by, fields_[1]}}} {}

  template <class Crew>
  void run(Crew& crew, long steps) {
    std::size_t now = now_;
    double change = 0;
    const row_range inner = inner_rows(rows_, crew.member(), crew.members());
    start(exchanges_[now], crew);
    for (long step = 0; step < steps; ++step, now = 1 - now) {
      double part = 0;
      if (is_keeper(crew)) {
        exchanges_[now].await(crew);
        for_outer_rows(rows_, [&](row_range outer) {
          part += jacobi_rows(outer, fields_[now], fields_[1 - now]);
        });
      }
      if (step + 1 < steps) start(exchanges_[1 - now], crew);
      part += jacobi_rows(inner, fields_[now], fields_[1 - now]);
      leave(exchanges_[now], crew);
      change = crew.sum(part);
    }
    if (is_keeper(crew)) now_ = now, change_ = change;
  }

  /// The norm of the last change.
  [[nodiscard]] double result() const { return std::sqrt(change_); }

 private:
  std::size_t rows_;
  std::array<field, 2> fields_;
  std::array<typename Peer::exchange, 2> exchanges_;
  std::size_t now_ = 0;
  double change_ = 0;
};

template <class Peer>
class conjugate_gradients {
 public:
  /// After so many steps it begins anew, so that no residual becomes too small to be a normal number.
  static constexpr long restart = 50;

  conjugate_gradients(Peer& by, shape whole)
      : rows_(count_of(rows_of_rank(by.comm(), whole.rows))),
        x_(rows_, whole.columns, 0, 2),
        r_(rows_, whole.columns, 0, 3),
        p_(rows_, whole.columns, 0, 0),
        q_(rows_, whole.columns, 0, 1),
        exchange_(by, p_),
        square_at_start_(static_cast<double>(whole.rows * whole.columns)) {
    begin({1, rows_ + 1});
  }

  template <class Crew>
  void run(Crew& crew, long steps) {
    double square = square_;
    long done = done_;
    const row_range inner = inner_rows(rows_, crew.member(), crew.members());
    start(exchange_, crew);
    for (long step = 0; step < steps; ++step) {
      double product = 0;
      if (is_keeper(crew)) {
        exchange_.await(crew);
        for_outer_rows(rows_, [&](row_range outer) { product += multiply_rows(outer, p_, q_); });
      }
      product += multiply_rows(inner, p_, q_);
      leave(exchange_, crew);
      const double alpha = square / crew.sum(product);
      double part = 0;
      if (is_keeper(crew)) {
        for_outer_rows(
            rows_, [&](row_range outer) { part += advance_rows(outer, alpha, p_, q_, x_, r_); });
      }
      part += advance_rows(inner, alpha, p_, q_, x_, r_);
      const double next = crew.sum(part), beta = next / square;
      ++done;
      const bool anew = done % restart == 0;
      const auto turn = [&](row_range rows) { anew ? begin(rows) : turn_rows(rows, beta, r_, p_); };
      if (is_keeper(crew)) for_outer_rows(rows_, turn);
      if (step + 1 < steps) start(exchange_, crew);
      turn(inner);
      square = anew ? square_at_start_ : next;
      crew.sync();
    }
    if (is_keeper(crew)) square_ = square, done_ = done;
  }

  /// The norm of the residual.
  [[nodiscard]] double result() const { return std::sqrt(square_); }

 private:
  void begin(row_range rows) {
    fill_rows(rows, 0, x_);
    fill_rows(rows, 1, r_);
    fill_rows(rows, 1, p_);
  }

  std::size_t rows_;
  field x_, r_, p_, q_;
  typename Peer::exchange exchange_;
  double square_at_start_, square_ = square_at_start_;
  long done_ = 0;
};

/// With `overlaps` the rows are under way during the work on the inner ones; without, they are awaited first.
template <class Peer, bool overlaps>
class heat {
 public:
  heat(Peer& by, shape whole)
      : comm_(by.comm()),
        own_(rows_of_rank(by.comm(), whole.rows)),
        fields_{field(count_of(own_), whole.columns, 0.5, 0),
                field(count_of(own_), whole.columns, 0.5, 1)},
        exchanges_{{{by, fields_[0]}, {by, fields_[1]}}} {
    for (std::size_t i = own_.first; i < own_.last; ++i) {
      double* const row = fields_[0].row(i - own_.first + 1);
      for (std::size_t j = 0; j < whole.columns; ++j) {
        row[j] = static_cast<double>((7 * i + 13 * j) % 17) / 17;
      }
    }
  }

  template <class Crew>
  void run(Crew& crew, long steps) {
    std::size_t now = now_;
    const std::size_t rows = count_of(own_);
    const row_range inner = inner_rows(rows, crew.member(), crew.members());
    begin_exchange(now, crew);
    for (long step = 0; step < steps; ++step, now = 1 - now) {
      if (is_keeper(crew)) {
        if (overlaps) exchanges_[now].await(crew);
        for_outer_rows(rows,
                       [&](row_range outer) { heat_rows(outer, fields_[now], fields_[1 - now]); });
      }
      if (step + 1 < steps) begin_exchange(1 - now, crew);
      heat_rows(inner, fields_[now], fields_[1 - now]);
      leave(exchanges_[now], crew);
      crew.sync();
    }
    if (is_keeper(crew)) now_ = now;
  }

  /// The sum of squares over the whole field. Collective.
  [[nodiscard]] double result() const {
    double own = 0, all = 0;
    for (std::size_t i = 1; i <= count_of(own_); ++i) {
      for (std::size_t j = 0; j < fields_[now_].columns(); ++j) {
        own += fields_[now_].row(i)[j] * fields_[now_].row(i)[j];
      }
    }
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, comm_);
    return all;
  }

 private:
  template <class Crew>
  void begin_exchange(std::size_t of, Crew& crew) {
    start(exchanges_[of], crew);
    if (!overlaps && is_keeper(crew)) exchanges_[of].await(crew);
  }

  MPI_Comm comm_;
  row_range own_;
  std::array<field, 2> fields_;
  std::array<typename Peer::exchange, 2> exchanges_;
  std::size_t now_ = 0;
};

/// A dot product in each step, of as many elements as the field has. Fixed: the sum whose bits do not depend on the numbers of ranks
/// and members, which only a crew with fixed_sum() has.
template <class Peer, bool is_fixed>
class dot {
 public:
  dot(Peer& by, shape whole)
      : own_(rows_of_rank(by.comm(), whole.rows * whole.columns)), x_(whole.rows * whole.columns) {
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = 1.0 / static_cast<double>(i + 1);
    y_.assign(x_.rbegin(), x_.rend());
  }

  template <class Crew>
  void run(Crew& crew, long steps) {
    double value = 0;
    const row_range part = block_of(count_of(own_), crew.member(), crew.members());
    for (long step = 0; step < steps; ++step) {
      if constexpr (is_fixed) {
        value = crew.fixed_sum(x_.size(), [&](std::size_t first, std::size_t last) {
          return dot_range(first, last, x_.data(), y_.data());
        });
      } else {
        value = crew.sum(
            dot_range(own_.first + part.first, own_.first + part.last, x_.data(), y_.data()));
      }
    }
    if (is_keeper(crew)) value_ = value;
  }

  [[nodiscard]] double result() const { return value_; }

 private:
  row_range own_;
  std::vector<double> x_, y_;
  double value_ = 0;
};

/// Nothing but a sum in each step: its latency.
template <class Peer>
class bare_sum {
 public:
  bare_sum(Peer&, shape) {}

  template <class Crew>
  void run(Crew& crew, long steps) {
    double value = 1;
    for (long step = 0; step < steps; ++step) value = crew.sum(step % 2 == 0 ? 1.0 : -value);
    if (is_keeper(crew)) value_ = value;
  }

  [[nodiscard]] double result() const { return value_; }

 private:
  double value_ = 0;
};

/// Nothing but a sync of the rank's members in each step.
template <class Peer>
class bare_sync {
 public:
  bare_sync(Peer&, shape) {}

  template <class Crew>
  void run(Crew& crew, long steps) {
    for (long step = 0; step < steps; ++step) crew.sync();
  }

  [[nodiscard]] double result() const { return 0; }
};

}  // namespace mpi_bench
