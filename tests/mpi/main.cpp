// SPDX-License-Identifier: MIT
// tests/mpi/main.cpp -- main() of tests that run on several ranks
//
// All ranks run the same tests in the same order. Rank 0 prints what GoogleTest prints; the others their failures. The
// program fails on all ranks if a test failed on one.
#include <gtest/gtest.h>
#include <lockstep/mpi.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

/// Prints failures with the rank.
class failures_of_rank : public testing::EmptyTestEventListener {
 public:
  explicit failures_of_rank(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(),
                 result.message());
  }

 private:
  int rank_;
};

}  // namespace

int main(int count, char** arguments) {
  // LOCKSTEP_TEST_MPI_LEVEL: funneled or multiple, in place of serialized.
  const char* named = std::getenv("LOCKSTEP_TEST_MPI_LEVEL");
  const std::string asked = named != nullptr ? named : "serialized";
  int level = 0;
  MPI_Init_thread(&count, &arguments,
                  asked == "funneled"   ? MPI_THREAD_FUNNELED
                  : asked == "multiple" ? MPI_THREAD_MULTIPLE
                                        : MPI_THREAD_SERIALIZED,
                  &level);
  testing::InitGoogleTest(&count, arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new failures_of_rank(rank));
  }
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
