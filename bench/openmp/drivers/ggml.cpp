// SPDX-License-Identifier: MIT
// bench/openmp/drivers/ggml.cpp -- a small network of ggml: a region per graph, and a barrier after each of its nodes.
#include <ggml-cpu.h>
#include <ggml.h>

#include "openmp_case.hpp"

namespace {

class network {
 public:
  network(int width, int tokens, int layers) {
    const auto matrix = static_cast<std::size_t>(width) * static_cast<std::size_t>(width);
    ggml_init_params parameters{};
    parameters.mem_size = matrix * sizeof(float) * static_cast<std::size_t>(2 * layers + 4) +
                          static_cast<std::size_t>(width * tokens * layers) * 64 + (64u << 20);
    context_ = ggml_init(parameters);
    graph_ = ggml_new_graph(context_);
    ggml_tensor* x = filled(ggml_new_tensor_2d(context_, GGML_TYPE_F32, width, tokens));
    for (int i = 0; i < layers; ++i) {
      ggml_tensor* const up = filled(ggml_new_tensor_2d(context_, GGML_TYPE_F32, width, width));
      ggml_tensor* const down = filled(ggml_new_tensor_2d(context_, GGML_TYPE_F32, width, width));
      ggml_tensor* const normal = ggml_rms_norm(context_, x, 1e-5f);
      ggml_tensor* const inner = ggml_silu(context_, ggml_mul_mat(context_, up, normal));
      x = ggml_add(context_, x, ggml_mul_mat(context_, down, inner));
    }
    result_ = x;
    ggml_build_forward_expand(graph_, x);
  }
  network(const network&) = delete;
  network& operator=(const network&) = delete;
  ~network() { ggml_free(context_); }

  void compute(int threads) {
    ggml_cplan plan = ggml_graph_plan(graph_, threads, nullptr);
    work_.resize(plan.work_size);
    plan.work_data = work_.data();
    ggml_graph_compute(graph_, &plan);
  }

  std::vector<float> result() const {
    const float* const first = ggml_get_data_f32(result_);
    return std::vector<float>(first, first + ggml_nelements(result_));
  }

 private:
  ggml_tensor* filled(ggml_tensor* tensor) {
    float* const numbers = ggml_get_data_f32(tensor);
    for (std::int64_t i = 0; i < ggml_nelements(tensor); ++i) {
      seed_ = seed_ * 1664525u + 1013904223u;
      numbers[i] = (static_cast<float>(seed_ >> 8) * 0x1p-24f - 0.5f) * 0.1f;
    }
    return tensor;
  }

  std::uint32_t seed_ = 1;
  std::vector<std::uint8_t> work_;
  ggml_context* context_;
  ggml_cgraph* graph_;
  ggml_tensor* result_;
};

void measure(int width, int tokens, int repetitions) {
  network net(width, tokens, 12);
  const int threads = omp_get_max_threads();
  const openmp_case::times each = openmp_case::mean_of(repetitions, [&] { net.compute(threads); });
  openmp_case::print("width " + std::to_string(width) + ", tokens " + std::to_string(tokens),
                     openmp_case::bits_of(net.result()), each);
}

}  // namespace

int main() {
  ggml_cpu_init();
  measure(64, 1, 60);
  measure(256, 1, 60);
  measure(256, 8, 20);
  measure(512, 1, 20);
  openmp_case::print_runtime();
}
