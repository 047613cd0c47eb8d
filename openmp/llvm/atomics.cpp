// SPDX-License-Identifier: MIT
// __kmpc_atomic_*: atomic operations for which a compiler makes no instructions. Each name tells the type, the
// operation and how the variable takes part: x = x op value; _rev: x = value op x; _cpt: the program wants the value
// before or after.
//
// A variable of 1, 2, 4 or 8 bytes that is aligned to its size is changed by a compare-exchange. All others are changed
// under one lock, which GCC's programs (GOMP_atomic_start) and __kmpc_atomic_start use as well. No program uses atomics
// of two sizes on one variable.
//
// Memory order (# marks the line)
//   #  access             order    pairs  why it suffices
//   1  x.load             relaxed  -      a guess, which 2 tests
//   2  x.compare_exch     seq_cst  -      the strongest that the program may have asked for: the call does not say
//   3  x.load             seq_cst  -      likewise
//   4  x.exchange         seq_cst  -      likewise
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "platform/process.hpp"

#include "ident.hpp"
#include "runtime/synchronization.hpp"

namespace lockstep::openmp::llvm {
namespace {

using holding = detail::holding<lockstep::mutex>;

using i8 = signed char;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using f4 = float;
using f8 = double;
using f10 = long double;
// C's complex types. They are passed in another way than C++'s.
__extension__ typedef _Complex float c4;
__extension__ typedef _Complex double c8;
__extension__ typedef _Complex long double c10;

/// The integer of the same size.
template <class Type>
using word_of = std::conditional_t<
    sizeof(Type) == 1, u8,
    std::conditional_t<sizeof(Type) == 2, u16, std::conditional_t<sizeof(Type) == 4, u32, u64>>>;

template <class Type>
constexpr bool is_small = sizeof(Type) <= 8;

/// Sets the variable to what change(its value) returns. Returns the values before and after.
template <class Type>
struct values {
  Type before, behind;
};
template <class Type, class Change>
values<Type> change(Type* variable, const Change& by) noexcept {
  if constexpr (is_small<Type>) {
    if (reinterpret_cast<std::uintptr_t>(variable) % sizeof(Type) == 0) {
      auto& x = *reinterpret_cast<detail::atomic<word_of<Type>>*>(variable);
      word_of<Type> seen = x.load(detail::memory_order_relaxed);  // 1
      while (true) {
        values<Type> of;
        std::memcpy(&of.before, &seen, sizeof seen);
        of.behind = by(of.before);
        word_of<Type> wanted;
        std::memcpy(&wanted, &of.behind, sizeof wanted);
        if (x.compare_exchange_weak(seen, wanted, detail::memory_order_seq_cst,  // 2
                                    detail::memory_order_relaxed)) {             // 1
          return of;
        }
      }
    }
  }
  const holding alone(atomic_lock);
  values<Type> of;
  of.before = *variable;
  *variable = of.behind = by(of.before);
  return of;
}

template <class Type>
Type read(Type* variable) noexcept {
  if constexpr (is_small<Type>) {
    if (reinterpret_cast<std::uintptr_t>(variable) % sizeof(Type) == 0) {
      const auto& x = *reinterpret_cast<detail::atomic<word_of<Type>>*>(variable);
      const word_of<Type> seen = x.load(detail::memory_order_seq_cst);  // 3
      Type value;
      std::memcpy(&value, &seen, sizeof value);
      return value;
    }
  }
  const holding alone(atomic_lock);
  return *variable;
}

template <class Type>
Type swap(Type* variable, Type value) noexcept {
  return change(variable, [value](Type) { return value; }).before;
}

// Operations. Small integers are promoted, and cut to their size again; shifts and products wrap.
namespace operation {

#define OPERATION(NAME, RESULT)                    \
  struct NAME {                                    \
    template <class Type, class Value>             \
    static auto of(Type x, Value value) noexcept { \
      return RESULT;                               \
    }                                              \
  };
OPERATION(add, static_cast<Value>(x) + value)
OPERATION(sub, static_cast<Value>(x) - value)
OPERATION(mul, static_cast<Value>(x) * value)
OPERATION(div, static_cast<Value>(x) / value)
OPERATION(min, value < x ? value : x)
OPERATION(max, value > x ? value : x)
OPERATION(andb, x& value)
OPERATION(orb, x | value)
OPERATION(xor_, x ^ value)
OPERATION(eqv, x ^ ~value)
OPERATION(andl, static_cast<Type>(x != 0 && value != 0))
OPERATION(orl, static_cast<Type>(x != 0 || value != 0))
OPERATION(shl, static_cast<std::make_unsigned_t<Type>>(x) << value)
OPERATION(shr, x >> value)
#undef OPERATION

}  // namespace operation

template <class Operation, class Type, class Value>
values<Type> apply(Type* variable, Value value) noexcept {
  return change(variable, [value](Type x) { return static_cast<Type>(Operation::of(x, value)); });
}
template <class Operation, class Type>
values<Type> apply_reversed(Type* variable, Type value) noexcept {
  return change(variable, [value](Type x) { return static_cast<Type>(Operation::of(value, x)); });
}
template <class Type>
Type wanted(const values<Type>& of, int is_behind) noexcept {
  return is_behind != 0 ? of.behind : of.before;
}

/// A value of any other type, by its size. The program's function makes the new value from the old one.
template <std::size_t Size>
struct bytes {
  unsigned char of[Size];
};
template <std::size_t Size>
void apply_function(void* variable, void* value, void (*function)(void*, void*, void*)) noexcept {
  change(static_cast<bytes<Size>*>(variable), [&](bytes<Size> x) {
    bytes<Size> made;
    function(&made, &x, value);
    return made;
  });
}

template <class Type>
bool swap_if_equal(Type* variable, Type expected, Type value, Type& before) noexcept {
  before = change(variable, [=](Type x) { return x == expected ? value : x; }).before;
  return before == expected;
}

}  // namespace

// The operations of each type. NAME: the type in the function's name.
#define UPDATE(NAME, TYPE, VERB, OPERATION)                                                \
  OPENMP_API void __kmpc_atomic_##NAME##_##VERB(ident*, int, TYPE* variable, TYPE value) { \
    apply<operation::OPERATION>(variable, value);                                          \
  }
