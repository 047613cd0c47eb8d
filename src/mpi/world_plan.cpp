// SPDX-License-Identifier: MIT
// src/mpi/world_plan.cpp -- mpi/world_plan.hpp, and the messages of a rank's part (layer: mpi)
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
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/mpi/world_plan.hpp>

#include "communicator.hpp"
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
  /// Both outlive the channels.
  graph_channels(const communicator& ranks, part_state& state) noexcept
      : ranks_(ranks), state_(state) {}
  /// Once all that they need has been agreed on, before the first run. `local`: what a run ends with.
  void open(const graph_split& split, plan& local) {
    local_ = &local;
    number_of_.assign(split.messages.size(), 0);
    check_tags(2 * split.messages.size());
    tags_ = static_cast<int>(split.messages.size());
    for (std::uint32_t m = 0; m < split.messages.size(); ++m) {
      const graph_message& each = split.messages[m];
      if (each.is_local()) continue;
      if (each.from_rank == ranks_.rank() || each.to_rank == ranks_.rank()) add(m, each);
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
    if (local_ != nullptr) local_->request_stop();
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
    ranks_.await(notes.size(), notes.data());
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
      ranks_.await(each.requests.size(), each.requests.data());
    }
    ranks_.await(words.size(), words.data());
  }

  // --- requests ---

  void add(std::uint32_t number, const graph_message& of) {
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
    fail_argument(
        "%s: the graph has %zu messages between ranks, and this MPI library has tags for %zu",
        ranks_.who(), needed / 2, limit / 2);
  }

  const communicator& ranks_;
  part_state& state_;
  plan* local_ = nullptr;
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

/// A graph across ranks, and which member of this rank's team runs which of its nodes when.
class world_plan_body {
 public:
  world_plan_body(const lockstep::mpi::world_graph& of, const lockstep::mpi::world& ranks, team& on,
                  call_site where)
      : ranks_(ranks.comm(), ranks.thread_level(), ranks.policy(on.size()),
               "lockstep::mpi::world_plan"),
        graph_(world_graph_access::placed(of)),
        channels_(ranks_, state_) {
    ranks_.agree(own_problem());
    compare();
    split_ = split_of(graph_, ranks_.size());
    if (!split_.problem.empty()) ranks_.refuse(split_.problem);  // the same on all ranks
    make_room(state_, split_, ranks_.rank(), graph_.nodes->nodes.size());
    functions_.reset(
        new rank_functions(split_, world_graph_access::functions(of), state_, channels_));
    const node_index at = ranks_.level() == MPI_THREAD_FUNNELED ? 0 : no_node;
    const rank_part own = part_of_rank(graph_, split_, ranks_.rank());
    local_graph_ = graph_of(own, *functions_, at);
    ranks_.agree(make_local(on, where));
    channels_.open(split_, *local_);
  }

  bool run(std::size_t iterations) {
    channels_.begin(iterations);
    bool is_complete = false;
#if LOCKSTEP_HAS_EXCEPTIONS
    std::exception_ptr thrown;
    try {
      is_complete = run_part(iterations);
    } catch (...) {
      thrown = std::current_exception();
    }
    const run_report report = channels_.end(is_complete, static_cast<bool>(thrown));
    if (thrown) std::rethrow_exception(thrown);
#else
    is_complete = run_part(iterations);
    const run_report report = channels_.end(is_complete, false);
#endif
    if (report.is_complete()) return true;
    return outcome(report);
  }

  void request_stop() { channels_.request_stop(); }

  const plan& part() const noexcept { return *local_; }
  std::size_t messages() const noexcept {
    std::size_t count = 0;
    for (const graph_message& each : split_.messages) {
      const bool is_own = each.from_rank == ranks_.rank() || each.to_rank == ranks_.rank();
      count += is_own && !each.is_local() ? 1 : 0;
    }
    return count;
  }

