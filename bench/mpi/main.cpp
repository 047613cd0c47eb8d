// SPDX-License-Identifier: MIT
// bench/mpi/main.cpp -- measures works of one contender, which LOCKSTEP_BENCH_PEER names, and prints JSON
//
// usage: mpirun -n RANKS PROGRAM --threads N --samples N --seconds S WORK:ROWSxCOLUMNS...
//
// Of each work, rank 0 prints its result after 10 steps, and for each sample the wall time of a step and the CPU time of all
// ranks in a step. run.py starts it.
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/kernels.hpp"
#include LOCKSTEP_BENCH_PEER

namespace {

using namespace mpi_bench;

constexpr long checked_steps = 10;

struct options {
  std::size_t threads = 1, samples = 3;
  double seconds = 0.02;
  std::vector<std::string> works;
};

struct sample {
  double wall_us, cpu_us;
};

options parse(int argc, char** argv) {
  options result;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name.rfind("--", 0) != 0) {
      result.works.push_back(name);
      continue;
    }
    if (i + 1 == argc) throw std::invalid_argument(name + ": a value is missing");
    const char* value = argv[++i];
    if (name == "--threads") {
      result.threads = std::stoul(value);
    } else if (name == "--samples") {
      result.samples = std::stoul(value);
    } else if (name == "--seconds") {
      result.seconds = std::stod(value);
    } else {
      throw std::invalid_argument(name + ": not an option");
    }
  }
  if (result.threads == 0) throw std::invalid_argument("--threads: at least 1");
  return result;
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Of `steps` steps, as rank 0 saw them. All begin together; the steps themselves keep them together, and no barrier of MPI is
/// counted, which takes 8 ms where ranks poll in a crowd.
template <class Kernel>
sample measured(peer& by, Kernel& kernel, long steps) {
  by.meet();
  const double cpu = cpu_seconds(), start = MPI_Wtime();
  by.region([&](auto& crew) { kernel.run(crew, steps); });
  const double wall = MPI_Wtime() - start, own = cpu_seconds() - cpu;
  double all = 0;
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, by.comm());
  return {1e6 * wall / static_cast<double>(steps), 1e6 * all / static_cast<double>(steps)};
}

/// How many steps take about so long, the same on all ranks. Rank 0 decides.
long steps_for(peer& by, double seconds, double step_us) {
  long steps = static_cast<long>(std::clamp(1e6 * seconds / std::max(step_us, 1e-6), 2.0, 1e6));
  MPI_Bcast(&steps, 1, MPI_LONG, 0, by.comm());
  return steps;
}

/// Runs unmeasured for a quarter of a sample at least, in runs that become longer, and returns the steps of a sample. The shortest
/// time of a step counts: a run that was disturbed would make samples of a few steps.
template <class Kernel>
long warm_up(peer& by, Kernel& kernel, double seconds, double step_us) {
  for (double spent = 0; spent < seconds / 4;) {
    const long steps = steps_for(by, seconds / 16, step_us);
    const double found = measured(by, kernel, steps).wall_us;
    spent += 1e-6 * found * static_cast<double>(steps);
    MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, by.comm());
    step_us = std::min(step_us, found);
  }
  return steps_for(by, seconds, step_us);
}

template <class Kernel>
void measure(peer& by, const options& wanted, const std::string& name, shape size, bool is_first) {
  Kernel kernel(by, size);
  const double first = measured(by, kernel, checked_steps).wall_us;
  const double result = kernel.result();
  const long steps = warm_up(by, kernel, wanted.seconds, first);
  std::vector<sample> samples;
  for (std::size_t i = 0; i < wanted.samples; ++i) samples.push_back(measured(by, kernel, steps));
  int rank = 0;
  MPI_Comm_rank(by.comm(), &rank);
  if (rank != 0) return;
  std::printf("%s\n {\"work\": \"%s\", \"steps\": %ld, \"result\": %.17g, \"samples\": [",
              is_first ? "" : ",", name.c_str(), steps, result);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::printf("%s[%.6g, %.6g]", i == 0 ? "" : ", ", samples[i].wall_us, samples[i].cpu_us);
  }
  std::printf("]}");
}

using measure_function = void (*)(peer&, const options&, const std::string&, shape, bool);
struct work {
  const char* name;
  measure_function measure;
};

/// None where the contender has no such sum.
constexpr measure_function fixed_dot() {
  if constexpr (peer::has_fixed_sum) {
    return measure<dot<peer, true>>;
  } else {
    return nullptr;
  }
}

constexpr std::array works{
    work{"jacobi", measure<jacobi<peer>>},   work{"cg", measure<conjugate_gradients<peer>>},
    work{"heat", measure<heat<peer, true>>}, work{"heat_in_turns", measure<heat<peer, false>>},
    work{"dot", measure<dot<peer, false>>},  work{"dot_fixed", fixed_dot()},
    work{"sum", measure<bare_sum<peer>>},    work{"sync", measure<bare_sync<peer>>},
};

/// The system takes up to a tenth of a second to spread threads over the CPUs.
void spread(peer& by, double seconds) {
  jacobi<peer> kernel(by, {256, 64});
  for (double spent = 0; spent < seconds;) {
    spent += 5e-6 * measured(by, kernel, 5).wall_us;
    MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, by.comm());
  }
}

void run(peer& by, const options& wanted) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(by.comm(), &rank);
  MPI_Comm_size(by.comm(), &ranks);
  if (rank == 0) {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
    int length = 0;
    MPI_Get_library_version(version.data(), &length);
    std::string text(version.data());
    text = text.substr(0, text.find_first_of(",\n"));
    std::replace(text.begin(), text.end(), '\t', ' ');
    std::printf("{\"mpi\": \"%s\", \"compiler\": \"%s\", \"runtime\": \"%s\", \"cells\": [",
                text.c_str(), __VERSION__, peer::runtime().c_str());
  }
  spread(by, std::min(0.1, 5 * wanted.seconds));
  bool is_first = true;
  for (const std::string& text : wanted.works) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string name = text.substr(0, colon);
    shape size{0, 0};
    if (colon < text.size()) {
      std::sscanf(text.c_str() + colon, ":%zux%zu", &size.rows, &size.columns);
      if (size.rows < 2 * static_cast<std::size_t>(ranks) || size.columns == 0) {
        throw std::invalid_argument(text + ": ROWSxCOLUMNS with at least two rows for each rank");
      }
    }
    const auto* const found =
        std::find_if(works.begin(), works.end(), [&](const work& one) { return name == one.name; });
    if (found == works.end() || found->measure == nullptr) {
      throw std::invalid_argument(text + ": this program has no such work");
    }
    found->measure(by, wanted, text, size, is_first);
    is_first = false;
  }
  if (rank == 0) std::printf("\n]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const options wanted = parse(argc, argv);
    peer by(argc, argv, wanted.threads);
    try {
      run(by, wanted);
    } catch (const std::exception& error) {  // on all ranks, or the others would wait for this one
      std::fprintf(stderr, "error: %s\n", error.what());
      MPI_Abort(by.comm(), 1);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
