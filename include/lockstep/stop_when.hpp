// SPDX-License-Identifier: MIT
// lockstep/stop_when.hpp -- a std::stop_token stops what runs on a team (layer: team)
//
// A request on the token calls request_stop() of the target, on the thread that makes the request. Targets:
//   member                      its region, also if the request came before this object was made. One member's object is
//                               enough as long as it lives. If members end at different times, each makes one.
//   team, external_team, plan   the region or run of the moment of the request. A request between regions stops
//                               nothing, and one that comes while a region begins may miss it. So look at the token
//                               before each region, or use a member.
// For C++20, where the standard library has std::stop_token; elsewhere the class is incomplete.
//
// Order  as for request_stop(): what the region did is ordered by its end, as always.
// Errors none. The destructor waits until a request is passed on completely, as that of std::stop_callback.
// Cost   that of a std::stop_callback; it allocates nothing.
// Example for C++20
//   lockstep::team team(4);
//   std::stop_source source;
//   team.run([&](lockstep::member& me) {
//     lockstep::stop_when over(source.get_token(), me);  // this region ends early when the source is requested to stop
//     if (me.rank() == 0) source.request_stop();
//     me.sync_threads();
//   });
#ifndef LOCKSTEP_STOP_WHEN_HPP
#define LOCKSTEP_STOP_WHEN_HPP

#include <lockstep/detail/platform/config.hpp>

#if __cplusplus >= 202002L
#include <version>
#endif

#if defined(__cpp_lib_jthread)
#include <stop_token>
#include <utility>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Incomplete where there is no std::stop_token.
template <class Target>
class stop_when;

#if defined(__cpp_lib_jthread)

/// As long as it lives, it passes each stop request of the token on to the target. The target must live as long.
template <class Target>
class stop_when {
 public:
  stop_when(std::stop_token token, Target& target)
      : callback_(std::move(token), request{&target}) {}
  stop_when(const stop_when&) = delete;
  stop_when& operator=(const stop_when&) = delete;

 private:
  struct request {
    Target* target;
    void operator()() const { target->request_stop(); }
  };

  std::stop_callback<request> callback_;
};

#endif

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_STOP_WHEN_HPP
