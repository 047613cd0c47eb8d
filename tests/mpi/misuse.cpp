// SPDX-License-Identifier: MIT
// tests/mpi/misuse.cpp -- wrong ways to use a world: each ends with a message, which CMakeLists.txt looks for
//
//   misuse HOW
#include <lockstep/mpi.hpp>

#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

namespace {

bool sends_fail = false;

}  // namespace

/// MPI lets programs put their own calls in place of its own.
extern "C" int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm ranks, MPI_Request* request) {
  if (sends_fail) return MPI_ERR_OTHER;
  return PMPI_Isend(bytes, count, type, to, tag, ranks, request);
}

namespace {

int argument_count = 0;
char** arguments = nullptr;

void begin_mpi(int level) {
  int provided = 0;
  MPI_Init_thread(&argument_count, &arguments, level, &provided);
}

/// What another thread than the one that began MPI says.
template <class Function>
void on_another_thread(Function f) {
  std::exception_ptr error;
  std::thread other([&] {
    try {
      f();
    } catch (...) {
      error = std::current_exception();
    }
  });
  other.join();
  if (error) std::rethrow_exception(error);
}

void run(const char* how) {
  const auto is = [&](const char* name) { return std::strcmp(how, name) == 0; };
  if (is("before_init")) {
    lockstep::mpi::world early;
  } else if (is("after_finalize")) {
    begin_mpi(MPI_THREAD_SERIALIZED);
    MPI_Finalize();
    lockstep::mpi::world late;
  } else if (is("single")) {
    begin_mpi(MPI_THREAD_SINGLE);
    lockstep::mpi::world plain;
  } else if (is("funneled_elsewhere")) {
    begin_mpi(MPI_THREAD_FUNNELED);
    lockstep::mpi::world ranks(MPI_COMM_WORLD, 1);
    on_another_thread([&] { ranks.sync(); });
  } else if (is("funneled_run")) {
    begin_mpi(MPI_THREAD_FUNNELED);
    lockstep::mpi::world ranks;
    on_another_thread([&] {
      lockstep::team two(2);
      ranks.run(two, [&](lockstep::member& me) { ranks.sync_threads(me); });
    });
  } else if (is("funneled_world")) {
    begin_mpi(MPI_THREAD_FUNNELED);
    on_another_thread([] { lockstep::mpi::world ranks; });
  } else if (is("halo_under_way")) {
    begin_mpi(MPI_THREAD_SERIALIZED);
    lockstep::mpi::world ranks;
    lockstep::team one(1);
    double cells[4] = {};
    const lockstep::mpi::decomposition<1> cut(ranks.size(), {2 * ranks.size()}, {true});
    lockstep::mpi::halo ghosts(ranks, one, cut.neighbours(ranks.rank(), cells, 1));
    ranks.run(one, [&](lockstep::member& me) { ghosts.publish(me); });
  } else if (
      is("stuck")) {  // rank 1 comes to no meeting: MPI ends it when the watchdog ends rank 0
    begin_mpi(MPI_THREAD_SERIALIZED);
    lockstep::mpi::world ranks;
    if (ranks.rank() == 1) MPI_Recv(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    lockstep::team two(2);
    ranks.run(two, [&](lockstep::member& me) { ranks.sync_sum(me, 1); });
  } else if (is("end_fails")) {  // rank 0 cannot tell rank 1 that its node has thrown
    begin_mpi(MPI_THREAD_SERIALIZED);
    lockstep::mpi::world ranks;
    lockstep::team one(1);
    lockstep::mpi::world_graph g;
    const auto first = g.node(0, "first", [] {
      sends_fail = true;
      throw std::logic_error("the node's own");
    });
    g.edge(first, g.node(1, "second", [] {}));
    lockstep::mpi::world_plan plan(g, ranks, one);
    plan.run();
  } else if (is("members_differ")) {
    begin_mpi(MPI_THREAD_SERIALIZED);
    lockstep::mpi::world ranks;
    lockstep::team two(2);
    ranks.run(two, [&](lockstep::member& me) {
      if (me.rank() == 0) {
        ranks.sync_sum(me, 1);
      } else {
        ranks.sync_max(me, 1);
      }
    });
  }
}

}  // namespace

int main(int count, char** values) {
  argument_count = count;
  arguments = values;
  try {
    run(values[1]);
    std::puts("nothing was refused");
  } catch (const std::exception& error) {
    std::puts(error.what());
  }
  std::fflush(stdout);
  int has_begun = 0, has_ended = 0;
  MPI_Initialized(&has_begun);
  MPI_Finalized(&has_ended);
  if (has_begun != 0 && has_ended == 0) MPI_Abort(MPI_COMM_WORLD, 3);  // the others may wait
  return 3;
}
