// SPDX-License-Identifier: MIT
// src/team/team_reductions.cpp -- reductions and scans that are a region by themselves (layer: team)
//
// A reduction's tree (reduction_tree.hpp) is cut across at one level into nodes; each is computed by whichever thread
// runs that part of the loop, and the caller combines them when the loop is done. Into how many nodes, and which thread
// computes which, changes no bit.
//
//   NODES-1  The nodes of one level: a power of two, no more than there are leaves.
//   NODES-2  A small value of a share that is one node travels with its report: one line for both. Small values of other
//            nodes go to cells of the team; larger ones to memory that the caller allocates.
#include <lockstep/detail/reduce/reductions.hpp>

#include <cstring>

#include <lockstep/detail/loop/loop_place.hpp>
#include <lockstep/detail/region/job.hpp>
#include <lockstep/detail/team/team_host.hpp>

#include "../loop/loop_crew.hpp"
#include "../loop/loops.hpp"
#include "../reduce/value_stack.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// In the caller's frame; a loop has a pointer to it. `result`: room for the value of the range.
class range_reduction {
 public:
  range_reduction(const operations& what, const operands& of, std::size_t length,
                  void* result) noexcept
      : what_(what),
        of_(of),
        length_(length),
        leaves_(reduction_tree::leaves_of(length)),
        result_(result) {}

  /// Four words: they travel with the announcement, and where the value travels with the report, nothing else of this
  /// object is read.
  struct loop {
    const operations* what;
    const operands* of;
    std::size_t length;
    range_reduction* whole;

    void operator()(loop_share& me) const { whole->run(me, *what, *of, length); }
  };
  loop work() noexcept { return {&what_, &of_, length_, this}; }
  loop_ends ends() noexcept { return {this, prepare, finish}; }
  /// After the loop: whether the value is in the room.
  bool has_result() const noexcept { return has_result_; }

 private:
  /// NODES-2. From what every share knows.
  static bool is_beside(const operations& what, std::size_t leaves, std::size_t shares,
                        std::uint32_t parts) noexcept {
    return what.type == nullptr && parts == 1 && (shares & (shares - 1)) == 0 && shares <= leaves;
  }

  void run(loop_share& me, const operations& what, const operands& of, std::size_t length);
  void run_nodes(loop_share& me, tree_walk& values);
  static void prepare(void* data, const loop_plan& plan, loop_cells& cells);
  static void finish(void* data, const loop_plan& plan, const loop_values& of_share);

  const operations& what_;
  const operands& of_;
  const std::size_t length_, leaves_;
  std::size_t nodes_ = 1;
  loop_cells* cells_ = nullptr;
  value_room values_;
  void* const result_;
  bool has_result_ = false;
};

inline void range_reduction::run(loop_share& me, const operations& what, const operands& of,
                                 std::size_t length) {
  const std::size_t leaves = reduction_tree::leaves_of(length);
  tree_walk values(me, what, of, length);
  if (me.is_alone()) {
    if (!values.push_node(0, leaves) || me.is_stopped()) return;
    values.take_top(result_);
    has_result_ = true;
    return;
  }
  if (is_beside(what, leaves, me.size(), me.parts())) {
    const index_range node = reduction_tree::node_at(leaves, me.size(), me.rank());
    if (values.push_node(node.first, node.last)) values.put_top(nullptr, *me.beside_report());
    return;
  }
  run_nodes(me, values);
}

/// Of a share in parts, or of a number of shares that is no power of two.
inline void range_reduction::run_nodes(loop_share& me, tree_walk& values) {
  const index_range mine = me.block_of(index_range{0, nodes_});
  for (std::size_t number = mine.first; number < mine.last; ++number) {
    const index_range node = reduction_tree::node_at(leaves_, nodes_, number);
    if (!values.push_node(node.first, node.last)) return;
    if (what_.type == nullptr) {
      values.put_top(nullptr, (*cells_)[number]);
    } else {
      values.take_top(values_[number]);
      values_.note(number, true);
    }
  }
}

