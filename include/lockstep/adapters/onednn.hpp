// SPDX-License-Identifier: MIT
// lockstep/adapters/onednn.hpp -- oneDNN's primitives on a team (layer: adapters)
//
//   lockstep::adapters::onednn_threadpool pool(team);
//   dnnl::stream stream = dnnl::threadpool_interop::make_stream(engine, &pool);
//   primitive.execute(stream, arguments);  // and so on, as without; returns when it is done
//
// It needs a oneDNN that was built with DNNL_CPU_RUNTIME=THREADPOOL. Distributions build it with OpenMP; such a oneDNN
// runs on the libgomp.so.1 of docs/openmp.md.
//
//   ONEDNN-1  parallel_for runs each part once, on the members of the team: the caller and those that are awake or
//          worth waking. A part does not wait for another one, so there may be more parts than members.
//   ONEDNN-2  If a part calls parallel_for, its thread runs the new parts alone: oneDNN sees that it is in parallel. A
//          member of the team in a region of the user's does the same.
//   ONEDNN-3  Threads outside of regions take turns, call by call.
//   ONEDNN-4  If parts throw, parallel_for throws what the lowest one threw, when all parts that had begun have ended.
//
// Order  what happens before parallel_for() happens before every part, and every part before its return.
// Errors a request_stop() of the team leaves parts out, without a message to oneDNN.
// Cost   a loop of a team for each call.
#ifndef LOCKSTEP_ADAPTERS_ONEDNN_HPP
#define LOCKSTEP_ADAPTERS_ONEDNN_HPP

#include <cstdint>
#include <functional>

#ifdef __has_include
#if !__has_include(<oneapi/dnnl/dnnl_threadpool_iface.hpp>)
#error \
    "lockstep: <lockstep/adapters/onednn.hpp> needs oneDNN's <oneapi/dnnl/dnnl_threadpool_iface.hpp>, which is not found: add oneDNN's directory, or link CMake's target DNNL::dnnl"
#endif
#endif
#include <oneapi/dnnl/dnnl_threadpool_iface.hpp>

#include <lockstep/team.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace adapters {

/// Gives oneDNN the threads of a team. The team outlives it.
class onednn_threadpool final : public dnnl::threadpool_interop::threadpool_iface {
 public:
  explicit onednn_threadpool(team& of) noexcept : team_(of) {}

  int get_num_threads() const override { return static_cast<int>(team_.size()); }
  bool get_in_parallel() const override { return current() == this; }
  std::uint64_t get_flags() const override { return 0; }  // parallel_for waits
  /// Later versions call it, for pools whose parallel_for does not wait.
  void wait() {}

  void parallel_for(int count, const std::function<void(int, int)>& part) override {
    const auto run = [&](int index) {
      const inside here(*this);
      part(index, count);
    };
    team_.for_each(0, count, run, grain(1));
  }

 private:
  static const onednn_threadpool*& current() noexcept {
    static thread_local const onednn_threadpool* pool = nullptr;
    return pool;
  }
  /// The calling thread runs a part.
  struct inside {
    explicit inside(const onednn_threadpool& pool) noexcept : before(current()) {
      current() = &pool;
    }
    ~inside() { current() = before; }
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;
    const onednn_threadpool* const before;
  };

  team& team_;
};

}  // namespace adapters
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_ADAPTERS_ONEDNN_HPP