#define UPDATE_REVERSED(NAME, TYPE, VERB, OPERATION)                                             \
  OPENMP_API void __kmpc_atomic_##NAME##_##VERB##_rev(ident*, int, TYPE* variable, TYPE value) { \
    apply_reversed<operation::OPERATION>(variable, value);                                       \
  }
#define CAPTURE(NAME, TYPE, VERB, OPERATION)                                                   \
  OPENMP_API TYPE __kmpc_atomic_##NAME##_##VERB##_cpt(ident*, int, TYPE* variable, TYPE value, \
                                                      int is_behind) {                         \
    return wanted(apply<operation::OPERATION>(variable, value), is_behind);                    \
  }
#define CAPTURE_REVERSED(NAME, TYPE, VERB, OPERATION)                                              \
  OPENMP_API TYPE __kmpc_atomic_##NAME##_##VERB##_cpt_rev(ident*, int, TYPE* variable, TYPE value, \
                                                          int is_behind) {                         \
    return wanted(apply_reversed<operation::OPERATION>(variable, value), is_behind);               \
  }
#define MIXED(NAME, TYPE, VERB, OTHER_NAME, OTHER)                                          \
  OPENMP_API void __kmpc_atomic_##NAME##_##VERB##_##OTHER_NAME(ident*, int, TYPE* variable, \
                                                               OTHER value) {               \
    apply<operation::VERB>(variable, value);                                                \
  }

#define COMMUTATIVE(NAME, TYPE, VERB, OPERATION) \
  UPDATE(NAME, TYPE, VERB, OPERATION)            \
  CAPTURE(NAME, TYPE, VERB, OPERATION)
#define DIRECTED(NAME, TYPE, VERB, OPERATION)  \
  COMMUTATIVE(NAME, TYPE, VERB, OPERATION)     \
  UPDATE_REVERSED(NAME, TYPE, VERB, OPERATION) \
  CAPTURE_REVERSED(NAME, TYPE, VERB, OPERATION)
#define ACCESS(NAME, TYPE)                                                             \
  OPENMP_API TYPE __kmpc_atomic_##NAME##_rd(ident*, int, TYPE* variable) {             \
    return read(variable);                                                             \
  }                                                                                    \
  OPENMP_API void __kmpc_atomic_##NAME##_wr(ident*, int, TYPE* variable, TYPE value) { \
    swap(variable, value);                                                             \
  }
#define SWAP(NAME, TYPE)                                                                \
  OPENMP_API TYPE __kmpc_atomic_##NAME##_swp(ident*, int, TYPE* variable, TYPE value) { \
    return swap(variable, value);                                                       \
  }
