// SPDX-License-Identifier: MIT
// lockstep/detail/reduce/reduction_operations.hpp -- what is compiled for the types of a reduction (layer: reduce)
//
// For each closure one function folds iterations. For each type and operation one function combines two values. The
// rest of a reduction calls them through a table of pointers.
//
// Values are handed over in cells. One that is trivially copyable and has at most 16 bytes lies in the cell. For any
// other value the cell holds the address, and some values share an allocation. The writer keeps the value as long as a
// member may read the cell. The region's caller destroys the values that are left when the region ends (GROUP-3 of
// group.hpp).
//
// What is asked of the types:
//   init, of type Type   movable, by construction and by assignment. Copyable where every member gets the result;
//                     the forms that are a region by themselves (a team's reduce_each) do with moves.
//   f                 returns what converts to Type; a Type, or a reference to one, is passed on as it is
//   op                takes two Type, each by value or by const&, and returns what converts to Type
// A floating-point number is not truncated to a whole number: reduce_each(0, n, 0, f, op), where 0.0 was meant, does
// not compile. Values may be narrowed to a smaller floating-point type of init (0.0f: sums are rounded to float), or to
// a smaller whole number.
#ifndef LOCKSTEP_DETAIL_REDUCE_REDUCTION_OPERATIONS_HPP
#define LOCKSTEP_DETAIL_REDUCE_REDUCTION_OPERATIONS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include <lockstep/detail/base/cells.hpp>
#include <lockstep/detail/base/closures.hpp>
#include <lockstep/detail/base/index_span.hpp>
#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/platform/cache_line.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class stop_source;

// --- values of any type in cells ---

template <class Type>
constexpr bool fits_cell() noexcept {
  return std::is_trivially_copyable<Type>::value && sizeof(Type) <= cell::size &&
         alignof(Type) <= cell::size;
}

/// Values with the alignment of their type, which C++11's `new` need not respect.
template <class Type>
class kept final : public kept_block, public aligned_new<alignof(Type)> {
 public:
  kept() noexcept : kept_block(most) {}
  ~kept() override {
    for (std::size_t k = room_; k < most; ++k) at(k)->~Type();
  }
  Type* add(Type&& value) {
    Type* const made = ::new (static_cast<void*>(at(room_ - 1))) Type(std::move(value));
    --room_;
    return made;
  }

 private:
  static constexpr std::size_t most = sizeof(Type) < 512 ? 512 / sizeof(Type) : 1;

  Type* at(std::size_t k) noexcept { return reinterpret_cast<Type*>(memory_) + k; }

  alignas(Type) unsigned char memory_[most * sizeof(Type)];
};

/// Values of Type in cells. What does not fit is owned by `keeps`.
template <class Type, bool InTheCell = fits_cell<Type>()>
struct cell_access {
  static void put(kept_values*, cell& into, const Type& value) noexcept {
    std::memcpy(into.bytes, &value, sizeof(Type));
  }
  static Type get(const cell& from) noexcept { return copy_of_bytes<Type>(from.bytes); }
  static Type take(const cell& from, bool) noexcept { return get(from); }
};
template <class Type>
struct cell_access<Type, false> {
  static void put(kept_values* keeps, cell& into, Type&& value) {
    void* const made = keeps->block<kept<Type>>().add(std::move(value));
    std::memcpy(into.bytes, &made, sizeof made);
  }
  static const Type& get(const cell& from) noexcept { return at(from); }
  /// The value itself, if the caller is its only reader, or else a copy.
  static Type take(const cell& from, bool is_only_reader) {
    return take(from, is_only_reader, std::is_copy_constructible<Type>());
  }

 private:
  static Type take(const cell& from, bool is_only_reader, std::true_type /*copyable*/) {
    return is_only_reader ? Type(std::move(at(from))) : Type(get(from));
  }
  static Type take(const cell& from, bool, std::false_type) { return std::move(at(from)); }
  static Type& at(const cell& in) noexcept { return *static_cast<Type*>(in.address()); }
};