inline void range_reduction::prepare(void* data, const loop_plan& plan, loop_cells& cells) {
  range_reduction& self = *static_cast<range_reduction*>(data);
  if (plan.shares == 1) return;
  self.cells_ = &cells;
  if (is_beside(self.what_, self.leaves_, plan.shares, plan.parts)) {
    self.nodes_ = plan.shares;
    return;
  }
  const std::size_t wanted = std::size_t{plan.shares} * (plan.parts > 16 ? plan.parts : 16);
  while (self.nodes_ < wanted && 2 * self.nodes_ <= self.leaves_) self.nodes_ *= 2;
  if (self.what_.type != nullptr) self.values_.make(self.what_.type, self.nodes_);
}

inline void range_reduction::finish(void* data, const loop_plan& plan,
                                    const loop_values& of_share) {
  range_reduction& self = *static_cast<range_reduction*>(data);
  if (plan.shares == 1) return;
  const bool beside = is_beside(self.what_, self.leaves_, plan.shares, plan.parts);
  value_stack values(self.what_, self.of_);
  for (std::size_t number = 0; number < self.nodes_; ++number) {
    if (self.what_.type != nullptr) {
      values.push_moved(self.values_[number]);
    } else {
      values.push_copy(beside ? of_share(number) : (*self.cells_)[number]);
    }
    // The nodes are those of one level, a power of two: each second one completes its parent, and so on.
    for (std::size_t done = number; (done & 1u) != 0; done >>= 1) values.combine();
  }
  values.take_top(self.result_);
  self.has_result_ = true;
}

/// One value for each share: `fast`. Combined by rank. `init` gets the result.
class share_reduction {
 public:
  share_reduction(const operations& what, const operands& of, std::size_t length, schedule how,
                  void* init) noexcept
      : what_(what), of_(of), length_(length), how_(how), init_(init) {}

  struct loop {
    share_reduction* whole;
    void operator()(loop_share& me) const { whole->run(me); }
  };
  loop work() noexcept { return {this}; }
  loop_ends ends() noexcept { return {this, prepare, finish}; }

 private:
  void run(loop_share& me) {
    folded_parts own(me, what_, of_, length_);
    loops::hand_out_in(me, me, length_, how_, own.body());
    if (!own.has_value()) return;
    if (me.is_alone()) {
      if (!me.is_stopped()) what_.combine(of_, init_, own.top());  // there may be no finish()
    } else if (cells_ != nullptr) {
      own.put(nullptr, (*cells_)[2 * me.rank()]);
      (*cells_)[2 * me.rank() + 1].bytes[0] = 1;
    } else {
      own.take(values_[me.rank()]);
      values_.note(me.rank(), true);
    }
  }
  static void prepare(void* data, const loop_plan& plan, loop_cells& cells) {
    share_reduction& self = *static_cast<share_reduction*>(data);
    if (plan.shares == 1) return;
    if (self.what_.type != nullptr || 2 * plan.shares > most_values_of_loop) {
      return self.values_.make(self.what_.type, plan.shares);
    }
    self.cells_ = &cells;
    for (std::size_t rank = 0; rank < plan.shares; ++rank) cells[2 * rank + 1].bytes[0] = 0;
  }
  static void finish(void* data, const loop_plan& plan, const loop_values&) {
    share_reduction& self = *static_cast<share_reduction*>(data);
    for (std::size_t rank = 0; plan.shares > 1 && rank < plan.shares; ++rank) {
      if (self.cells_ != nullptr) {
        if ((*self.cells_)[2 * rank + 1].bytes[0] == 0) continue;
        self.what_.combine(self.of_, self.init_, (*self.cells_)[2 * rank].bytes);
      } else if (self.values_.is_set(rank)) {
        self.what_.combine(self.of_, self.init_, self.values_[rank]);
      }
    }
  }

  const operations& what_;
  const operands& of_;
  const std::size_t length_;
  const schedule how_;
  void* const init_;
  loop_cells* cells_ = nullptr;
  value_room values_;
};

/// Two loops: the sums of all leaves, then what each leaf stores from its prefix on. One alone does both in one.
class range_scan {
 public:
  range_scan(const operations& what, const operands& of, std::size_t length, const void* init,
             void* result) noexcept
      : what_(what),
        of_(of),
        length_(length),
        leaves_(reduction_tree::leaves_of(length)),
        init_(init),
        result_(result) {}

