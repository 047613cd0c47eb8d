// SPDX-License-Identifier: MIT
// bench/team/openmp_constructs.hpp -- OpenMP's constructs, each so many times, for their overheads
#pragma once

#include <omp.h>

#include <cstddef>

#include "team/kernels.hpp"
#include "team/overheads.hpp"

namespace team_bench::openmp {

inline void parallel(const overhead_setup& with, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
#pragma omp parallel num_threads(static_cast<int>(with.threads))
    delay(with.rounds);
  }
}

inline void loop(const overhead_setup& with, std::size_t times) {
#pragma omp parallel num_threads(static_cast<int>(with.threads))
  for (std::size_t i = 0; i < times; ++i) {
#pragma omp for
    for (std::size_t j = 0; j < with.threads; ++j) delay(with.rounds);
  }
}

inline void parallel_loop(const overhead_setup& with, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
#pragma omp parallel for num_threads(static_cast<int>(with.threads))
    for (std::size_t j = 0; j < with.threads; ++j) delay(with.rounds);
  }
}

inline void barrier(const overhead_setup& with, std::size_t times) {
#pragma omp parallel num_threads(static_cast<int>(with.threads))
  for (std::size_t i = 0; i < times; ++i) {
    delay(with.rounds);
#pragma omp barrier
  }
}

inline void single(const overhead_setup& with, std::size_t times) {
#pragma omp parallel num_threads(static_cast<int>(with.threads))
  for (std::size_t i = 0; i < times; ++i) {
#pragma omp single
    delay(with.rounds);
  }
}

inline void critical(const overhead_setup& with, std::size_t times) {
#pragma omp parallel num_threads(static_cast<int>(with.threads))
  for (std::size_t i = 0; i < times / with.threads; ++i) {
#pragma omp critical(team_bench_critical)
    delay(with.rounds);
  }
}

inline void lock_unlock(const overhead_setup& with, std::size_t times) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(static_cast<int>(with.threads))
  for (std::size_t i = 0; i < times / with.threads; ++i) {
    omp_set_lock(&lock);
    delay(with.rounds);
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
}

inline void ordered(const overhead_setup& with, std::size_t times) {
#pragma omp parallel for ordered schedule(static, 1) num_threads(static_cast<int>(with.threads))
  for (std::size_t i = 0; i < times; ++i) {
#pragma omp ordered
    delay(with.rounds);
  }
}

inline void atomic(const overhead_setup& with, std::size_t times) {
  double sum = 0;
#pragma omp parallel num_threads(static_cast<int>(with.threads))
  for (std::size_t i = 0; i < times / with.threads; ++i) {
#pragma omp atomic
    sum += 1;
  }
  asm volatile("" : "+m"(sum));
}

inline void reduction(const overhead_setup& with, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
    double sum = 0;
#pragma omp parallel reduction(+ : sum) num_threads(static_cast<int>(with.threads))
    {
      delay(with.rounds);
      sum += 1;
    }
    asm volatile("" : "+m"(sum));
  }
}

inline void static_loop(const overhead_setup& with, std::size_t times) {
  const std::size_t last = with.iterations * with.threads;
  const int chunk = static_cast<int>(with.chunk);
#pragma omp parallel num_threads(static_cast<int>(with.threads))
  for (std::size_t i = 0; i < times; ++i) {
    if (chunk == 0) {
#pragma omp for schedule(static)
      for (std::size_t j = 0; j < last; ++j) delay(with.rounds);
    } else {
#pragma omp for schedule(static, chunk)
      for (std::size_t j = 0; j < last; ++j) delay(with.rounds);
    }
  }
}

inline void dynamic_loop(const overhead_setup& with, std::size_t times) {
  const std::size_t last = with.iterations * with.threads;
  const int chunk = with.chunk == 0 ? 1 : static_cast<int>(with.chunk);
#pragma omp parallel num_threads(static_cast<int>(with.threads))
  for (std::size_t i = 0; i < times; ++i) {
#pragma omp for schedule(dynamic, chunk)
    for (std::size_t j = 0; j < last; ++j) delay(with.rounds);
  }
}

inline void guided_loop(const overhead_setup& with, std::size_t times) {
  const std::size_t last = with.iterations * with.threads;
  const int chunk = with.chunk == 0 ? 1 : static_cast<int>(with.chunk);
#pragma omp parallel num_threads(static_cast<int>(with.threads))
  for (std::size_t i = 0; i < times; ++i) {
#pragma omp for schedule(guided, chunk)
    for (std::size_t j = 0; j < last; ++j) delay(with.rounds);
  }
}

}  // namespace team_bench::openmp
