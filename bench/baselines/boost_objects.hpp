// SPDX-License-Identifier: MIT
// bench/baselines/boost_objects.hpp -- Boost.Thread's barrier; its mutex and condition variable are those
// of the C library, which are measured anyway
#pragma once

// Without this, every wait would be a point where threads can be interrupted, and needs a library.
#define BOOST_THREAD_DONT_PROVIDE_INTERRUPTIONS
#include <boost/thread/barrier.hpp>
#include <cstddef>
#include <string_view>

namespace bench {

struct boost_objects {
  static constexpr std::string_view name = "boost";

  class barrier {
   public:
    explicit barrier(std::size_t participants) : all_(static_cast<unsigned>(participants)) {}
    bool arrive_and_wait(std::size_t) {
      all_.count_down_and_wait();
      return true;
    }

   private:
    boost::barrier all_;
  };
};

}  // namespace bench
