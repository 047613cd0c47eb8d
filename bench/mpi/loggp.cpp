// SPDX-License-Identifier: MIT
// bench/mpi/loggp.cpp -- the parameters of the LogGP model between two ranks, by MPI's own calls
//
// usage: mpirun -n 2 PROGRAM
//
//   o_send   a sender's time in MPI_Isend, of 8 bytes, while the receives are posted already
//   o_recv   a receiver's time in MPI_Recv, of a message that came long ago
//   one_way  half of a ping-pong, by size; L is that of 8 bytes less o_send and o_recv
//   g        the time between messages of 8 bytes when a burst is sent, from the first send to the last receive
//   G        the time of a further byte: the burst's time between messages of 2 KiB less that of 8 bytes, by the bytes
//
// Each is the median of 15 samples, in microseconds. [HMLR07] finds the overheads by
// delays instead, and so counts what the library does outside of these calls as well.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

constexpr int burst = 64, samples = 15, ping_pongs = 1000;
constexpr std::array<int, 6> sizes{8, 128, 1024, 4096, 16384, 65536};

struct ranks {
  int own;
  [[nodiscard]] bool is_sender() const { return own == 0; }
  [[nodiscard]] int other() const { return 1 - own; }
};

template <class Function>
double median_of(Function&& sample) {
  std::array<double, samples> found{};
  sample();  // warm
  for (double& one : found) one = sample();
  std::nth_element(found.begin(), found.begin() + samples / 2, found.end());
  return found[samples / 2];
}

double one_way_us(ranks by, std::vector<char>& data, int size) {
  return median_of([&] {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < ping_pongs; ++i) {
      if (by.is_sender()) MPI_Send(data.data(), size, MPI_CHAR, by.other(), 0, MPI_COMM_WORLD);
      MPI_Recv(data.data(), size, MPI_CHAR, by.other(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!by.is_sender()) MPI_Send(data.data(), size, MPI_CHAR, by.other(), 0, MPI_COMM_WORLD);
    }
    return 1e6 * (MPI_Wtime() - start) / (2.0 * ping_pongs);
  });
}

struct burst_times {
  double posting, whole;  // of a message
};

/// As the sender sees it: its time in the calls of MPI_Isend, and that until the receiver has said that it has all.
burst_times one_burst(ranks by, std::vector<char>& data, int size) {
  std::array<MPI_Request, burst> requests{};
  if (!by.is_sender()) {
    for (int i = 0; i < burst; ++i) {
      MPI_Irecv(data.data() + static_cast<std::ptrdiff_t>(i) * size, size, MPI_CHAR, by.other(), 1,
                MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  double posted = start;
  if (by.is_sender()) {
    for (int i = 0; i < burst; ++i) {
      MPI_Isend(data.data() + static_cast<std::ptrdiff_t>(i) * size, size, MPI_CHAR, by.other(), 1,
                MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
    }
    posted = MPI_Wtime();
  }
  MPI_Waitall(burst, requests.data(), MPI_STATUSES_IGNORE);
  char done = 0;
  if (by.is_sender()) {
    MPI_Recv(&done, 1, MPI_CHAR, by.other(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&done, 1, MPI_CHAR, by.other(), 2, MPI_COMM_WORLD);
  }
  return {1e6 * (posted - start) / burst, 1e6 * (MPI_Wtime() - start) / burst};
}

double receive_us(ranks by, std::vector<char>& data) {
  return median_of([&] {
    if (by.is_sender()) {
      for (int i = 0; i < burst; ++i)
        MPI_Send(data.data(), 8, MPI_CHAR, by.other(), 3, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);  // its messages come after all the others
    const double start = MPI_Wtime();
    if (!by.is_sender()) {
      for (int i = 0; i < burst; ++i) {
        MPI_Recv(data.data(), 8, MPI_CHAR, by.other(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    double found = 1e6 * (MPI_Wtime() - start) / burst;
    MPI_Bcast(&found, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    return found;
  });
}

void measure(ranks by) {
  std::vector<char> data(static_cast<std::size_t>(sizes.back()) * 8);
  std::array<double, sizes.size()> one_way{};
  for (std::size_t i = 0; i < sizes.size(); ++i) one_way[i] = one_way_us(by, data, sizes[i]);
  const double o_send = median_of([&] { return one_burst(by, data, 8).posting; });
  const double o_recv = receive_us(by, data);
  const double g = median_of([&] { return one_burst(by, data, 8).whole; });
  const double large = median_of([&] { return one_burst(by, data, 2048).whole; });
  if (!by.is_sender()) return;
  std::printf(
      "{\"o_send\": %.5g, \"o_recv\": %.5g, \"L\": %.5g, \"g\": %.5g, \"G\": %.5g, \"one_way\": {",
      o_send, o_recv, std::max(0.0, one_way[0] - o_send - o_recv), g,
      std::max(0.0, large - g) / (2048 - 8));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::printf("%s\"%d\": %.5g", i == 0 ? "" : ", ", sizes[i], one_way[i]);
  }
  std::printf("}}\n");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  ranks by{0};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &by.own);
  if (size == 2) {
    measure(by);
  } else if (by.own == 0) {
    std::fprintf(stderr, "error: loggp is for two ranks, not %d\n", size);
  }
  MPI_Finalize();
  return size == 2 ? 0 : 1;
}
