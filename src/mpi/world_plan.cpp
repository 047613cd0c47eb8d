// SPDX-License-Identifier: MIT
// src/mpi/world_plan.cpp -- mpi/world_plan.hpp, and the messages of a rank's part (layer: mpi)
//
// Both ends of a message have `slots` buffers, with a persistent request each. The user's bytes are copied into one and
// out of the other. So MPI does not use the user's memory, and receives are always posted before their message comes.
//
//   CHAN-1  The next message of an edge goes into the buffer that was used longest ago, once that has been sent. The
//           other end receives it into the buffer of the same number. MPI keeps messages of one tag in order.
//   CHAN-2  A run begins and ends with a meeting of all ranks (world_core.hpp). If it ended early, messages that were
//           sent and not received are received then, and dropped (early_ends.hpp, all ranks are peers). So between runs
//           nothing is on its way, and all receives are posted.
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  looking.exchange    acquire  2      one thread at a time tests the requests of the run
//   2  looking.store       release  1      the other half
//   3  failed.compare_exch relaxed  -      it is read after the run, and the end of the run orders it (PLAN-1)
//   4  failed.store        relaxed  -      between runs
//   5  failed.load         relaxed  -      after the run
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/mpi/world_plan.hpp>

#include "early_ends.hpp"
#include "rank_part.hpp"
#include "world_region.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// One end of a message, with its buffers.
struct graph_channel {
  bool sends = false;
  std::size_t bytes = 0;
  std::vector<char> room;
  std::vector<MPI_Request> requests;
  std::uint64_t count = 0;  ///< messages that were sent, or received

  std::size_t next() const noexcept { return static_cast<std::size_t>(count % requests.size()); }
  char* place(std::size_t slot) noexcept { return room.data() + slot * bytes; }
};

