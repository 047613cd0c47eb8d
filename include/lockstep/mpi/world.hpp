// SPDX-License-Identifier: MIT
// lockstep/mpi/world.hpp -- the ranks of an MPI communicator and the members of their teams, as one (layer: mpi)
//
// world.run(team, f) runs f on all members of all ranks: a region of all ranks. In it the world has the constructs of
// member.hpp, for all members of all ranks. Each member passes itself as the first argument:
//
//     world.sync_threads(me)         world.sync_sum(me, x), sync_min, sync_max, sync_count, sync_and, sync_or
//     world.broadcast(me, root, x)   world.sync_reduce(me, x, op)
//     world.reduce_range(me, ...)    world.reduce_each(me, ...)
//
// The members of a rank meet by the team's barrier, and member 0 meets the other ranks. Ranks of one node meet in
// memory that they share, and sleep in long waits. Nodes meet by MPI's messages.
//
//   RANKS-1  All ranks make the same worlds, begin the same regions, and in a region all members of all ranks call the
//            same constructs of a world in the same order, with values of one type. A difference between ranks is found
//            where they meet: all of them throw std::logic_error, which names two ranks and their constructs.
//   RANKS-2  What happens before any member's arrival in a construct of a world happens before every return from it;
//            between ranks, for memory that they share and for what MPI orders by it.
//   RANKS-3  A region of all ranks ends on all. If request_stop ends it on one rank, it ends on the others at their
//            next construct with the world, or at the region's end: run() returns false on all. If an exception ends it
//            on one rank, run() throws that exception there. On the others it throws rank_failed, which names the rank.
//   RANKS-4  Values are combined in the order of ranks, and of members within a rank, with brackets that depend on the
//            number of members, ranks and nodes alone: the same bits on all ranks and in every run. reduce_range gives
//            the same bits for every number of members and ranks.
//   RANKS-5  If a rank dies, mpirun ends the other ranks of the program.
//
// MPI runs at a thread level (MPI_Init_thread). FUNNELED suffices for all of lockstep::mpi: the thread that initialised
// MPI makes the world and calls run(), so it is member 0, which calls MPI for the other members too (halo.hpp,
// world_plan.hpp). Another thread may not, even on one node, where meetings need no call of MPI. With SERIALIZED and
// MULTIPLE any thread runs regions, and any member starts halos and sends for nodes of graphs.
//
// Cost   a construct of a world: that of the team's construct, and the meeting of ranks. Two ranks of one node, each
//        with a CPU: 0.2 us. Several nodes: log2(nodes) messages in a row. Values above 16 bytes, and teams of more
//        than 8 members: one phase of the team more.
// Order  RANKS-2.
// Errors MPI not initialised, or finalised, or at MPI_THREAD_SINGLE; at FUNNELED, another thread: std::logic_error.
//        MPI_COMM_NULL: std::invalid_argument. Different calls on ranks: RANKS-1. MPI's errors: std::runtime_error.
// Example
//   int argc = 0;
//   char** argv = nullptr;
//   lockstep::mpi::world world(argc, argv);
//   lockstep::team team(world.options());
//   const double mine = 1.0 / static_cast<double>(world.size());
//   world.run(team, [&](lockstep::member& me) {
//     const double all = world.sync_sum(me, mine);
//     if (world.rank() == 0) me.masked([&] { std::printf("%g\n", all); });
//   });
//   const std::size_t n = 1000000;
//   const lockstep::index_range part = world.part_of(n);
//   const std::vector<double> x(part.last - part.first, 0.1);  // this rank's
//   world.run(team, [&](lockstep::member& me) {
//     const double sum = world.reduce_each(
//         me, std::size_t{0}, n, 0.0, [&](std::size_t i) { return x[i - part.first]; }, std::plus<double>());
//     me.masked([&] { std::printf("%g\n", sum); });
//   });
#ifndef LOCKSTEP_MPI_WORLD_HPP
#define LOCKSTEP_MPI_WORLD_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include <lockstep/detail/mpi/world_values.hpp>
#include <lockstep/team.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {
struct world_access;
}
}  // namespace detail
namespace mpi {

/// What run() throws where another rank's part of the region ended with an exception.
class rank_failed : public std::runtime_error {
 public:
  rank_failed(const char* message, std::size_t rank) : std::runtime_error(message), rank_(rank) {}
  std::size_t rank() const noexcept { return rank_; }

 private:
  std::size_t rank_;
};

/// The ranks of a communicator. One thread of each rank uses it, and the members of the region that it runs.
class world {
 public:
  using kinds = detail::mpi::world_construct;

