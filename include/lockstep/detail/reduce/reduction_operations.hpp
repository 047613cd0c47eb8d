// SPDX-License-Identifier: MIT
// lockstep/detail/reduce/reduction_operations.hpp -- what is compiled for the types of a reduction (layer: reduce)
//
// For each closure one function folds iterations. For each type and operation one function combines two values. The
// rest of a reduction calls them through a table of pointers.
//
// What is asked of the types:
//   init, of type Type   movable, by construction and by assignment. Copyable where every member gets the result;
//                     the forms that are a region by themselves (a team's reduce_each) do with moves.
//   f                 returns what converts to Type; a Type, or a reference to one, is passed on as it is
//   op                takes two Type, each by value or by const&, and returns what converts to Type
// Floating point is not cut off to a whole number: reduce_each(0, n, 0, f, op), where 0.0 was meant, does not
// compile. Values may be narrowed to a smaller floating point type of init (0.0f: sums are rounded to float),
// or to a smaller whole number.
#ifndef LOCKSTEP_DETAIL_REDUCE_REDUCTION_OPERATIONS_HPP
#define LOCKSTEP_DETAIL_REDUCE_REDUCTION_OPERATIONS_HPP

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <lockstep/detail/base/closures.hpp>
#include <lockstep/detail/base/index_span.hpp>
#include <lockstep/detail/loop/place_pace.hpp>
#include <lockstep/detail/reduce/cell_access.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reduction_tree {

/// Iterations between two checks whether the region was stopped. A leaf may have 2^54 iterations.
constexpr std::size_t strip_length = 1024;

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

/// How op gets a value of type Result: as it is if that is a Type, else converted to Type.
template <class Type, class Result>
using as_value =
    typename std::conditional<std::is_same<Type, typename std::decay<Result>::type>::value,
                              Result&&, Type>::type;

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
                "lockstep: the type of a result must not be const, nor a reference; leave the "
                "template argument away");
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
template <class Type>
inline void check_copyable() noexcept {
  static_assert(std::is_copy_constructible<Type>::value,
                "lockstep: every member gets a copy of the result, so the type must be copyable; "
                "one that can only be moved is for team::reduce_each");
}

// --- the table ---

/// The first argument of the functions of a table: the base of the object that has the user's functions.
struct operands {
  void* operation;
};
/// Leaves of a scan over `length` iterations, and whether the region is stopped.
struct leaf_run {
  std::size_t length, leaf_size;
  index_range leaves;
  bool (*may_stop)(const void* at);
  const void* at;
};
/// What a scan does with leaves. skips: combines their sums; stores: stores values as well; does_all: makes sums, too.
enum class scan_pass : unsigned char { skips, stores, does_all };
/// What is compiled for a reduction's types.
struct operations {
  /// Makes the value of the iterations [first, last): leaves of leaf_size, combined as `combines` says
  /// (reduction_tree::combines_of). If values do not fit a cell, there must be one leaf only. A leaf_size of 0 goes on
  /// from the value that is there.
  void (*fold)(const operands& of, void* value, std::size_t first, std::size_t last,
               std::size_t leaf_size, std::uint64_t combines);
  void (*combine)(const operands& of, void* left, void* right);  ///< left gets the value of both
  const value_type* type;                                        ///< null: values fit a cell
  bool in_strips;  ///< a long leaf takes several calls of fold
  /// For scans; false once the region is stopped. sum_leaves puts the sum of each leaf into its cell; `room` comes from
  /// prepare(). scan_leaves starts from `value`, which becomes op(value, sum of the leaf) after each leaf.
  bool (*sum_leaves)(const operands& of, const leaf_run& run, void* room, cell* sums);
  bool (*scan_leaves)(const operands& of, const leaf_run& run, scan_pass pass, const cell* sums,
                      void* value);
  place_pace* pace;  ///< where it is a loop by itself
};

// --- what is in it ---

// Values: start(i, end) makes the first value from i on, and moves i past it. go_on(sum, i, end, op) adds the rest.

