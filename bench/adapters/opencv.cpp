// SPDX-License-Identifier: MIT
// A Gaussian blur of a picture of 640 x 480 in colour: opencv lockstep|own THREADS.
#include <lockstep/adapters/opencv.hpp>

#include <cstdlib>
#include <cstring>

#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>

#include "sample.hpp"

int main(int, char** arguments) {
  const int threads = std::atoi(arguments[2]);
  const bool is_ours = std::strcmp(arguments[1], "lockstep") == 0;
  lockstep::team team(is_ours ? static_cast<std::size_t>(threads) : 1);
  if (is_ours) {
    cv::parallel::setParallelForBackend(std::make_shared<lockstep::adapters::opencv_backend>(team));
  }
  cv::setNumThreads(threads);
  cv::Mat in(480, 640, CV_8UC3), out;
  cv::RNG(1).fill(in, cv::RNG::UNIFORM, 0, 256);
  print_sample(150, [&] { cv::GaussianBlur(in, out, {9, 9}, 2.0); });
}
