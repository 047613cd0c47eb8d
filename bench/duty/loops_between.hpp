// SPDX-License-Identifier: MIT
// bench/duty/loops_between.hpp -- the works of loops between other things, for one peer
#pragma once

#include <string>

#include "duty/duty_works.hpp"
#include "periodic/periodic_works.hpp"
#include "serial/serial_works.hpp"
#include "team/catalogue.hpp"
#include "team/settled.hpp"

namespace team_bench {

/// As settled, but warmed up for milliseconds only: request::seconds bounds a sample here.
template <class Peer>
class settled_for_cells : public settled<Peer> {
 public:
  explicit settled_for_cells(const request& wanted) : settled<Peer>(briefly(wanted)) {}

 private:
  static request briefly(request wanted) {
    wanted.seconds = 0.005;
    return wanted;
  }
};

template <class Peer>
void add_loops_between(catalogue& to, const std::string& peer) {
  to.push_back({"duty", peer, measure_duty<settled_for_cells<Peer>>, true});
  to.push_back({"serial", peer, measure_serial<settled_for_cells<Peer>>, true});
  to.push_back({"periodic", peer, measure_periodic<settled_for_cells<Peer>>, true});
}

}  // namespace team_bench