class graph_channels final : public graph_transport, public messages_beside {
 public:
  /// Both outlive the channels.
  graph_channels(const communicator& ranks, part_state& state) noexcept
      : ranks_(ranks), state_(state), ends_(ranks) {}
  /// Before the first run, once all ranks have agreed. `local`: this rank's plan, which an early end stops.
  void open(const graph_split& split, plan& local) {
    local_ = &local;
    number_of_.assign(split.messages.size(), 0);
    check_tags(static_cast<std::size_t>(early_ends::first_tag) + split.messages.size());
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      if (r != ranks_.rank()) ends_.add_peer(static_cast<int>(r));
    }
    for (std::uint32_t m = 0; m < split.messages.size(); ++m) {
      const graph_message& each = split.messages[m];
      if (each.is_local()) continue;
      if (each.from_rank == ranks_.rank() || each.to_rank == ranks_.rank()) connect(m, each);
    }
  }
  ~graph_channels() {
    if (!is_active() || exceptions_in_flight() != 0) return;
    const call_permit permit(ranks_.level(), ranks_.who());
    for (graph_channel& each : channels_) {
      for (MPI_Request& request : each.requests) {
        if (request == MPI_REQUEST_NULL) continue;
        if (!each.sends) MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
      }
    }
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
  /// One thread at a time looks; others return at once.
  void look() noexcept override {
    if (looking_.exchange(1, memory_order_acquire) != 0) return;  // 1
    bool has_left = false;
    ends_.look(has_left);
    looking_.store(0, memory_order_release);  // 2
    if (has_left) end_early();
  }
  /// Ends the run on this rank, and so on all.
  void request_stop() { end_early(); }

  // --- a run, by its caller ---

  void begin() noexcept {
    failed_.store(no_node, memory_order_relaxed);  // 4
    state_.begin();
  }
  /// This rank's part is over. If that is early, sends word to the others. Returns its note for the meeting of all.
  meeting_note end(rank_state how) {
    if (how == rank_state::has_ended && state_.has_ended()) how = rank_state::was_stopped;
    if (how != rank_state::has_ended) leave();
    are_sent_ = channels_.empty();
    const bool has_failed = how == rank_state::has_failed;
    const node_index node = has_failed ? failed_.load(memory_order_relaxed) : 0;  // 5
    return {how, world_construct::run_of_plan, 0, node};
  }
  bool is_under_way() const noexcept override { return !are_sent_ || ends_.is_leaving(); }
  void progress() noexcept override {
    ends_.push_words();
    const call_permit permit(ranks_.level(), ranks_.who());
    are_sent_ = true;
    for (graph_channel& each : channels_) {
      int flag = 1;
      if (each.sends) {
        MPI_Testall(static_cast<int>(each.requests.size()), each.requests.data(), &flag,
                    MPI_STATUSES_IGNORE);
      }
      are_sent_ = are_sent_ && flag != 0;
    }
  }
  /// Requires: all ranks know that the run has ended early.
  void settle() {
    leave();
    ends_.settle([this](std::size_t c, std::uint32_t sent) {
      graph_channel& from = channels_[c];
      for (; static_cast<std::uint32_t>(from.count) != sent; ++from.count) {
        MPI_Request& request = from.requests[from.next()];
        ranks_.await(request);
        start(request);
      }
    });
    for (graph_channel& each : channels_) {
      if (each.sends) ranks_.await(each.requests.size(), each.requests.data());
    }
  }

 private:
  /// Whether waits have to end. To keep the wait itself fast, it looks only once in 16 calls.
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

  void leave() {
    ends_.leave([this](std::size_t c) { return static_cast<std::uint32_t>(channels_[c].count); });
  }
  void end_early() noexcept {
    state_.end();
    if (local_ != nullptr) local_->request_stop();
  }

  // --- requests ---

  void connect(std::uint32_t number, const graph_message& of) {
    graph_channel made;
    made.sends = of.from_rank == ranks_.rank();
    made.bytes = of.bytes;
    made.room.assign(slots * of.bytes, 0);
    made.requests.assign(slots, MPI_REQUEST_NULL);
    const int tag = early_ends::first_tag + static_cast<int>(number),
              other = static_cast<int>(made.sends ? of.to_rank : of.from_rank),
              bytes = static_cast<int>(of.bytes);
    ends_.add_way(made.sends, other, tag, channels_.size());
    number_of_[number] = channels_.size();
    channels_.push_back(std::move(made));
    graph_channel& each = channels_.back();
    for (std::size_t slot = 0; slot < slots; ++slot) {
      ranks_.begin("MPI_Send_init or MPI_Recv_init", [&] {
        return each.sends ? MPI_Send_init(each.place(slot), bytes, MPI_BYTE, other, tag,
                                          ranks_.comm(), &each.requests[slot])
                          : MPI_Recv_init(each.place(slot), bytes, MPI_BYTE, other, tag,
                                          ranks_.comm(), &each.requests[slot]);
      });
      if (!each.sends) start(each.requests[slot]);
    }
  }
  void start(MPI_Request& request) const {
    ranks_.begin("MPI_Start", [&] { return MPI_Start(&request); });
  }
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
        ranks_.who(), needed - early_ends::first_tag, limit - early_ends::first_tag);
  }

  const communicator& ranks_;
  part_state& state_;
  plan* local_ = nullptr;
  std::vector<graph_channel> channels_;
  std::vector<std::size_t> number_of_;  ///< of each message: its channel
  early_ends ends_;
  bool are_sent_ = true;  ///< all messages have gone, by the last progress()
  detail::atomic<std::uint32_t> looking_{0};
  detail::atomic<node_index> failed_{no_node};
};

