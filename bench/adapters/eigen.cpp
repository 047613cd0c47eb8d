// SPDX-License-Identifier: MIT
// A contraction of two tensors of 256 x 256, and an expression of 256 x 256: eigen lockstep|own THREADS.
#define EIGEN_USE_THREADS
#include <lockstep/adapters/eigen.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>

#include <unsupported/Eigen/CXX11/Tensor>

#include "sample.hpp"

int main(int, char** arguments) {
  const int threads = std::atoi(arguments[2]);
  std::unique_ptr<Eigen::ThreadPoolInterface> pool;
  if (std::strcmp(arguments[1], "lockstep") == 0) {
    pool.reset(new lockstep::adapters::eigen_pool(threads));
  } else {
    pool.reset(new Eigen::ThreadPool(threads));
  }
  const Eigen::ThreadPoolDevice device(pool.get(), threads);
  Eigen::Tensor<float, 2> a(256, 256), b(256, 256), c(256, 256), d(256, 256), e(256, 256);
  a.setConstant(1), b.setConstant(2), c.setZero(), d.setConstant(1), e.setZero();
  const Eigen::array<Eigen::IndexPair<int>, 1> product = {Eigen::IndexPair<int>(1, 0)};
  print_sample(150, [&] {
    c.device(device) = a.contract(b, product);
    e.device(device) = d * 2.0F + d;
  });
}
