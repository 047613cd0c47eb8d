// SPDX-License-Identifier: MIT
// src/mpi/graph_channels.hpp -- the messages of a graph's part as persistent MPI requests (layer: mpi)
//
// A message has `slots` buffers, and one more for each iteration of its delay, on both ends, with a persistent request
// each. The user's bytes are copied into one and out of the other. So nothing that the user writes is on its way, and
// receives are always posted before their message comes.
//
//   CHAN-1  The next message of an edge goes into the buffer that was used longest ago, when that was sent; it is
//           received into the same one of the other end. MPI keeps messages of one tag in order.
//   CHAN-2  A rank whose run ends early says so to all others, when its own nodes have returned. Ranks that wait for a
//           message look for that.
//   CHAN-3  A run ends with a meeting of all ranks. After one that ended early, messages that were sent and not received
//           are received and dropped. So between runs nothing is on its way, and all receives are posted.
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  looking.exchange    acquire  2      one thread at a time tests the requests of the run
//   2  looking.store       release  1      the other half
//   3  failed.compare_exch relaxed  -      read after the run, whose end orders it (PLAN-1)
//   4  failed.store        relaxed  -      between runs
//   5  failed.load         relaxed  -      after the run
#ifndef LOCKSTEP_SRC_MPI_GRAPH_CHANNELS_HPP
#define LOCKSTEP_SRC_MPI_GRAPH_CHANNELS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/plan.hpp>
#include "graph_ranks.hpp"
#include "rank_graph.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// What a rank says of its run, and what all of them say together: the least of each.
struct run_report {
  static constexpr std::int64_t none = (std::numeric_limits<std::int64_t>::max)();

  std::int64_t failed = none;   ///< the rank times (nodes + 1), and the node; the lowest of all
  std::int64_t stopped = none;  ///< the lowest rank that was asked to stop
  std::int64_t iterations = 0, minus_iterations = 0;

  bool is_complete() const noexcept {
    return failed == none && stopped == none && iterations == -minus_iterations;
  }
};

/// One end of a message, with its buffers.
struct graph_channel {
  bool sends = false;
  std::uint32_t message = 0;
  int other = 0;
  std::size_t bytes = 0;
  std::vector<char> room;
  std::vector<MPI_Request> requests;
  std::uint64_t count = 0;  ///< messages that were sent, or received

  std::size_t next() const noexcept { return static_cast<std::size_t>(count % requests.size()); }
  char* place(std::size_t slot) noexcept { return room.data() + slot * bytes; }
};

class graph_channels final : public graph_transport {
 public:
  /// All of them outlive the channels.
  graph_channels(const graph_ranks& ranks, const graph_split& plan, part_state& state)
      : ranks_(ranks), state_(state), number_of_(plan.messages.size(), 0) {
    check_tags(2 * plan.messages.size());
    tags_ = static_cast<int>(plan.messages.size());
    for (std::uint32_t m = 0; m < plan.messages.size(); ++m) {
      const graph_message& each = plan.messages[m];
      if (each.is_local()) continue;
      if (each.from_rank == ranks.rank() || each.to_rank == ranks.rank()) open(m, each);
    }
    for (graph_channel& each : channels_) connect(each);
    ranks_.begin("MPI_Recv_init", [&] {
      return MPI_Recv_init(&word_, 1, MPI_INT, MPI_ANY_SOURCE, word_tag(), ranks_.comm(), &told_);
    });
    start(told_);
  }
  ~graph_channels() {
    if (!is_active() || exceptions_in_flight() != 0) return;
    const call_permit permit(ranks_.level(), ranks_.who());
    for (graph_channel& each : channels_) {
      for (MPI_Request& request : each.requests) release(request, !each.sends);
    }
    release(told_, true);
  }

  /// What a run ends with. Requires: set before the first run.
  plan* local = nullptr;