/// For values that fit a cell. They stay in registers. Only nodes that lack their right half lie in `pending`.
template <class Type, class Values, class Operation>
void fold_values(const Values& own, Operation& op, void* value, std::size_t first, std::size_t last,
                 std::size_t leaf_size, std::uint64_t combines, std::true_type /*fits a cell*/) {
  constexpr std::size_t most_pending = 4;  // levels below a node of 16 leaves
  alignas(Type) unsigned char pending[most_pending * sizeof(Type)];
  std::size_t size = 0;
  const bool goes_on = leaf_size == 0;
  for (std::size_t i = first;; ++size) {
    const std::size_t end = !goes_on && last - i > leaf_size ? i + leaf_size : last;
    Type sum(goes_on ? Type(std::move(*static_cast<Type*>(value))) : own.start(i, end));
    own.go_on(sum, i, end, op);
    for (; (combines & 15u) != 0; --combines) {
      --size;
      sum = op(std::move(*reinterpret_cast<Type*>(pending + size * sizeof(Type))), std::move(sum));
    }
    if (end == last) {
      ::new (value) Type(std::move(sum));
      return;
    }
    ::new (static_cast<void*>(pending + size * sizeof(Type))) Type(std::move(sum));
    combines >>= 4;
    i = end;
  }
}
/// For other values: one leaf at a time, built in its final place.
template <class Type, class Values, class Operation>
void fold_values(const Values& own, Operation& op, void* value, std::size_t first, std::size_t last,
                 std::size_t leaf_size, std::uint64_t, std::false_type) {
  struct started {
    Type* value;
    ~started() {
      if (value != nullptr) value->~Type();
    }
  } sum = {nullptr};
  Type* const out = static_cast<Type*>(value);
  std::size_t i = first;
  if (leaf_size != 0) sum.value = ::new (value) Type(own.start(i, last));
  own.go_on(*out, i, last, op);
  sum.value = nullptr;
}
template <class Type, class Values, class Operation>
void fold_range(const operands& of, void* value, std::size_t first, std::size_t last,
                std::size_t leaf_size, std::uint64_t combines) {
  const Values own(static_cast<const Values&>(of));
  fold_values<Type>(own, *static_cast<Operation*>(of.operation), value, first, last, leaf_size,
                    combines, std::integral_constant<bool, fits_cell<Type>()>());
}
template <class Type, class Operation>
void combine_values(const operands& of, void* left, void* right) {
  Type& sum = *static_cast<Type*>(left);
  sum = (*static_cast<Operation*>(of.operation))(std::move(sum),
                                                 std::move(*static_cast<Type*>(right)));
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
  /// Long leaves are folded by several calls.
  static constexpr bool in_strips = true;

  each_value(void* op, const Index& first, Function& f) : operands{op}, first_(first), f_(f) {}
  using value = decltype(std::declval<Function&>()(std::declval<Index>()));

  Type start(std::size_t& i, std::size_t) const {
    return static_cast<Type>(f_(index_at(first_, i++)));
  }
  template <class Operation>
  void go_on(Type& sum, std::size_t i, std::size_t end, Operation& op) const {
    for (; i < end; ++i) sum = op(std::move(sum), as_given(f_(index_at(first_, i))));
  }

 protected:
  const Index first_;

 private:
  using given = as_value<Type, value>;
  static given as_given(value&& v) { return static_cast<given>(v); }

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
  static constexpr bool in_strips = false;

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

template <class Type, class Index, class Function, class Operation>
each_value<Type, Index, Function> values_of(const index_span<Index>& span, Function& f,
                                            Operation& op) {
  return {&op, span.first, f};
}
template <class Type, class Index, class Function, class Operation>
block_value<Type, Index, Function> block_values_of(const index_span<Index>& span, Function& f,
                                                   Operation& op) {
  return {&op, span.first, f};
}

/// Calls strip(first, last) for the iterations of a leaf, at most a strip's at once. False once the region is stopped.
template <class Strip>
LOCKSTEP_ALWAYS_INLINE bool for_strips(const leaf_run& run, std::size_t first, std::size_t last,
                                       const Strip& strip) {
  constexpr std::size_t most = reduction_tree::strip_length;
  std::size_t end = LOCKSTEP_UNLIKELY(last - first > most) ? first + most : last;
  strip(first, end);
  while (LOCKSTEP_UNLIKELY(end != last)) {
    if (run.may_stop(run.at)) return false;
    first = end;
    end = last - first > most ? first + most : last;
    strip(first, end);
  }
  return true;
}
/// Calls leaf(number, first, last) for each leaf. Ends with false if a call returns false or the region is stopped.
template <class Leaf>
bool for_leaves(const leaf_run& run, const Leaf& leaf) {
  const std::size_t size = run.leaf_size, length = run.length, last = run.leaves.last;
  std::size_t i = run.leaves.first * size;
  for (std::size_t number = run.leaves.first; number < last; ++number) {
    // A look takes as long as a short leaf. So only one short leaf in 16 looks; 16 have fewer iterations than a strip.
    const bool looks = size >= 64 || number % 16 == 0;
    if (LOCKSTEP_UNLIKELY(looks) && run.may_stop(run.at)) return false;
    const std::size_t end = length - i <= size ? length : i + size;
    if (!leaf(number, i, end)) return false;
    i = end;
  }
  return true;
}
/// The sum of a leaf. If is_stopped, the sum is not complete.
template <class Type, class Values, class Operation>
LOCKSTEP_ALWAYS_INLINE Type sum_of_leaf(const Values& own, Operation& op, const leaf_run& run,
                                        std::size_t first, std::size_t last, bool& is_stopped) {
  Type sum(own.start(first, last));
  is_stopped = !for_strips(run, first, last,
                           [&](std::size_t from, std::size_t to) { own.go_on(sum, from, to, op); });
  return sum;
}
template <class Type, class Values, class Operation>
bool sum_leaves(const operands& of, const leaf_run& run, void* room, cell* sums) {
  const Values own(static_cast<const Values&>(of));
  Operation& op = *static_cast<Operation*>(of.operation);
  return for_leaves(run, [&](std::size_t number, std::size_t first, std::size_t last) {
    bool is_stopped;
    Type sum(sum_of_leaf<Type>(own, op, run, first, last, is_stopped));
    if (is_stopped) return false;
    cell_access<Type>::put(room, sums[number], sum);
    return true;
  });
}
template <class Type, class Values, class Operation>
bool scan_leaves(const operands& of, const leaf_run& run, scan_pass pass, const cell* sums,
                 void* value) {
  const Values own(static_cast<const Values&>(of));
  Operation& op = *static_cast<Operation*>(of.operation);
  Type prefix(std::move(*static_cast<Type*>(value)));  // no store can change a local: a register
  const auto pass_leaf = [&](std::size_t number, std::size_t first, std::size_t last) {
    bool is_stopped = false;
    Type sum(pass == scan_pass::does_all ? sum_of_leaf<Type>(own, op, run, first, last, is_stopped)
                                         : cell_access<Type>::get(sums[number]));
    Type running(prefix);
    if (is_stopped || !for_strips(run, first, last, [&](std::size_t from, std::size_t to) {
          own.run_through(running, from, to, op);
        })) {
      return false;
    }
    prefix = op(std::move(prefix), std::move(sum));
    return true;
  };
  if (pass != scan_pass::skips && !for_leaves(run, pass_leaf)) return false;
  for (std::size_t leaf = run.leaves.first; pass == scan_pass::skips && leaf < run.leaves.last;
       ++leaf) {
    prefix = op(std::move(prefix), cell_access<Type>::get(sums[leaf]));
  }
  *static_cast<Type*>(value) = std::move(prefix);
  return true;
}

/// Values: each_value or block_value.
template <class Type, class Operation, class Values>
const operations& operations_for(const Values&) noexcept {
  static const operations all = {fold_range<Type, Values, Operation>,
                                 combine_values<Type, Operation>,
                                 fits_cell<Type>() ? nullptr : &value_type_of<Type>::get(),
                                 Values::in_strips,
                                 nullptr,
                                 nullptr,
                                 &pace_of<void(Type*, Values*, Operation*)>::at};
  return all;
}
template <class Type, class Operation, class Values>
const operations& operations_of_scan(const Values& values) noexcept {
  static const operations all = [&values] {
    operations result = operations_for<Type, Operation>(values);
    result.sum_leaves = sum_leaves<Type, Values, Operation>;
    result.scan_leaves = scan_leaves<Type, Values, Operation>;
    return result;
  }();
  return all;
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REDUCE_REDUCTION_OPERATIONS_HPP