namespace reduction_tree {

/// Iterations between two checks whether the region was stopped. A leaf may have 2^54 iterations.
constexpr std::size_t strip_length = 1024;

/// Where the node [a, b) splits; the left half is the longer one. Requires b - a > 1.
constexpr std::size_t middle_of(std::size_t a, std::size_t b) noexcept {
  return a + (b - a + 1) / 2;
}

}  // namespace reduction_tree
namespace reductions {

/// The type that op returns for two Type; void if it cannot be called so.
template <class Type, class Operation>
struct result_of_op {
  template <class Function>
  static auto test(int)
      -> decltype(std::declval<Function&>()(std::declval<Type>(), std::declval<Type>()));
  template <class Function>
  static void test(...);
  using type = decltype(test<Operation>(0));
};

/// How op gets a value of type Result: unchanged if that is a Type, else converted to Type.
template <class Type, class Result>
using as_value =
    typename std::conditional<std::is_same<Type, typename std::decay<Result>::type>::value,
                              typename std::add_rvalue_reference<Result>::type, Type>::type;

template <class From, class To>
constexpr bool cuts_off() noexcept {
  return std::is_floating_point<typename std::decay<From>::type>::value &&
         std::is_integral<To>::value;
}

/// Checks the types of a reduction, so that the errors are sentences.
template <class Type, class Operation>
inline void check_operation() noexcept {
  using result = typename result_of_op<Type, Operation>::type;
  static_assert(!std::is_const<Type>::value && !std::is_reference<Type>::value,
                "lockstep: the type of a result must not be const, nor a reference; leave out the "
                "template argument");
  static_assert(std::is_move_constructible<Type>::value && std::is_move_assignable<Type>::value,
                "lockstep: the type of init must be movable, by construction and by assignment");
  static_assert(!std::is_void<result>::value,
                "lockstep: op must take two values of init's type, each by value or by const& (not "
                "by &), and return their combination");
  static_assert(!cuts_off<result, Type>(),
                "lockstep: op returns floating point, but init is a whole number, and every sum "
                "would be cut off; write 0.0 for 0");
  static_assert(std::is_void<result>::value || std::is_convertible<result, Type>::value,
                "lockstep: what op returns must convert to the type of init");
}
/// Value: what f returns.
template <class Type, class Value, class Operation>
inline void check_types() noexcept {
  static_assert(!cuts_off<Value, Type>(),
                "lockstep: f returns floating point, but init is a whole number, and every value "
                "would be cut off; write 0.0 for 0, or convert in f");
  static_assert(std::is_convertible<Value, Type>::value,
                "lockstep: what f returns must convert to the type of init");
  check_operation<Type, Operation>();
}
/// For results that every member gets.
template <class Type, bool IsForAll = true>
inline void check_copyable() noexcept {
  static_assert(!IsForAll || std::is_copy_constructible<Type>::value,
                "lockstep: every member gets a copy of the result, so the type must be copyable; "
                "one that can only be moved is for team::reduce_each");
}

// --- the table ---

/// The first argument of the functions of a table: the base of the object that has the user's functions.
struct operands {
  void* operation;
};
/// Leaves of a range of `length` iterations, and the region in which they are evaluated. `stop`: null if nobody looks,
/// because there is a strip at most.
struct leaf_run {
  std::size_t length, leaf_size;
  index_range leaves;
  const stop_source* stop;
  std::uint32_t region;
};
bool is_stopped(const leaf_run& run) noexcept;

/// The cell of the node [a, b); null if its value is to be made of its halves'. Asked for from left to right.
using cells_of_nodes = function_ref<const cell*(std::size_t a, std::size_t b)>;

/// What is compiled for a reduction's types. `keeps`: as in cell_access.
struct operations {
  /// Puts the value of a node, the leaves of `run`, into a cell. False, without a value, once the region is stopped.
  bool (*fold)(const operands& of, const leaf_run& run, kept_values* keeps, cell& into);
  /// Puts the value of a node into a cell, from values that lie in cells. For `is_only_reader` see cell_access. It and fold
  /// are null for a scan.
  void (*combine)(const operands& of, index_range node, const cells_of_nodes& from,
                  bool is_only_reader, kept_values* keeps, cell& into);
  bool are_kept;     ///< values do not fit a cell
  place_pace* pace;  ///< where it is a loop by itself
  /// For scans; false once the region is stopped. sum_leaves puts the sum of each leaf into its cell.
  /// scan_leaves starts from `init` and the sums of the leaves from number `from` on up to those of `run`, and
  /// stores the values of these. `total`, unless it is null, becomes their last value. Without `sums` it makes them.
  bool (*sum_leaves)(const operands& of, const leaf_run& run, kept_values* keeps, cell* sums);
  bool (*scan_leaves)(const operands& of, std::size_t from, const leaf_run& run, const cell* sums,
                      const void* init, void* total);
};

// --- what is in it ---

// Values: start(i, end) makes the first value from i on, and moves i past it. go_on(sum, i, end, op) adds the rest.

/// Calls strip(first, last) for the iterations of a leaf, at most a strip's at once. False once the region is stopped.
template <class Strip>
LOCKSTEP_ALWAYS_INLINE bool for_strips(const leaf_run& run, std::size_t first, std::size_t last,
                                       const Strip& strip) {
  constexpr std::size_t most = reduction_tree::strip_length;
  while (true) {
    const std::size_t end = LOCKSTEP_UNLIKELY(last - first > most) ? first + most : last;
    strip(first, end);
    if (!LOCKSTEP_UNLIKELY(end != last)) return true;
    if (is_stopped(run)) return false;
    first = end;
  }
}
/// The sum of a leaf. If `goes_on` is false, it is not complete.
template <class Type, class Values, class Operation>
LOCKSTEP_ALWAYS_INLINE Type sum_of_leaf(const Values& own, Operation& op, const leaf_run& run,
                                        std::size_t first, std::size_t last, bool& goes_on) {
  Type sum(own.start(first, last));
  goes_on = for_strips(run, first, last,
                       [&](std::size_t from, std::size_t to) { own.go_on(sum, from, to, op); });
  return sum;
}

/// The value of a node while others are evaluated: that of a large type lies in memory of its own, for stacks may be small,
/// and a tree has ten levels. make() evaluates it.
template <class Type, bool IsLarge = (sizeof(Type) > 512)>
class node_value {
 public:
  static constexpr bool is_large = IsLarge;