  bool send(std::size_t message, const void* bytes) override {
    graph_channel& to = channels_[number_of_[message]];
    const std::size_t slot = to.next();
    if (!ranks_.await(1, &to.requests[slot], early_end{*this})) return false;
    if (to.bytes > 0) std::memcpy(to.place(slot), bytes, to.bytes);
    start(to.requests[slot]);
    ++to.count;
    return true;
  }
  bool receive(std::size_t message, void* bytes) override {
    graph_channel& from = channels_[number_of_[message]];
    const std::size_t slot = from.next();
    if (!ranks_.await(1, &from.requests[slot], early_end{*this})) return false;
    if (from.bytes > 0) std::memcpy(bytes, from.place(slot), from.bytes);
    start(from.requests[slot]);
    ++from.count;
    return true;
  }
  void fail(node_index node) override {
    std::uint32_t nobody = no_node;
    failed_.compare_exchange_strong(nobody, node, memory_order_relaxed,  // 3
                                    memory_order_relaxed);               // 3
    end_early();
  }
  /// CHAN-2. One thread at a time; the others go on.
  void look() noexcept override {
    if (looking_.exchange(1, memory_order_acquire) != 0) return;  // 1
    int has_come = 0;
    {
      const call_permit permit(ranks_.level(), ranks_.who());
      if (!was_told_) MPI_Test(&told_, &has_come, MPI_STATUS_IGNORE);
      if (begun_ != MPI_REQUEST_NULL) {
        int all_have_begun = 0;
        MPI_Test(&begun_, &all_have_begun, MPI_STATUS_IGNORE);
      }
    }
    was_told_ = was_told_ || has_come != 0;
    const bool is_over = was_told_ || has_other_counts();
    looking_.store(0, memory_order_release);  // 2
    if (is_over) end_early();
  }
  /// Of this rank, and so of all.
  void request_stop() { end_early(); }

  // --- a run, by its caller ---

  /// Collective, and does not wait for the others.
  void begin(std::size_t iterations) {
    failed_.store(no_node, memory_order_relaxed);  // 4
    was_told_ = false;
    counts_[0] = static_cast<std::int64_t>(iterations);
    counts_[1] = -counts_[0];
    state_.begin(iterations);
    ranks_.begin("MPI_Iallreduce", [&] {
      return MPI_Iallreduce(MPI_IN_PLACE, counts_, 2, MPI_INT64_T, MPI_MIN, ranks_.comm(), &begun_);
    });
  }
  /// Collective: all ranks have ended the run when it returns. `is_complete`: this rank's part. `has_thrown`: a node,
  /// or a message.
  run_report end(bool is_complete, bool has_thrown) {
    const bool is_first = (!is_complete || state_.has_ended()) && !was_told_ && !has_other_counts();
    const bool ends_others = is_first || has_thrown;
    std::vector<MPI_Request> words;
    if (ends_others) words = tell_all();
    ranks_.await(begun_);
    run_report report;
    const std::int64_t node = std::int64_t{failed_.load(memory_order_relaxed)};  // 5
    const std::int64_t nodes = static_cast<std::int64_t>(state_.answers.size()) + 1;
    if (has_thrown) report.failed = ranks_.rank() * nodes + (node < nodes ? node : nodes - 1);
    if (ends_others && !has_thrown) report.stopped = ranks_.rank();
    report.iterations = counts_[0];
    report.minus_iterations = counts_[1];
    std::int64_t values[2] = {report.failed, report.stopped};
    ranks_.combine(values, 2, MPI_MIN);
    report.failed = values[0];
    report.stopped = values[1];
    if (!report.is_complete()) clean_up(ends_others, words);
    return report;
  }

 private:
  /// Whether nobody may wait any more. Looks every few times only: the wait itself is what should be fast.
  struct early_end {
    graph_channels& of;
    mutable unsigned looks = 0;

    explicit early_end(graph_channels& all) noexcept : of(all) {}
    bool requested() const noexcept {
      constexpr unsigned often = 16;
      if (++looks % often == 0) of.look();
      return of.state_.has_ended();
    }
  };

  /// Whether ranks were asked for different numbers of iterations, as far as is known.
  bool has_other_counts() const noexcept {
    return begun_ == MPI_REQUEST_NULL && counts_[0] != -counts_[1];
  }
  void end_early() noexcept {
    state_.end();
    if (local != nullptr) local->request_stop();
  }