  /// Collective: all ranks of `of` call it. It duplicates the communicator, so no message of lockstep meets one of the
  /// program. MPI is initialised before, and finalised after the world has ended.
  /// At most `ranks_per_node` ranks count as one node, even if more share its memory: for tests of what several nodes
  /// do, and where parts of a node shall meet by messages. 0: all that share memory.
  explicit world(MPI_Comm of = MPI_COMM_WORLD, std::size_t ranks_per_node = 0);
  /// For all ranks. Initialises MPI at MPI_THREAD_SERIALIZED, and finalises it when the world ends. Fails if MPI was
  /// initialised before.
  world(int& argc, char**& argv, std::size_t ranks_per_node = 0);
  /// Collective, except while an exception unwinds the stack: then this process has to end, and MPI ends the others.
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  std::size_t rank() const noexcept;
  std::size_t size() const noexcept;
  /// This rank's number in its node, the number of ranks of the node, and the number of nodes. If the ranks of a node
  /// are not neighbours in the world, each counts as a node of its own.
  std::size_t node_rank() const noexcept;
  std::size_t node_size() const noexcept;
  std::size_t nodes() const noexcept;
  /// The world's own communicator. Errors of calls with it come back as codes.
  MPI_Comm comm() const noexcept;
  /// The thread level of MPI.
  int thread_level() const noexcept;

  /// How many members this rank's team gets if the ranks of a node share the CPUs that they may run on. At least 1.
  std::size_t members() const noexcept;
  /// Options of such a team. LOCKSTEP_NUM_THREADS, if it is set, says how many members the team has.
  team_options options() const;
  /// The policy by which a rank with this many members waits for other ranks: the default, which knows whether the node
  /// is crowded then.
  wait_policy policy(std::size_t members) const noexcept;

  /// Runs f(member&), or f(), on all members of `on`, as part of a region of all ranks: RANKS-3. Collective. False if
  /// it was stopped. One region of a world at a time.
  template <class Function>
  bool run(team& on, Function&& f, call_site where = {}) {
    struct held {
      typename std::remove_reference<Function>::type& f;
      static void run(void* of, member& me) { call(static_cast<held*>(of)->f, me, 0); }
    } part = {f};
    return run_part(on, &part, held::run, where);
  }
  /// The lowest rank whose request_stop or exception ended the last region early; size() if it was not.
  std::size_t ended_by() const noexcept;

  // Constructs of all members of all ranks, in a region that run() began. Each member passes itself. In a stopped
  // region they do what those of member.hpp do: MEMBER-3.

  /// Blocks until every member of every rank has called it as often as this one.
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool sync_threads(member& me, call_site where = {}) {
    if (sync_threads_unless_stopped(me, where)) return true;
    detail::leave_stopped_region();
    return false;
  }
  /// The same; false once the region is stopped.
  LOCKSTEP_NODISCARD bool sync_threads_unless_stopped(member& me, call_site where = {}) {
    return detail::mpi::sync_members(*body_, at(me), where);
  }
  /// op over the values of all members, in the order of ranks, and of members within each rank.
  template <class Type, class Operation>
  Type sync_reduce(member& me, Type value, Operation op, call_site where = {}) {
    return reduce_members(me, kinds::sync_reduce, where, value, op);
  }
  template <class Type>
  Type sync_sum(member& me, Type value, call_site where = {}) {
    return reduce_members(me, kinds::sync_sum, where, value, plus());
  }
  template <class Type>
  Type sync_min(member& me, Type value, call_site where = {}) {
    return reduce_members(me, kinds::sync_min, where, value, minimum());
  }
  template <class Type>
  Type sync_max(member& me, Type value, call_site where = {}) {
    return reduce_members(me, kinds::sync_max, where, value, maximum());
  }
  /// How many members said true.
  std::size_t sync_count(member& me, bool condition, call_site where = {}) {
    return reduce_members<std::size_t>(me, kinds::sync_count, where, condition ? 1 : 0, plus());
  }
  /// Whether all members said true.
  bool sync_and(member& me, bool condition, call_site where = {}) {
    return sync_count(me, !condition, where) == 0;
  }
  /// Whether at least one member said true.
  bool sync_or(member& me, bool condition, call_site where = {}) {
    return sync_count(me, condition, where) != 0;
  }
  /// The value of member 0 of the rank `root`, on all members of all ranks.
  template <class Type>
  Type broadcast(member& me, std::size_t root, Type value, call_site where = {}) {
    return detail::mpi::broadcast_to_members<Type>(*body_, at(me), root, value, where);
  }

