// SPDX-License-Identifier: MIT
// src/base/growing_array.hpp -- values in a row that can become more (layer: base)
//
// As std::vector, whose names it uses, for code that every unit compiles: a std::vector of one type takes 10 to 20 ms of
// the compiler, this a tenth. Likewise sort_by() and the heap. A Type moves without throwing.
#ifndef LOCKSTEP_SRC_BASE_GROWING_ARRAY_HPP
#define LOCKSTEP_SRC_BASE_GROWING_ARRAY_HPP

#include <cstddef>
#include <initializer_list>
#include <new>
#include <utility>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Type>
class growing_array {
 public:
  growing_array() noexcept = default;
  explicit growing_array(std::size_t count) : growing_array() { resize(count); }
  growing_array(std::size_t count, const Type& value) : growing_array() { assign(count, value); }
  growing_array(const Type* first, const Type* last) : growing_array() { append(first, last); }
  growing_array(std::initializer_list<Type> values) : growing_array(values.begin(), values.end()) {}
  growing_array(const growing_array& other) : growing_array(other.begin(), other.end()) {}
  growing_array(growing_array&& other) noexcept { swap(other); }
  growing_array& operator=(growing_array other) noexcept {
    swap(other);
    return *this;
  }
  ~growing_array() {
    clear();
    ::operator delete(data_);
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  Type* data() noexcept { return data_; }
  const Type* data() const noexcept { return data_; }
  Type* begin() noexcept { return data_; }
  Type* end() noexcept { return data_ + size_; }
  const Type* begin() const noexcept { return data_; }
  const Type* end() const noexcept { return data_ + size_; }
  Type& operator[](std::size_t index) noexcept { return data_[index]; }
  const Type& operator[](std::size_t index) const noexcept { return data_[index]; }
  Type& front() noexcept { return data_[0]; }
  Type& back() noexcept { return data_[size_ - 1]; }
  const Type& back() const noexcept { return data_[size_ - 1]; }

  void push_back(Type value) {
    if (size_ == capacity_) reserve(size_ < 4 ? 4 : 2 * size_);
    ::new (static_cast<void*>(data_ + size_)) Type(std::move(value));
    ++size_;
  }
  void pop_back() noexcept { data_[--size_].~Type(); }
  void clear() noexcept {
    while (size_ > 0) pop_back();
  }
  /// Copies of values that are none of these.
  void append(const Type* first, const Type* last) {
    for (; first != last; ++first) push_back(*first);
  }
  /// `value` is none of these.
  void assign(std::size_t count, const Type& value) {
    clear();
    reserve(count);
    while (size_ < count) push_back(value);
  }
  void resize(std::size_t count) {
    while (size_ > count) pop_back();
    reserve(count);
    while (size_ < count) push_back(Type());
  }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    constexpr std::size_t most = static_cast<std::size_t>(-1) / 2;
    Type* const made = static_cast<Type*>(
        ::operator new(count > most / sizeof(Type) ? most : count * sizeof(Type)));
    for (std::size_t i = 0; i < size_; ++i) {
      ::new (static_cast<void*>(made + i)) Type(std::move(data_[i]));
      data_[i].~Type();
    }
    ::operator delete(data_);
    data_ = made;
    capacity_ = count;
  }
  void swap(growing_array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static_assert(alignof(Type) <= alignof(std::max_align_t), "growing_array: see aligned_array");

  Type* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

/// In a heap no value is less than those below it: that at i has those at 2i + 1 and 2i + 2 below. Moves the value at
/// `at` down to its place.
template <class Type, class Less>
void sift_down(Type* heap, std::size_t count, std::size_t at, Less less) {
  for (std::size_t below = 2 * at + 1; below < count; below = 2 * at + 1) {
    if (below + 1 < count && less(heap[below], heap[below + 1])) ++below;
    if (!less(heap[at], heap[below])) return;
    std::swap(heap[at], heap[below]);
    at = below;
  }
}
template <class Type, class Less>
void push_to_heap(growing_array<Type>& heap, const Type& value, Less less) {
  std::size_t at = heap.size();
  heap.push_back(value);
  while (at > 0 && less(heap[(at - 1) / 2], heap[at])) {
    std::swap(heap[(at - 1) / 2], heap[at]);
    at = (at - 1) / 2;
  }
}
template <class Type, class Less>
Type pop_from_heap(growing_array<Type>& heap, Less less) {
  const Type first = heap.front();
  heap.front() = heap.back();
  heap.pop_back();
  sift_down(heap.data(), heap.size(), 0, less);
  return first;
}

/// Equal values may change places.
template <class Type, class Less>
void sort_by(Type* values, std::size_t count, Less less) {
  for (std::size_t i = count / 2; i-- > 0;) sift_down(values, count, i, less);
  for (std::size_t left = count; left-- > 1;) {
    std::swap(values[0], values[left]);
    sift_down(values, left, 0, less);
  }
}
template <class Type, class Less>
void sort_by(growing_array<Type>& values, Less less) {
  detail::sort_by(values.data(), values.size(), less);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_BASE_GROWING_ARRAY_HPP