  std::vector<MPI_Request> tell_all() {
    std::vector<MPI_Request> words(ranks_.size(), MPI_REQUEST_NULL);
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      if (r == ranks_.rank()) continue;
      ranks_.begin("MPI_Isend", [&] {
        return MPI_Isend(&sent_word_, 1, MPI_INT, static_cast<int>(r), word_tag(), ranks_.comm(),
                         &words[r]);
      });
    }
    return words;
  }

  /// CHAN-3.
  void clean_up(bool has_told, std::vector<MPI_Request>& words) {
    std::int64_t left = has_told ? 1 : 0;
    ranks_.combine(&left, 1, MPI_SUM);
    left -= has_told ? 1 : 0;
    for (; left > 0; --left) {
      if (!was_told_) ranks_.await(told_);
      was_told_ = false;
      start(told_);
    }
    std::vector<std::uint64_t> counts(channels_.size());
    std::vector<MPI_Request> notes(channels_.size(), MPI_REQUEST_NULL);
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      graph_channel& each = channels_[c];
      counts[c] = each.count;
      const int tag = tags_ + static_cast<int>(each.message);
      ranks_.begin("MPI_Isend or MPI_Irecv", [&] {
        return each.sends ? MPI_Isend(&counts[c], 1, MPI_UINT64_T, each.other, tag, ranks_.comm(),
                                      &notes[c])
                          : MPI_Irecv(&counts[c], 1, MPI_UINT64_T, each.other, tag, ranks_.comm(),
                                      &notes[c]);
      });
    }
    ranks_.await(static_cast<int>(notes.size()), notes.data());
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      graph_channel& each = channels_[c];
      while (!each.sends && each.count < counts[c]) {
        const std::size_t slot = each.next();
        ranks_.await(each.requests[slot]);
        start(each.requests[slot]);
        ++each.count;
      }
    }
    for (graph_channel& each : channels_) {
      if (!each.sends) continue;
      ranks_.await(static_cast<int>(each.requests.size()), each.requests.data());
    }
    ranks_.await(static_cast<int>(words.size()), words.data());
  }

  // --- requests ---

  void open(std::uint32_t number, const graph_message& of) {
    graph_channel made;
    made.sends = of.from_rank == ranks_.rank();
    made.message = number;
    made.other = static_cast<int>(made.sends ? of.to_rank : of.from_rank);
    made.bytes = of.bytes;
    const std::size_t places = std::size_t{of.delay} + slots;
    made.room.assign(places * of.bytes, 0);
    made.requests.assign(places, MPI_REQUEST_NULL);
    number_of_[number] = channels_.size();
    channels_.push_back(std::move(made));
  }
  /// When they lie where they stay.
  void connect(graph_channel& each) {
    for (std::size_t slot = 0; slot < each.requests.size(); ++slot) {
      const int bytes = static_cast<int>(each.bytes), tag = static_cast<int>(each.message);
      ranks_.begin("MPI_Send_init or MPI_Recv_init", [&] {
        return each.sends ? MPI_Send_init(each.place(slot), bytes, MPI_BYTE, each.other, tag,
                                          ranks_.comm(), &each.requests[slot])
                          : MPI_Recv_init(each.place(slot), bytes, MPI_BYTE, each.other, tag,
                                          ranks_.comm(), &each.requests[slot]);
      });
      if (!each.sends) start(each.requests[slot]);
    }
  }
  void start(MPI_Request& request) const {
    ranks_.begin("MPI_Start", [&] { return MPI_Start(&request); });
  }
  /// The permit is held.
  static void release(MPI_Request& request, bool is_receive) noexcept {
    if (request == MPI_REQUEST_NULL) return;
    if (is_receive) MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }

  int word_tag() const noexcept { return 2 * tags_; }
  void check_tags(std::size_t needed) const {
    int* most = nullptr;
    int is_known = 0;
    ranks_.begin("MPI_Comm_get_attr", [&] {
      return MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&most), &is_known);
    });
    constexpr std::size_t at_least = 32767;
    const std::size_t limit = is_known != 0 ? static_cast<std::size_t>(*most) : at_least;
    if (needed <= limit) return;
    const std::string text =
        std::string(ranks_.who()) + ": the graph has " + std::to_string(needed / 2) +
        " messages between ranks, and this MPI library has tags for " + std::to_string(limit / 2);
    fail_argument(text.c_str());
  }

  const graph_ranks& ranks_;
  part_state& state_;
  std::vector<graph_channel> channels_;
  std::vector<std::size_t> number_of_;  ///< of each message: its channel
  int tags_ = 0;

  MPI_Request told_ = MPI_REQUEST_NULL;  ///< that another rank's run has ended early
  MPI_Request begun_ =
      MPI_REQUEST_NULL;  ///< all ranks have begun the run, and how many iterations they were asked for
  std::int64_t counts_[2] = {0, 0};
  int word_ = 0;
  int sent_word_ = 0;
  bool was_told_ = false;
  detail::atomic<std::uint32_t> looking_{0};
  detail::atomic<node_index> failed_{no_node};
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_GRAPH_CHANNELS_HPP
