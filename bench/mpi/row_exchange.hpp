// SPDX-License-Identifier: MIT
// bench/mpi/row_exchange.hpp -- sends a field's outer rows to the ranks above and below, by persistent requests
//
// What the kernels ask of an exchange, by all members of a rank for each exchange:
//   start(crew), await(crew)   by the keeper: start sends the outer rows of the field and receives its neighbours' rows; await
//                              returns when they are there and the own rows may be changed again
//   join(crew), leave(crew)    by the other members, which have no part in the exchange: here it does nothing
#pragma once

#include <mpi.h>

#include <array>

#include "mpi/field.hpp"

namespace mpi_bench {

class row_exchange {
 public:
  template <class Peer>
  row_exchange(Peer& by, field& of) {
    const MPI_Comm comm = by.comm();
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int below = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    const int count = static_cast<int>(of.columns());
    const std::size_t last = of.rows();
    MPI_Recv_init(of.row(0), count, MPI_DOUBLE, above, 0, comm, &requests_[0]);
    MPI_Recv_init(of.row(last + 1), count, MPI_DOUBLE, below, 1, comm, &requests_[1]);
    MPI_Send_init(of.row(1), count, MPI_DOUBLE, above, 1, comm, &requests_[2]);
    MPI_Send_init(of.row(last), count, MPI_DOUBLE, below, 0, comm, &requests_[3]);
  }
  row_exchange(const row_exchange&) = delete;
  row_exchange& operator=(const row_exchange&) = delete;
  ~row_exchange() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  template <class Crew>
  void start(Crew&) {
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
  }
  template <class Crew>
  void await(Crew&) {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  template <class Crew>
  void join(Crew&) {}
  template <class Crew>
  void leave(Crew&) {}

 protected:
  std::array<MPI_Request, 4> requests_;
};

}  // namespace mpi_bench