  template <class Make>
  explicit node_value(const Make& make) : value_(make()) {}
  template <class Operation>
  void combine(Operation& op, node_value right) {
    value_ = op(std::move(value_), std::move(right.value_));
  }
  Type& operator*() noexcept { return value_; }

 private:
  Type value_;
};
template <class Type>
class node_value<Type, true> {
 public:
  static constexpr bool is_large = true;

  template <class Make>
  LOCKSTEP_NOINLINE explicit node_value(const Make& make)
      : memory_(new kept<Type>), value_(memory_->add(make())) {}
  template <class Operation>
  LOCKSTEP_NOINLINE void combine(Operation& op, node_value right) {
    *value_ = op(std::move(*value_), std::move(*right));
  }
  Type& operator*() noexcept { return *value_; }

 private:
  owner<kept<Type>> memory_;
  Type* value_;
};

/// Evaluates nodes of the tree.
template <class Type, class Values, class Operation>
struct node_walk {
  const Values& values;
  Operation& op;
  const leaf_run& run;
  bool goes_on;  ///< false once the region is stopped: then values are not complete

  /// Of a short leaf.
  Type of_leaf(std::size_t first, std::size_t last) const {
    const Values own(values);  // no store can change a local
    Type sum(own.start(first, last));
    own.go_on(sum, first, last, op);
    return sum;
  }
  /// The same of more than one. Up to four are written out: a call for each would take as long as a short leaf. So would a
  /// look.
  Type of_leaves(std::size_t first, std::size_t last, std::size_t leaves) const {
    const std::size_t size = run.leaf_size;
    if (leaves > 4) {
      const std::size_t half = reduction_tree::middle_of(0, leaves);
      const std::size_t middle = first + half * size;
      Type sum(of_leaves(first, middle, half));
      return op(std::move(sum), of_leaves(middle, last, leaves - half));
    }
    const std::size_t second = first + size, third = second + size, fourth = third + size;
    Type left(of_leaf(first, second));
    if (leaves == 4) {
      left = op(std::move(left), of_leaf(second, third));
      Type right(of_leaf(third, fourth));
      right = op(std::move(right), of_leaf(fourth, last));
      return op(std::move(left), std::move(right));
    }
    left = op(std::move(left), of_leaf(second, leaves == 2 ? last : third));
    if (leaves == 3) left = op(std::move(left), of_leaf(third, last));
    return left;
  }
  /// Of any node.
  node_value<Type> of_node(std::size_t first, std::size_t last, std::size_t leaves) {
    if (leaves == 1) {
      const Values own(values);
      return node_value<Type>(
          [&] { return sum_of_leaf<Type>(own, op, run, first, last, goes_on); });
    }
    if (last - first <= reduction_tree::strip_length && !node_value<Type>::is_large) {
      return node_value<Type>([&] { return of_leaves(first, last, leaves); });
    }
    const std::size_t half = reduction_tree::middle_of(0, leaves);
    const std::size_t middle = first + half * run.leaf_size;
    node_value<Type> sum(of_node(first, middle, half));
    goes_on = goes_on && !is_stopped(run);
    if (goes_on) sum.combine(op, of_node(middle, last, leaves - half));
    return sum;
  }
};
template <class Type, class Values, class Operation>
bool fold_node(const operands& of, const leaf_run& run, kept_values* keeps, cell& into) {
  if (is_stopped(run)) return false;
  node_walk<Type, Values, Operation> walk = {static_cast<const Values&>(of),
                                             *static_cast<Operation*>(of.operation), run, true};
  const std::size_t leaves = length_of(run.leaves);
  const std::size_t first = run.leaves.first * run.leaf_size, most = leaves * run.leaf_size;
  const std::size_t last = run.length - first <= most ? run.length : first + most;
  node_value<Type> sum(walk.of_node(first, last, leaves));
  if (walk.goes_on) cell_access<Type>::put(keeps, into, std::move(*sum));
  return walk.goes_on;
}

template <class Type, class Operation>
node_value<Type> combine_halves(Operation& op, index_range node, const cells_of_nodes& from,
                                bool is_only_reader) {
  if (const cell* const found = from(node.first, node.last)) {
    return node_value<Type>([&] { return cell_access<Type>::take(*found, is_only_reader); });
  }
  const std::size_t middle = reduction_tree::middle_of(node.first, node.last);
  node_value<Type> sum(combine_halves<Type>(op, {node.first, middle}, from, is_only_reader));
  sum.combine(op, combine_halves<Type>(op, {middle, node.last}, from, is_only_reader));
  return sum;
}
template <class Type, class Operation>
void combine_node(const operands& of, index_range node, const cells_of_nodes& from,
                  bool is_only_reader, kept_values* keeps, cell& into) {
  Operation& op = *static_cast<Operation*>(of.operation);
  node_value<Type> sum(combine_halves<Type>(op, node, from, is_only_reader));
  cell_access<Type>::put(keeps, into, std::move(*sum));
}

// The author of a function decides whether its unsigned argument may come from an int.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS

/// The values f(i), by offset. A closure is copied if it is small and may be copied.
template <class Type, class Index, class Function>
class each_value : public operands {
  static_assert(
      is_callable<Function&, Index>::value,
      "lockstep: the function of a reduction or scan over single indices must be callable "
      "with one index, f(i): of the common type of the bounds, or the iterator");