  /// op(init, all values of f(first, last) over parts of the range, in order), on all members of all ranks. The range
  /// is that of all ranks. On each rank its members call f for parts of part_of(last - first), counted from `first`, as
  /// in member::reduce_range. The bits are those of one process with one thread, for every number of ranks, members and
  /// schedule. Type is trivially copyable and has 448 bytes at most.
  /// Order  what happens before any member's call happens before every return, as in sync_threads(me).
  /// Errors ranges of different lengths on different ranks: std::invalid_argument on all. What f or op throws ends the
  ///        region on all ranks (RANKS-3).
  /// Cost   the rank's part of the work, and sync_sum(me, x) with about 0.2 kB for a double.
  template <class Type, class First, class Last, class Function, class Operation>
  detail::if_bounds<First, Last, Type> reduce_range(member& me, First first, Last last, Type init,
                                                    Function&& f, Operation op,
                                                    schedule how = static_schedule(),
                                                    call_site where = {}) {
    const auto span = detail::span_of(first, last);
    at(me).come_to("reduce_range(world)", where, detail::extent_of(span));
    return detail::mpi::reduce_leaves<detail::reductions::block_value>(*body_, at(me), span, f,
                                                                       init, op, how);
  }
  /// The same with f(i).
  template <class Type, class First, class Last, class Function, class Operation>
  detail::if_bounds<First, Last, Type> reduce_each(member& me, First first, Last last, Type init,
                                                   Function&& f, Operation op,
                                                   schedule how = static_schedule(),
                                                   call_site where = {}) {
    const auto span = detail::span_of(first, last);
    at(me).come_to("reduce_each(world)", where, detail::extent_of(span));
    return detail::mpi::reduce_leaves<detail::reductions::each_value>(*body_, at(me), span, f, init,
                                                                      op, how);
  }

  /// The part of [0, length) for which reduce_range calls f on this rank: whole leaves of the fixed tree, in the
  /// order of ranks, of about equal length. Empty where there are more ranks than leaves, 1024 at most.
  index_range part_of(std::size_t length) const noexcept { return part_of(length, rank()); }
  /// The part of another rank. Requires: rank < size().
  index_range part_of(std::size_t length, std::size_t rank) const noexcept;

  // Meetings of the ranks with one value from each, by one thread of each, outside of regions. Collective.

  /// Blocks until all ranks have called it.
  void sync();
  /// op over the values of all ranks, in their order.
  template <class Type, class Operation>
  Type sync_reduce(Type value, Operation op) {
    return reduce("sync_reduce", kinds::sync_reduce, value, op);
  }
  template <class Type>
  Type sync_sum(Type value) {
    return reduce("sync_sum", kinds::sync_sum, value, plus());
  }
  template <class Type>
  Type sync_min(Type value) {
    return reduce("sync_min", kinds::sync_min, value, minimum());
  }
  template <class Type>
  Type sync_max(Type value) {
    return reduce("sync_max", kinds::sync_max, value, maximum());
  }
  /// The value of rank `root`. Fails if root >= size().
  template <class Type>
  Type broadcast(std::size_t root, Type value) {
    detail::mpi::check_travels<Type>();
    check_root(root);
    detail::mpi::sent_value<Type> sent = {value, rank() == root};
    meet("broadcast", kinds::broadcast, static_cast<std::uint32_t>(root), &sent, sizeof sent,
         detail::mpi::sent_value<Type>::combine());
    return sent.value;
  }

 private:
  friend struct detail::mpi::world_access;

  static detail::member_state& at(const member& me) noexcept {
    return detail::member_access::state_of(me);
  }
  template <class Type, class Operation>
  Type reduce_members(member& me, kinds kind, call_site where, const Type& value, Operation op) {
    return detail::mpi::reduce_members<Type>(*body_, at(me), kind, where, value, op);
  }

  template <class Function>
  static auto call(Function& f, member& me, int) -> decltype(static_cast<void>(f(me))) {
    static_cast<void>(f(me));
  }
  template <class Function>
  static auto call(Function& f, member&, long) -> decltype(static_cast<void>(f())) {
    static_cast<void>(f());
  }

  template <class Type, class Operation>
  Type reduce(const char* function, kinds kind, Type value, Operation op) {
    detail::mpi::check_travels<Type>();
    meet(function, kind, 0, &value, sizeof value,
         detail::mpi::combine_of<Type, Operation>::with(op));
    return value;
  }
  bool run_part(team& on, void* f, void (*runs)(void* f, member& me), call_site where);
  void meet(const char* function, kinds kind, std::uint32_t argument, void* value,
            std::size_t bytes, const detail::mpi::world_combine& combine);
  void check_root(std::size_t root) const;

  detail::owner<detail::mpi::world_body> body_;
};

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MPI_WORLD_HPP
