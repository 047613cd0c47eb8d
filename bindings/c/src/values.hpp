// SPDX-License-Identifier: MIT
// bindings/c/src/values.hpp -- operations on numbers, and values of which only the size is known
#ifndef LOCKSTEP_BINDINGS_C_VALUES_HPP
#define LOCKSTEP_BINDINGS_C_VALUES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "support.hpp"

namespace lockstep_c {

/// The type in which a number is computed: whole numbers wrap around.
template <class Type>
using word_of = typename std::conditional<std::is_integral<Type>::value, std::uint64_t, Type>::type;

/// One of LOCKSTEP_SUM ... LOCKSTEP_MAX.
template <class Type>
struct operation_of {
  int which;

  Type operator()(Type a, Type b) const noexcept {
    using word = word_of<Type>;
    switch (which) {
      case LOCKSTEP_SUM: return static_cast<Type>(static_cast<word>(a) + static_cast<word>(b));
      case LOCKSTEP_PRODUCT: return static_cast<Type>(static_cast<word>(a) * static_cast<word>(b));
      case LOCKSTEP_MIN: return b < a ? b : a;
      default: return a < b ? b : a;
    }
  }
  Type neutral() const noexcept {
    using limits = std::numeric_limits<Type>;
    switch (which) {
      case LOCKSTEP_SUM: return Type(0);
      case LOCKSTEP_PRODUCT: return Type(1);
      case LOCKSTEP_MIN: return limits::has_infinity ? limits::infinity() : (limits::max)();
      default: return limits::has_infinity ? -limits::infinity() : (limits::lowest)();
    }
  }
};

/// A value of up to Size bytes. It travels in a cell of the library, as a double does.
template <std::size_t Size>
struct small_value {
  static small_value of(const void* bytes, std::size_t size) noexcept {
    small_value made = {};
    if (bytes != nullptr) std::memcpy(made.bytes, bytes, size);
    return made;
  }
  void* data() noexcept { return bytes; }
  const void* data() const noexcept { return bytes; }

  alignas(Size) unsigned char bytes[Size];
};

/// A larger value. It lies on the heap if it has more than 32 bytes.
class large_value {
 public:
  static large_value of(const void* bytes, std::size_t size) { return large_value(bytes, size); }
  large_value(const large_value& other) : large_value(other.data(), other.size_) {}
  large_value(large_value&& other) noexcept : size_(other.size_), heap_(std::move(other.heap_)) {
    std::memcpy(inside_, other.inside_, sizeof inside_);
  }
  large_value& operator=(large_value other) noexcept {
    size_ = other.size_;
    heap_ = std::move(other.heap_);
    std::memcpy(inside_, other.inside_, sizeof inside_);
    return *this;
  }

  void* data() noexcept { return heap_ != nullptr ? heap_.get() : inside_; }
  const void* data() const noexcept { return heap_ != nullptr ? heap_.get() : inside_; }

 private:
  large_value(const void* bytes, std::size_t size) : size_(size) {
    if (size > sizeof inside_) heap_.reset(new unsigned char[size]());
    if (bytes != nullptr) std::memcpy(data(), bytes, size);
  }

  std::size_t size_;
  std::unique_ptr<unsigned char[]> heap_;
  alignas(std::max_align_t) unsigned char inside_[32] = {};
};

/// The user's operation on values of unknown type.
struct combine_by {
  lockstep_combine_fn function;
  void* context;

  template <class Value>
  Value operator()(Value a, const Value& b) const {
    const auto call = [](lockstep_combine_fn f, void* into, const void* from, void* with) {
      return f(into, from, with), LOCKSTEP_OK;
    };
    const int code = called(call, function, a.data(), b.data(), context);
    if (code != LOCKSTEP_OK) throw callback_failure(code);
    return a;
  }
};

/// Calls body(value) with a value of the type for this size, which holds `bytes`; null: zeros.
template <class Body>
int with_value(const void* bytes, std::size_t size, const Body& body) {
  if (size <= 8) return body(small_value<8>::of(bytes, size));
  if (size <= 16) return body(small_value<16>::of(bytes, size));
  return body(large_value::of(bytes, size));
}

// The leaves of a reduction: each makes a value of a part of the range.

template <class Type, class Function>
struct number_block {
  Function function;
  void* context;
  operation_of<Type> operation;

  Type operator()(std::int64_t first, std::int64_t last) const {
    Type value = operation.neutral();
    const int code = called(function, first, last, &value, context);
    if (code != LOCKSTEP_OK) throw callback_failure(code);
    return value;
  }
};

template <class Value>
struct value_block {
  lockstep_block_value_fn function;
  void* context;
  std::size_t size;

  Value operator()(std::int64_t first, std::int64_t last) const {
    Value value = Value::of(nullptr, size);
    const int code = called(function, first, last, value.data(), context);
    if (code != LOCKSTEP_OK) throw callback_failure(code);
    return value;
  }
};

}  // namespace lockstep_c

#endif  // LOCKSTEP_BINDINGS_C_VALUES_HPP