 public:
  each_value(void* op, const Index& first, Function& f) : operands{op}, first_(first), f_(f) {}
  using value = decltype(std::declval<Function&>()(std::declval<Index>()));

  Type start(std::size_t& i, std::size_t) const {
    return static_cast<Type>(f_(index_at(first_, i++)));
  }
  template <class Operation>
  void go_on(Type& sum, std::size_t i, std::size_t end, Operation& op) const {
    for (; i < end; ++i) sum = op(std::move(sum), static_cast<given>(f_(index_at(first_, i))));
  }

 protected:
  const Index first_;

 private:
  using given = as_value<Type, value>;

  held_function<Function, Index> f_;
};
/// The same for a scan, with store(i, value) by its offset.
template <class Type, class Index, class Function, class Store>
class scanned_value : public each_value<Type, Index, Function> {
 public:
  scanned_value(void* op, const Index& first, Function& f, Store& store)
      : each_value<Type, Index, Function>(op, first, f), store_(store) {}

  template <class Operation>
  void run_through(Type& running, std::size_t i, std::size_t end, Operation& op) const {
    Type sum(std::move(running));  // no store can change a local, so it stays in a register
    for (; i < end; ++i) {
      this->go_on(sum, i, i + 1, op);
      store_(index_at(this->first_, i), sum);
    }
    running = std::move(sum);
  }

 private:
  held_function<Store, Index, Type&> store_;
};
/// The value f(first, last) of a leaf.
template <class Type, class Index, class Function>
class block_value : public operands {
  static_assert(is_callable<Function&, Index, Index>::value,
                "lockstep: the function of reduce_range must be callable with two indices, "
                "f(first, last): of the common type of the bounds, or iterators");

