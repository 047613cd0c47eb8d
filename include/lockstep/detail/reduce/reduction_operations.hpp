// SPDX-License-Identifier: MIT
// lockstep/detail/reduce/reduction_operations.hpp -- what is compiled for the types of a reduction (layer: reduce)
//
// One function that folds iterations, for each closure; one that combines two values, for each type and operation. The
// rest of a reduction knows them by a table of pointers.
//
// What is asked of the types:
//   init, of type Type   movable, by construction and by assignment. Copyable where every member gets the result;
//                     the forms that are a region by themselves (a team's reduce_each) do with moves.
//   f                 returns what converts to Type; a Type, or a reference to one, is passed on as it is
//   op                takes two Type, each by value or by const&, and returns what converts to Type
// Floating point is not cut off to a whole number: reduce_each(0, n, 0, f, op), where 0.0 was meant,
// does not compile. A narrower floating point type for init is a wish (0.0f: sums are rounded to float), and so
// is a narrower whole number.
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
namespace reductions {

/// What op makes of two Type; void if it does not take them.
template <class Type, class Operation>
struct result_of_op {
  template <class Function>
  static auto test(int)
      -> decltype(std::declval<Function&>()(std::declval<Type>(), std::declval<Type>()));
  template <class Function>
  static void test(...);
  using type = decltype(test<Operation>(0));
};

/// What a value of type Result is given to an operation on Type as: a Type itself where it is one, else converted first.
template <class Type, class Result>
using as_value =
    typename std::conditional<std::is_same<Type, typename std::decay<Result>::type>::value,
                              Result&&, Type>::type;

template <class From, class To>
constexpr bool cuts_off() noexcept {
  return std::is_floating_point<typename std::decay<From>::type>::value &&
         std::is_integral<To>::value;
}

/// Says what a reduction asks of its types, before the compiler says it in its way.
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
/// Where the result goes to every member.
template <class Type>
inline void check_copyable() noexcept {
  static_assert(std::is_copy_constructible<Type>::value,
                "lockstep: every member gets a copy of the result, so the type must be copyable; "
                "one that can only be moved is for team::reduce_each");
}

// --- the table ---

/// What is to be known of values that do not fit a cell.
struct value_type {
  std::size_t size, alignment;
  void (*destroy)(void* value);
  void (*move)(void* to, void* from);        ///< constructs `to`; `from` is still to be destroyed
  void (*copy)(void* to, const void* from);  ///< constructs `to`
  /// As those of cell_access. Put: moves from `value`.
  void* (*prepare)(group& shared, owner<kept_values>& keeps, std::size_t count);
  void (*put)(void* room, cell& into, void* value);
};
template <class Type>
struct value_type_of {
  using access = cell_access<Type>;

  static void destroy(void* value) { static_cast<Type*>(value)->~Type(); }
  static void move(void* to, void* from) { ::new (to) Type(std::move(*static_cast<Type*>(from))); }
  static void copy_value(void* to, const void* from, std::true_type /*copyable*/) {
    ::new (to) Type(*static_cast<const Type*>(from));
  }
  static void copy_value(void*, const void*, std::false_type) noexcept {}
  static void copy(void* to, const void* from) {
    copy_value(to, from, std::is_copy_constructible<Type>());
  }
  static void* prepare(group& shared, owner<kept_values>& keeps, std::size_t count) {
    return &access::prepare(shared, keeps, count);
  }
  static void put(void* room, cell& into, void* value) {
    access::put(*static_cast<typename std::remove_reference<typename access::room>::type*>(room),
                into, std::move(*static_cast<Type*>(value)));
  }