/// A graph across ranks, and which member of this rank's team runs which of its nodes when.
class world_plan_body {
 public:
  world_plan_body(const lockstep::mpi::world_graph& of, const lockstep::mpi::world& ranks, team& on,
                  call_site where)
      : world_(world_access::body_of(ranks)),
        policy_(ranks.policy(on.size())),
        ranks_(ranks.comm(), ranks.thread_level(), policy_, "lockstep::mpi::world_plan"),
        graph_(world_graph_access::placed(of)),
        body_(world_graph_access::body_of(of)),
        changes_(body_.changes),
        channels_(ranks_, state_) {
    ranks_.agree(own_problem());
    compare();
    split_ = split_of(graph_, ranks_.size());
    if (!split_.problem.empty()) ranks_.refuse(split_.problem);  // the same on all ranks
    state_.answers.assign(graph_.nodes->nodes.size(), 0);
    functions_.reset(new rank_functions(split_, body_.functions, state_, channels_));
    const node_index at = ranks_.level() == MPI_THREAD_FUNNELED ? 0 : no_node;
    const rank_part own = part_of_rank(graph_, split_, ranks_.rank());
    local_graph_ = graph_of(own, *functions_, at);
    ranks_.agree(make_local(on, where));
    channels_.open(split_, *local_);
    world_.core.add(channels_);
  }
  ~world_plan_body() { world_.core.remove(channels_); }
  world_plan_body(const world_plan_body&) = delete;
  world_plan_body& operator=(const world_plan_body&) = delete;

  bool run(std::size_t iterations) {
    if (body_.changes != changes_) {  // on all ranks, as all build the same graph
      fail_use("lockstep::mpi::world_plan::run: the graph has changed; make a new plan of it");
    }
    if (!begin(iterations)) return false;
    const meeting_record met = run_and_end(
        // A rank without nodes is ready at once.
        [&] { return local_graph_.size() == 0 || local_->run(iterations); },
        [&](rank_state how) { return end(how); });
    if (met.state == rank_state::has_failed && met.note.argument < graph_.nodes->nodes.size()) {
      fail_rank(met.rank, ", in the node " + quoted(*graph_.nodes, met.note.argument));
    }
    return outcome_of(met);
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
  /// A problem that only this rank can see.
  std::string own_problem() const {
    for (const edge_bytes& each : graph_.data) {
      const model_edge& edge = graph_.nodes->edges[each.edge];
      const bool reads = graph_.rank_of[edge.from] == ranks_.rank(),
                 writes = graph_.rank_of[edge.to] == ranks_.rank();
      const bool is_source_missing = reads && each.source == nullptr && each.bytes > 0,
                 is_target_missing = writes && each.target == nullptr && each.bytes > 0;
      if (!is_source_missing && !is_target_missing) continue;
      return std::string("the edge from ") + quoted(*graph_.nodes, edge.from) + " to " +
             quoted(*graph_.nodes, edge.to) + " carries " + std::to_string(each.bytes) +
             " bytes, and its " + (is_source_missing ? "source" : "target") +
             " is a null pointer there";
    }
    return std::string();
  }

  /// Fails on all ranks unless all have the same graph.
  void compare() {
    const std::string own = lines_of(graph_);
    const std::string difference = difference_of(own, ranks_.rank(), ranks_.broadcast(0, own), 0);
    ranks_.agree(difference.empty() ? difference
                                    : "the graph differs from that of rank 0: " + difference);
  }

  /// Makes this rank's plan. Returns what was wrong.
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

  /// False if a rank's run of something else has ended early. Fails on all if the numbers of iterations differ.
  bool begin(std::size_t iterations) {
    const std::uint64_t all = iterations;
    const meeting_note note = {rank_state::goes_on, world_construct::run_of_plan, 0,
                               static_cast<std::uint32_t>(all ^ all >> 32)};
    const meeting_record met = world_.core.meet(note, nullptr, world_combine(), policy_);
    if (met.state != rank_state::goes_on) return outcome_of(met);
    channels_.begin();
    return true;
  }
  /// Collective: all ranks have ended the run when it returns.
  meeting_record end(rank_state how) {
    const meeting_note note = channels_.end(how);
    const meeting_record met = world_.core.meet(note, nullptr, world_combine(), policy_);
    if (met.state > rank_state::differs) channels_.settle();
    return met;
  }

  world_body& world_;
  const wait_policy policy_;
  communicator ranks_;
  const placed_graph graph_;
  const graph_body& body_;
  const std::uint64_t changes_;  ///< of the graph, when the plan was made
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
