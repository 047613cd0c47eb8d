// SPDX-License-Identifier: MIT
// lockstep/detail/mpi/world_construct.hpp -- what ranks meet for (layer: mpi)
#ifndef LOCKSTEP_DETAIL_MPI_WORLD_CONSTRUCT_HPP
#define LOCKSTEP_DETAIL_MPI_WORLD_CONSTRUCT_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// The constructs, for messages.
enum class world_construct : std::uint8_t {
  end_of_region,
  sync_threads,
  sync_reduce,
  sync_sum,
  sync_min,
  sync_max,
  sync_count,
  broadcast,
  reduce_range,
  run_of_plan
};

inline const char* text_of(world_construct which) noexcept {
  constexpr const char* texts[] = {"the end of its region",
                                   "sync_threads",
                                   "sync_reduce",
                                   "sync_sum",
                                   "sync_min",
                                   "sync_max",
                                   "sync_count",
                                   "broadcast",
                                   "reduce_range",
                                   "world_plan::run"};
  return texts[static_cast<std::size_t>(which)];
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_MPI_WORLD_CONSTRUCT_HPP