#define ARITHMETIC(NAME, TYPE)      \
  ACCESS(NAME, TYPE)                \
  SWAP(NAME, TYPE)                  \
  COMMUTATIVE(NAME, TYPE, add, add) \
  COMMUTATIVE(NAME, TYPE, mul, mul) \
  DIRECTED(NAME, TYPE, sub, sub)    \
  DIRECTED(NAME, TYPE, div, div)

#define REAL(NAME, TYPE)            \
  ARITHMETIC(NAME, TYPE)            \
  COMMUTATIVE(NAME, TYPE, min, min) \
  COMMUTATIVE(NAME, TYPE, max, max)
#define INTEGER(NAME, TYPE)           \
  REAL(NAME, TYPE)                    \
  COMMUTATIVE(NAME, TYPE, andb, andb) \
  COMMUTATIVE(NAME, TYPE, orb, orb)   \
  COMMUTATIVE(NAME, TYPE, xor, xor_)  \
  COMMUTATIVE(NAME, TYPE, neqv, xor_) \
  COMMUTATIVE(NAME, TYPE, eqv, eqv)   \
  COMMUTATIVE(NAME, TYPE, andl, andl) \
  COMMUTATIVE(NAME, TYPE, orl, orl)   \
  DIRECTED(NAME, TYPE, shl, shl)      \
  DIRECTED(NAME, TYPE, shr, shr)      \
  MIXED(NAME, TYPE, mul, float8, f8)  \
  MIXED(NAME, TYPE, div, float8, f8)
#define UNSIGNED(NAME, TYPE)     \
  DIRECTED(NAME, TYPE, div, div) \
  DIRECTED(NAME, TYPE, shr, shr)

INTEGER(fixed1, i8)
INTEGER(fixed2, i16)
INTEGER(fixed4, i32)
INTEGER(fixed8, i64)
UNSIGNED(fixed1u, u8)
UNSIGNED(fixed2u, u16)
UNSIGNED(fixed4u, u32)
UNSIGNED(fixed8u, u64)
REAL(float4, f4)
REAL(float8, f8)
REAL(float10, f10)
ARITHMETIC(cmplx8, c8)
ARITHMETIC(cmplx10, c10)

MIXED(float4, f4, add, float8, f8)
MIXED(float4, f4, sub, float8, f8)
MIXED(float4, f4, mul, float8, f8)
MIXED(float4, f4, div, float8, f8)
MIXED(cmplx4, c4, add, cmplx8, c8)
MIXED(cmplx4, c4, sub, cmplx8, c8)
MIXED(cmplx4, c4, mul, cmplx8, c8)
MIXED(cmplx4, c4, div, cmplx8, c8)

// For a complex variable of 8 bytes the result is not returned, but stored.
#define CAPTURE_APART(VERB, SUFFIX, APPLY)                                                       \
  OPENMP_API void __kmpc_atomic_cmplx4_##VERB##_cpt##SUFFIX(ident*, int, c4* variable, c4 value, \
                                                            c4* out, int is_behind) {            \
    *out = wanted(APPLY<operation::VERB>(variable, value), is_behind);                           \
  }

ACCESS(cmplx4, c4)
OPENMP_API void __kmpc_atomic_cmplx4_swp(ident*, int, c4* variable, c4 value, c4* out) {
  *out = swap(variable, value);
}
UPDATE(cmplx4, c4, add, add)
UPDATE(cmplx4, c4, mul, mul)
UPDATE(cmplx4, c4, sub, sub)
UPDATE(cmplx4, c4, div, div)
UPDATE_REVERSED(cmplx4, c4, sub, sub)
UPDATE_REVERSED(cmplx4, c4, div, div)
CAPTURE_APART(add, , apply)
CAPTURE_APART(mul, , apply)
CAPTURE_APART(sub, , apply)
CAPTURE_APART(div, , apply)
CAPTURE_APART(sub, _rev, apply_reversed)
CAPTURE_APART(div, _rev, apply_reversed)

#define BY_FUNCTION(SIZE)                                                        \
  OPENMP_API void __kmpc_atomic_##SIZE(ident*, int, void* variable, void* value, \
                                       void (*function)(void*, void*, void*)) {  \
    apply_function<SIZE>(variable, value, function);                             \
  }

BY_FUNCTION(1)
BY_FUNCTION(2)
BY_FUNCTION(4)
BY_FUNCTION(8)
BY_FUNCTION(10)
BY_FUNCTION(16)
BY_FUNCTION(20)
BY_FUNCTION(32)