  static const value_type* get(std::true_type /*fits a cell*/) noexcept { return nullptr; }
  static const value_type* get(std::false_type) noexcept {
    static const value_type all = {sizeof(Type), alignof(Type), destroy, move, copy, prepare, put};
    return &all;
  }
  static const value_type* get() noexcept {
    return get(std::integral_constant<bool, fits_cell<Type>()>());
  }
};

/// What the functions of a table are called with: the object that it belongs to.
struct operands {
  void* operation;
};
using scan_of_leaves = void (*)(const operands& of, void* value, std::size_t first,
                                std::size_t last, std::size_t leaf_size);
/// What is compiled for a reduction's types.
struct operations {
  /// Makes the value of the iterations [first, last): leaves of leaf_size, combined as `combines` says
  /// (reduction_tree::combines_of); only one leaf where values do not fit a cell. With a leaf_size of 0: goes on from
  /// the value that is there.
  void (*fold)(const operands& of, void* value, std::size_t first, std::size_t last,
               std::size_t leaf_size, std::uint64_t combines);
  void (*combine)(const operands& of, void* left, void* right);  ///< left gets the value of both
  const value_type* type;                                        ///< null: values fit a cell
  bool fills_cell;                                               ///< leaves no byte of it free
  bool in_strips;  ///< long leaves by several calls of fold
  /// Of a scan: stores op(value, f(first)), and so on, and leaves the last of them in `value`.
  void (*run_through)(const operands& of, void* value, std::size_t first, std::size_t last);
  /// The same for leaves of leaf_size, of values that fit a cell: `value` becomes op(value, sum of the leaf) after each.
  scan_of_leaves scan_leaves;
  place_pace* pace;  ///< where it is a loop by itself
};

// --- what is in it ---

// Values: start(i, end) makes the value of iteration i, and moves i on; go_on(sum, i, end, op) adds those from i on.

/// Of values that fit a cell: they stay in registers, but for those of nodes whose right halves are still to come.
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
/// Of others: one leaf at a time, where its value is to be.
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

// Whether an int may become the unsigned argument of a function is its author's business.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS

/// What a fold has of a Function that it calls with Arguments: a copy, or a reference. See leaf_loop.hpp.
template <bool MayBeCopied, class Function, class... Arguments>
struct held_by_fold {
  using type = Function&;
};
template <class Function, class... Arguments>
struct held_by_fold<true, Function, Arguments...> {
  using type =
      typename std::conditional<sizeof(Function) <= 64 &&
                                    is_callable<const Function&, Arguments...>::value,
                                const typename std::remove_const<Function>::type, Function&>::type;
};
template <class Function, class... Arguments>
using held_function =
    typename held_by_fold<may_be_copied<Function>::value, Function, Arguments...>::type;

/// f(i) by its offset; a closure that may be copied and is small is.
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
    Type sum(std::move(running));  // where no store can change it: in a register
    for (; i < end; ++i) {
      this->go_on(sum, i, i + 1, op);
      store_(index_at(this->first_, i), sum);
    }
    running = std::move(sum);
  }
  template <class Operation>
  void scan_leaves(Type& prefix, std::size_t first, std::size_t last, std::size_t leaf_size,
                   Operation& op) const {
    for (std::size_t i = first, end; i < last; i = end) {
      end = last - i > leaf_size ? i + leaf_size : last;
      std::size_t at = i;
      Type sum(this->start(at, end));
      this->go_on(sum, at, end, op);
      Type running(prefix);
      run_through(running, i, end, op);
      prefix = op(std::move(prefix), std::move(sum));
    }
  }

 private:
  held_function<Store, Index, Type&> store_;
};
/// f(first, last) of a leaf.
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

template <class Type, class Values, class Operation>
void run_through(const operands& of, void* value, std::size_t first, std::size_t last) {
  const Values own(static_cast<const Values&>(of));
  own.run_through(*static_cast<Type*>(value), first, last, *static_cast<Operation*>(of.operation));
}
template <class Type, class Values, class Operation>
void scan_cells(const operands& of, void* value, std::size_t first, std::size_t last,
                std::size_t leaf_size) {
  const Values own(static_cast<const Values&>(of));
  own.scan_leaves(*static_cast<Type*>(value), first, last, leaf_size,
                  *static_cast<Operation*>(of.operation));
}
template <class Type, class Values, class Operation>
constexpr scan_of_leaves scan_of(std::true_type /*fits a cell*/) noexcept {
  return &scan_cells<Type, Values, Operation>;
}
template <class Type, class Values, class Operation>
constexpr scan_of_leaves scan_of(std::false_type) noexcept {
  return nullptr;
}

/// Values: each_value, which is folded in strips, or block_value.
template <class Type, class Operation, class Values>
const operations& operations_for(const Values&, bool in_strips) noexcept {
  constexpr bool fills = fits_cell<Type>() && sizeof(Type) == cell::size;
  constexpr place_pace* pace = &pace_of<void(Type*, Values*, Operation*)>::at;
  static const operations all[2] = {
      {fold_range<Type, Values, Operation>, combine_values<Type, Operation>,
       value_type_of<Type>::get(), fills, false, nullptr, nullptr, pace},
      {fold_range<Type, Values, Operation>, combine_values<Type, Operation>,
       value_type_of<Type>::get(), fills, true, nullptr, nullptr, pace}};
  return all[in_strips ? 1 : 0];
}
template <class Type, class Operation, class Values>
const operations& operations_of_scan(const Values&) noexcept {
  static const operations all = {
      fold_range<Type, Values, Operation>,
      combine_values<Type, Operation>,
      value_type_of<Type>::get(),
      fits_cell<Type>() && sizeof(Type) == cell::size,
      true,
      run_through<Type, Values, Operation>,
      scan_of<Type, Values, Operation>(std::integral_constant<bool, fits_cell<Type>()>()),
      &pace_of<void(Type*, Values*, Operation*)>::at};
  return all;
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REDUCE_REDUCTION_OPERATIONS_HPP