  struct sums {
    range_scan* of;
    void operator()(loop_share& me) const { of->sum(me); }
  };
  struct stores {
    range_scan* of;
    void operator()(loop_share& me) const { of->store(me); }
  };
  sums first() noexcept { return {this}; }
  stores second() noexcept { return {this}; }
  loop_ends ends() noexcept { return {this, prepare, hand_on}; }
  /// After the first loop: whether the second one is needed, and whether the result is there.
  bool has_more() const noexcept { return has_more_; }
  bool has_result() const noexcept { return has_result_; }

 private:
  void sum(loop_share& me) {
    tree_walk values(me, what_, of_, length_);
    if (me.is_alone()) {
      values.push_copy_of(init_);
      if (!values.scan_alone(leaves_) || me.is_stopped()) return;
      return leave_result(values);
    }
    const index_range mine = me.block_of(index_range{0, leaves_});
    for (std::size_t leaf = mine.first; leaf < mine.last; ++leaf) {
      if (!values.push_node(leaf, leaf + 1)) return;
      values.take_top(sums_[leaf]);
      sums_.note(leaf, true);
    }
  }
  void store(loop_share& me) {
    tree_walk values(me, what_, of_, length_);
    const index_range mine = me.block_of(index_range{0, leaves_});
    for (std::size_t leaf = mine.first; leaf < mine.last; ++leaf) {
      values.push_moved(sums_[leaf]);
      if (!values.run_through(leaf)) return;
    }
  }
  static void prepare(void* data, const loop_plan& plan, loop_cells&) {
    range_scan& self = *static_cast<range_scan*>(data);
    if (plan.shares > 1) self.sums_.make(self.what_.type, self.leaves_, false);
  }
  /// Each leaf's sum becomes its prefix.
  static void hand_on(void* data, const loop_plan& plan, const loop_values&) {
    if (plan.shares > 1) static_cast<range_scan*>(data)->make_prefixes();
  }
  void make_prefixes() {
    value_stack values(what_, of_);
    values.push_copy_of(init_);
    for (std::size_t leaf = 0; leaf < leaves_; ++leaf) {
      values.push_moved(sums_[leaf]);
      sums_.destroy(leaf);
      values.copy_to(values.below_top(), sums_[leaf]);
      sums_.note(leaf, true);
      values.combine();
    }
    leave_result(values);
    has_more_ = true;
  }
  void leave_result(value_stack& values) {
    values.take_top(result_);
    has_result_ = true;
  }

  const operations& what_;
  const operands& of_;
  const std::size_t length_, leaves_;
  const void* const init_;
  void* const result_;
  bool has_more_ = false, has_result_ = false;
  value_room sums_;
};

/// Whether there is a result. One of a loop that was stopped all the same is destroyed.
inline bool has_kept(bool goes_on, bool has_result, const operations& what, void* result) noexcept {
  if (!goes_on && has_result && what.type != nullptr) what.type->destroy(result);
  return goes_on && has_result;
}

LOCKSTEP_INLINE bool reduce(team_host& on, source_place where, const operations& what,
                            const operands& of, std::size_t length, schedule how, void* result) {
  range_reduction whole(what, of, length, result);
  job work;
  work.carry<loop_share>(whole.work());
  const bool goes_on =
      on.run_loop({length, what.pace, grain_of(how), true, false, where}, work, whole.ends());
  return has_kept(goes_on, whole.has_result(), what, result);
}

LOCKSTEP_INLINE bool reduce_fast(team_host& on, source_place where, const operations& what,
                                 const operands& of, std::size_t length, schedule how, void* init) {
  share_reduction whole(what, of, length, how, init);
  job work;
  work.carry<loop_share>(whole.work());
  const std::size_t grain = grain_of(how);
  return on.run_loop({length, nullptr, grain, false, grain == 0, where}, work, whole.ends());
}

LOCKSTEP_INLINE bool scan(team_host& on, source_place where, const operations& what,
                          const operands& of, std::size_t length, schedule how, const void* init,
                          void* result) {
  range_scan whole(what, of, length, init, result);
  const loop_request request = {length, what.pace, grain_of(how), true, false, where};
  job work;
  work.carry<loop_share>(whole.first());
  bool goes_on = on.run_loop(request, work, whole.ends());
  if (goes_on && whole.has_more()) {
    work.carry<loop_share>(whole.second());
    goes_on = on.run_loop(request, work, loop_ends());
  }
  return has_kept(goes_on, whole.has_result(), what, result);
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