// compare, and compare capture. The first wants the value of the variable only if it is not the expected one, the
// second always.
#define COMPARE(SIZE, TYPE)                                                                       \
  OPENMP_API bool __kmpc_atomic_bool_##SIZE##_cas(ident*, int, TYPE* variable, TYPE expected,     \
                                                  TYPE value) {                                   \
    TYPE before;                                                                                  \
    return swap_if_equal(variable, expected, value, before);                                      \
  }                                                                                               \
  OPENMP_API TYPE __kmpc_atomic_val_##SIZE##_cas(ident*, int, TYPE* variable, TYPE expected,      \
                                                 TYPE value) {                                    \
    TYPE before;                                                                                  \
    swap_if_equal(variable, expected, value, before);                                             \
    return before;                                                                                \
  }                                                                                               \
  OPENMP_API bool __kmpc_atomic_bool_##SIZE##_cas_cpt(ident*, int, TYPE* variable, TYPE expected, \
                                                      TYPE value, TYPE* out) {                    \
    TYPE before;                                                                                  \
    const bool is_equal = swap_if_equal(variable, expected, value, before);                       \
    if (!is_equal) *out = before;                                                                 \
    return is_equal;                                                                              \
  }                                                                                               \
  OPENMP_API TYPE __kmpc_atomic_val_##SIZE##_cas_cpt(ident*, int, TYPE* variable, TYPE expected,  \
                                                     TYPE value, TYPE* out) {                     \
    TYPE before;                                                                                  \
    *out = swap_if_equal(variable, expected, value, before) ? value : before;                     \
    return before;                                                                                \
  }

COMPARE(1, i8)
COMPARE(2, i16)
COMPARE(4, i32)
COMPARE(8, i64)

// For any size, as compilers call libatomic. Intel's runtime has these functions as well, and MKL, which is not linked
// with libatomic, looks for them there.
OPENMP_API void load_of_size(std::size_t, void*, void*, int) noexcept __asm__("__atomic_load");
OPENMP_API void store_of_size(std::size_t, void*, void*, int) noexcept __asm__("__atomic_store");
OPENMP_API bool swap_of_size(std::size_t, void*, void*, void*, int, int) noexcept
    __asm__("__atomic_compare_exchange");

/// Calls use() with the variable as an integer of its size. False: there is no integer of that size.
template <class Use>
bool as_integer(std::size_t size, void* variable, const Use& use) noexcept {
  switch (size) {
    case 1: use(static_cast<u8*>(variable)); return true;
    case 2: use(static_cast<u16*>(variable)); return true;
    case 4: use(static_cast<u32*>(variable)); return true;
    case 8: use(static_cast<u64*>(variable)); return true;
    default: return false;
  }
}

void load_of_size(std::size_t size, void* variable, void* out, int) noexcept {
  const auto load = [=](auto* typed) {
    const auto value = read(typed);
    std::memcpy(out, &value, sizeof value);
  };
  if (as_integer(size, variable, load)) return;
  const holding alone(atomic_lock);
  std::memcpy(out, variable, size);
}

void store_of_size(std::size_t size, void* variable, void* value, int) noexcept {
  const auto store = [=](auto* typed) {
    change(typed, [=](auto before) noexcept {
      std::memcpy(&before, value, sizeof before);
      return before;
    });
  };
  if (as_integer(size, variable, store)) return;
  const holding alone(atomic_lock);
  std::memcpy(variable, value, size);
}

bool swap_of_size(std::size_t size, void* variable, void* expected, void* value, int,
                  int) noexcept {
  bool is_equal = false;
  const auto swap = [=, &is_equal](auto* typed) {
    auto before = std::decay_t<decltype(*typed)>{}, wanted = before, then = before;
    std::memcpy(&wanted, expected, sizeof wanted);
    std::memcpy(&then, value, sizeof then);
    is_equal = swap_if_equal(typed, wanted, then, before);
    if (!is_equal) std::memcpy(expected, &before, sizeof before);
  };
  if (as_integer(size, variable, swap)) return is_equal;
  const holding alone(atomic_lock);
  if (std::memcmp(variable, expected, size) != 0) {
    std::memcpy(expected, variable, size);
    return false;
  }
  std::memcpy(variable, value, size);
  return true;
}

OPENMP_API void __kmpc_atomic_start() { atomic_lock.lock(); }
OPENMP_API void __kmpc_atomic_end() { atomic_lock.unlock(); }

}  // namespace lockstep::openmp::llvm