 private:
  /// What only this rank can see.
  std::string own_problem() const {
    for (const edge_bytes& each : graph_.data) {
      const auto& feedbacks = graph_.nodes->feedbacks;
      const auto& edges = graph_.nodes->edges;
      const node_index from =
                           each.is_feedback ? feedbacks[each.index].from : edges[each.index].from,
                       to = each.is_feedback ? feedbacks[each.index].to : edges[each.index].to;
      const bool reads = graph_.rank_of[from] == ranks_.rank(),
                 writes = graph_.rank_of[to] == ranks_.rank();
      const bool is_source_missing = reads && each.source == nullptr && each.bytes > 0,
                 is_target_missing = writes && each.target == nullptr && each.bytes > 0;
      if (!is_source_missing && !is_target_missing) continue;
      return std::string("the edge from ") + quoted(*graph_.nodes, from) + " to " +
             quoted(*graph_.nodes, to) + " carries " + std::to_string(each.bytes) +
             " bytes, and its " + (is_source_missing ? "source" : "target") +
             " is a null pointer there";
    }
    return std::string();
  }

  /// Fails on all ranks unless all have the same graph.
  void compare() {
    const std::vector<std::string> own = lines_of(graph_);
    const std::uint64_t hash = hash_of(own);
    std::int64_t halves[4] = {static_cast<std::int64_t>(hash >> 32),
                              static_cast<std::int64_t>(hash & 0xFFFFFFFFu), 0, 0};
    halves[2] = -halves[0];
    halves[3] = -halves[1];
    ranks_.combine(halves, 4, MPI_MIN);
    if (halves[0] == -halves[2] && halves[1] == -halves[3]) return;
    std::string text;
    for (const std::string& each : own) text += each + '\n';
    text = ranks_.broadcast(0, text);
    std::vector<std::string> first;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      first.push_back(text.substr(begin, end - begin));
    }
    const std::string difference = difference_of(own, ranks_.rank(), first, 0);
    ranks_.agree(difference.empty() ? difference
                                    : "the graph differs from that of rank 0: " + difference);
  }

  /// What was wrong.
  std::string make_local(team& on, call_site where) {
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      local_.reset(new plan(local_graph_, on, where));
    } catch (const std::exception& wrong) {
      return wrong.what();
    }
#else
    local_.reset(new plan(local_graph_, on, where));
#endif
    return std::string();
  }

  /// A rank without nodes is ready at once.
  bool run_part(std::size_t iterations) {
    return local_graph_.size() == 0 || local_->run(iterations);
  }

  /// What run() returns or throws where another rank ended it.
  bool outcome(const run_report& report) const {
    if (report.iterations != -report.minus_iterations) {
      fail_argument("%s::run: one rank was asked for %lld iterations, another for %lld",
                    ranks_.who(), static_cast<long long>(report.iterations),
                    static_cast<long long>(-report.minus_iterations));
    }
    if (report.failed == run_report::none) return false;
    const std::int64_t nodes = static_cast<std::int64_t>(graph_.nodes->nodes.size()) + 1;
    const std::int64_t rank = report.failed / nodes, node = report.failed % nodes;
    std::string text = std::string(ranks_.who()) + "::run: an exception ended the run on rank " +
                       std::to_string(rank);
    if (node + 1 < nodes) {
      text += ", in the node " + quoted(*graph_.nodes, static_cast<node_index>(node));
    }
#if LOCKSTEP_HAS_EXCEPTIONS
    throw lockstep::mpi::rank_failed(text.c_str(), static_cast<std::size_t>(rank));
#else
    print_and_abort(text.c_str());
#endif
  }

  communicator ranks_;
  const placed_graph graph_;
  graph_split split_;
  part_state state_;
  graph_channels channels_;
  std::unique_ptr<rank_functions> functions_;
  graph local_graph_;
  std::unique_ptr<plan> local_;
};

}  // namespace mpi
}  // namespace detail

namespace mpi {

LOCKSTEP_INLINE world_plan::world_plan(const world_graph& of, const world& ranks, team& on,
                                       call_site where)
    : body_(new detail::mpi::world_plan_body(of, ranks, on, where)) {}
LOCKSTEP_INLINE world_plan::~world_plan() = default;
LOCKSTEP_INLINE bool world_plan::run(std::size_t iterations) { return body_->run(iterations); }
LOCKSTEP_INLINE void world_plan::request_stop() { body_->request_stop(); }
LOCKSTEP_INLINE const plan& world_plan::part() const noexcept { return body_->part(); }
LOCKSTEP_INLINE std::size_t world_plan::messages() const noexcept { return body_->messages(); }

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
