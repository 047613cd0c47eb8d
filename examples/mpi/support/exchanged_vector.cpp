// SPDX-License-Identifier: MIT
#include "mpi/support/exchanged_vector.hpp"

#include <algorithm>
#include <numeric>
#include <thread>

#include "mpi/support/ranks.hpp"

namespace examples {
namespace {

constexpr int tag_of_entries = 2;

/// Where the entries of each rank begin in a list that goes by ranks, as MPI wants it.
std::vector<int> begins_of(const std::vector<int>& counts) {
  std::vector<int> begins(counts.size(), 0);
  std::partial_sum(counts.begin(), counts.end() - 1, begins.begin() + 1);
  return begins;
}

}  // namespace

exchanged_vector::exchanged_vector(lockstep::mpi::world& world, const distributed_rows& rows)
    : values_(rows.own.unknowns() + rows.needed.size(), 0.0), own_(rows.own.unknowns()) {
  const std::size_t ranks = world.size();
  std::vector<int> wanted(ranks, 0), given(ranks, 0);
  auto next = rows.needed.begin();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t last = world.part_of(rows.unknowns, rank).last;
    const auto end = std::lower_bound(next, rows.needed.end(), last);
    const auto count = static_cast<std::size_t>(end - next);
    wanted[rank] = static_cast<int>(count);
    if (count > 0) {
      from_.push_back({rank, static_cast<std::size_t>(next - rows.needed.begin()), count});
    }
    next = end;
  }
  check_mpi(MPI_Alltoall(wanted.data(), 1, MPI_INT, given.data(), 1, MPI_INT, world.comm()),
            "MPI_Alltoall");
  const std::vector<int> wanted_begins = begins_of(wanted), given_begins = begins_of(given);
  sent_.resize(static_cast<std::size_t>(given_begins.back() + given.back()));
  check_mpi(
      MPI_Alltoallv(rows.needed.data(), wanted.data(), wanted_begins.data(), MPI_UINT32_T,
                    sent_.data(), given.data(), given_begins.data(), MPI_UINT32_T, world.comm()),
      "MPI_Alltoallv");
  for (std::uint32_t& entry : sent_) entry -= static_cast<std::uint32_t>(rows.first);
  packed_.resize(sent_.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (given[rank] == 0) continue;
    to_.push_back({rank, static_cast<std::size_t>(given_begins[rank]),
                   static_cast<std::size_t>(given[rank])});
  }
  make_requests(world.comm());
}

void exchanged_vector::make_requests(MPI_Comm comm) {
  requests_.reserve(from_.size() + to_.size());
  for (const span_of_rank& part : from_) {
    check_mpi(MPI_Recv_init(values_.data() + own_ + part.first, static_cast<int>(part.count),
                            MPI_DOUBLE, static_cast<int>(part.rank), tag_of_entries, comm,
                            &requests_.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Recv_init");
  }
  for (const span_of_rank& part : to_) {
    check_mpi(MPI_Send_init(packed_.data() + part.first, static_cast<int>(part.count), MPI_DOUBLE,
                            static_cast<int>(part.rank), tag_of_entries, comm,
                            &requests_.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Send_init");
  }
}

exchanged_vector::~exchanged_vector() {
  for (MPI_Request& request : requests_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

void exchanged_vector::start() {
  for (std::size_t k = 0; k < sent_.size(); ++k) packed_[k] = values_[sent_[k]];
  if (requests_.empty()) return;
  check_mpi(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
}

void exchanged_vector::finish() {
  // MPI_Waitall keeps the CPU that another rank may need to send.
  for (int is_complete = requests_.empty() ? 1 : 0; is_complete == 0;) {
    check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &is_complete,
                          MPI_STATUSES_IGNORE),
              "MPI_Testall");
    if (is_complete == 0) std::this_thread::yield();
  }
}

}  // namespace examples