 public:
  block_value(void* op, const Index& first, Function& f) : operands{op}, first_(first), f_(f) {}
  using value = decltype(std::declval<Function&>()(std::declval<Index>(), std::declval<Index>()));

  Type start(std::size_t& i, std::size_t end) const {
    const std::size_t first = i;
    i = end;
    return f_(index_at(first_, first), index_at(first_, end));
  }
  template <class Operation>
  void go_on(Type&, std::size_t, std::size_t, Operation&) const noexcept {}

 private:
  const Index first_;
  Function& f_;
};

LOCKSTEP_END_SIGN_CONVERSIONS

/// Calls leaf(number, first, last) for each leaf. Ends with false if a call returns false or the region is stopped.
template <class Leaf>
bool for_leaves(const leaf_run& run, const Leaf& leaf) {
  const std::size_t size = run.leaf_size, length = run.length, last = run.leaves.last;
  std::size_t i = run.leaves.first * size;
  for (std::size_t number = run.leaves.first; number < last; ++number) {
    // A look takes as long as a short leaf. So only one short leaf in 16 looks; 16 have fewer iterations than a strip.
    const bool looks = size >= 64 || number % 16 == 0;
    if (LOCKSTEP_UNLIKELY(looks) && is_stopped(run)) return false;
    const std::size_t end = length - i <= size ? length : i + size;
    if (!leaf(number, i, end)) return false;
    i = end;
  }
  return true;
}
template <class Type, class Values, class Operation>
bool sum_leaves(const operands& of, const leaf_run& run, kept_values* keeps, cell* sums) {
  const Values own(static_cast<const Values&>(of));
  Operation& op = *static_cast<Operation*>(of.operation);
  return for_leaves(run, [&](std::size_t number, std::size_t first, std::size_t last) {
    bool goes_on;
    Type sum(sum_of_leaf<Type>(own, op, run, first, last, goes_on));
    if (goes_on) cell_access<Type>::put(keeps, sums[number], std::move(sum));
    return goes_on;
  });
}
template <class Type, class Values, class Operation>
bool scan_leaves(const operands& of, std::size_t from, const leaf_run& run, const cell* sums,
                 const void* init, void* total) {
  const Values own(static_cast<const Values&>(of));
  Operation& op = *static_cast<Operation*>(of.operation);
  Type prefix(*static_cast<const Type*>(init));  // no store can change a local: a register
  for (; from < run.leaves.first; ++from) {
    prefix = op(std::move(prefix), cell_access<Type>::get(sums[from]));
  }
  const bool is_complete =
      for_leaves(run, [&](std::size_t number, std::size_t first, std::size_t last) {
        bool goes_on = true;
        Type sum(sums == nullptr ? sum_of_leaf<Type>(own, op, run, first, last, goes_on)
                                 : cell_access<Type>::get(sums[number]));
        Type running(prefix);
        goes_on = goes_on && for_strips(run, first, last, [&](std::size_t i, std::size_t end) {
                    own.run_through(running, i, end, op);
                  });
        if (goes_on) prefix = op(std::move(prefix), std::move(sum));
        return goes_on;
      });
  if (is_complete && total != nullptr) *static_cast<Type*>(total) = std::move(prefix);
  return is_complete;
}

/// Values: each_value or block_value; of a scan scanned_value.
template <class Type, class Operation, class Values>
struct LOCKSTEP_MODULE_LOCAL operations_for {
  static const operations reduction, scan;
  static place_pace pace;
};
template <class Type, class Operation, class Values>
place_pace operations_for<Type, Operation, Values>::pace;
template <class Type, class Operation, class Values>
const operations operations_for<Type, Operation, Values>::reduction = {
    fold_node<Type, Values, Operation>,
    combine_node<Type, Operation>,
    !fits_cell<Type>(),
    &operations_for::pace,
    nullptr,
    nullptr};
template <class Type, class Operation, class Values>
const operations operations_for<Type, Operation, Values>::scan = {
    nullptr,
    nullptr,
    !fits_cell<Type>(),
    &operations_for::pace,
    sum_leaves<Type, Values, Operation>,
    scan_leaves<Type, Values, Operation>};

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REDUCE_REDUCTION_OPERATIONS_HPP
