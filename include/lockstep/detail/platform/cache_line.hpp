// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cache_line.hpp -- keeping words of different writers apart (layer: platform)
//
// padded<Type>        a Type that shares its cache line with nothing else
// aligned_array<Type> a fixed number of Type on the heap, each at its own alignment
//
// C++11 `new` ignores alignments above that of max_align_t, so aligned_array and aligned_new do it themselves.
//
// cache_line_size is 128 where hardware fetches lines in pairs (x86 since Nehalem) or has lines of 128 bytes (Apple's
// and some server AArch64 cores, POWER). Neighbours that are only 64 bytes apart disturb each other there.
#ifndef LOCKSTEP_DETAIL_PLATFORM_CACHE_LINE_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CACHE_LINE_HPP

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(__x86_64__) || defined(_M_X64) || defined(__aarch64__) || defined(_M_ARM64) || \
    defined(__powerpc64__)
LOCKSTEP_CONSTANT std::size_t cache_line_size = 128;
#elif defined(__s390x__)
LOCKSTEP_CONSTANT std::size_t cache_line_size = 256;
#else
LOCKSTEP_CONSTANT std::size_t cache_line_size = 64;
#endif

/// A gap as long as a cache line. The user may place an object beside other hot data, so the fields that other threads
/// read lie between two gaps. A team on the stack of the thread that runs it took 2.8 to 3.4 t1 a region without gaps,
/// 1.8 with them. A gap works at any alignment of the object; alignas does not, before C++17's `new`.
struct line_gap {
  unsigned char bytes[cache_line_size];
  line_gap() noexcept {}  // not initialised: never read
};

/// A Type alone on its cache line. Use in static or automatic storage, as a member, or in aligned_array.
template <class Type>
struct alignas(cache_line_size) padded {
  Type value;

  padded() : value() {}
  /// Makes the Type from at least one argument. The first is no padded, so that copies of a padded stay copies.
  template <class First, class... Rest,
            class = typename std::enable_if<
                !std::is_same<typename std::decay<First>::type, padded>::value>::type>
  explicit padded(First&& first, Rest&&... rest)
      : value(std::forward<First>(first), std::forward<Rest>(rest)...) {}
};

/// Owns what `new` has made, or nothing: std::unique_ptr without the rest of <memory>.
template <class Type>
class owner {
 public:
  constexpr owner() noexcept : made_(nullptr) {}
  explicit owner(Type* made) noexcept : made_(made) {}
  owner(owner&& other) noexcept : made_(other.release()) {}
  owner& operator=(owner&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~owner() { delete made_; }

  explicit operator bool() const noexcept { return made_ != nullptr; }
  Type* get() const noexcept { return made_; }
  Type& operator*() const noexcept { return *made_; }
  Type* operator->() const noexcept { return made_; }
  void reset(Type* other = nullptr) noexcept {
    Type* const before = made_;
    made_ = other;
    delete before;
  }
  Type* release() noexcept {
    Type* const made = made_;
    made_ = nullptr;
    return made;
  }

 private:
  Type* made_;
};

/// The base of a type that `new` makes at a given boundary, or at that of a pointer if that is larger.
template <std::size_t Boundary>
struct aligned_new {
  static void* operator new(std::size_t size) {
    constexpr std::size_t boundary = Boundary > sizeof(void*) ? Boundary : sizeof(void*);
    unsigned char* const raw = static_cast<unsigned char*>(::operator new(size + boundary));
    const std::size_t gap = boundary - reinterpret_cast<std::uintptr_t>(raw) % boundary;
    ::new (static_cast<void*>(raw + gap - sizeof(void*))) void*(raw);
    return raw + gap;
  }
  static void operator delete(void* at) noexcept { ::operator delete(static_cast<void**>(at)[-1]); }
};

/// What aligned_array must know of a type.
struct element_type {
  std::size_t size, alignment;
  void (*make)(void* at);     ///< value-initialises it
  void (*destroy)(void* at);  ///< null: there is nothing to do

  template <class Type>
  struct of {
    static void make(void* at) { ::new (at) Type(); }
    static void destroy(void* at) { static_cast<Type*>(at)->~Type(); }
    static const element_type value;
  };
};
template <class Type>
const element_type element_type::of<Type>::value = {
    sizeof(Type), alignof(Type) > cache_line_size ? alignof(Type) : cache_line_size, &of::make,
    std::is_trivially_destructible<Type>::value ? nullptr : &of::destroy};

/// The code of aligned_array, once for all types: a team has a dozen of them.
class any_aligned_array {
 public:
  /// If making an element throws, destroys those made before.
  any_aligned_array(std::size_t size, const element_type& type);
  ~any_aligned_array();
  any_aligned_array(const any_aligned_array&) = delete;
  any_aligned_array& operator=(const any_aligned_array&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return count_; }

 private:
  any_aligned_array(const element_type& type, std::size_t room);
  void* at(std::size_t index) const noexcept {
    return static_cast<unsigned char*>(data_) + index * type_.size;
  }

  const element_type& type_;
  void* raw_;
  void* data_;
  std::size_t count_ = 0;
};

/// A fixed number of value-initialised elements. No other data lies on their cache lines. Throws std::bad_alloc as
/// `new` does.
template <class Type>
class aligned_array {
 public:
  explicit aligned_array(std::size_t size)
      : elements_(size, element_type::of<Type>::value),
        data_(static_cast<Type*>(elements_.data())) {}

  Type& operator[](std::size_t index) noexcept { return data_[index]; }
  const Type& operator[](std::size_t index) const noexcept { return data_[index]; }
  std::size_t size() const noexcept { return elements_.size(); }
  Type* data() const noexcept { return data_; }

 private:
  any_aligned_array elements_;
  Type* data_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CACHE_LINE_HPP
