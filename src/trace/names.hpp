// SPDX-License-Identifier: MIT
// src/trace/names.hpp -- texts that live for ever, names of objects, and values that other threads read (layer: trace)
//
// The names of constructs and files are literals of the calling module. They are gone when the module is unloaded, but
// observers still know of it. So observers keep copies, one of each text. The names of named_object.hpp are in lists
// that only grow, by their address. Entries are changed under a lock, which fork() holds, and read without a lock.
//
//   LOG-2  A reader of a shown value gets a whole one. If the writer was in the way, the reader tries again, and gives
//          up after some tries.
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  first.load          acquire  2      a text, an entry, the table of texts is whole before its address is seen
//   2  first.store and     release  1      as 1
//      first.cmp_exch
//   3  count.add           relaxed  -      a limit; where 2 fails, nothing is read of the text that was before it
//   4  first.load          relaxed  -      under the lock under which it is stored
//   5  sequence.store      relaxed  -      odd: the stores of the words, which follow, are release
//   6  word.store          release  7      a reader that sees the word by 7 sees the odd number before it
//   7  word.load           acquire  6      the other half
//   8  sequence.store      release  9      a reader that sees the even number sees the words
//   9  sequence.load       acquire  8      the other half
//   10 sequence.load       relaxed  -      7 orders it after the words
#ifndef LOCKSTEP_SRC_TRACE_NAMES_HPP
#define LOCKSTEP_SRC_TRACE_NAMES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A text that lives for ever, equal to this one. For any thread, at any time, but not for signal handlers.
const char* keep_text(const char* given) noexcept;

/// Lists that only grow. They have no lock, so that a thread that forks may keep texts at any time.
struct kept_texts {
  struct text {
    text* next;
  };
  static constexpr std::size_t size = 128, most = 65536;

  observer_atomic<text*> first[size];
  observer_atomic<std::size_t> count;

  static const char* content(const text* of) noexcept {
    return reinterpret_cast<const char*>(of + 1);
  }
  /// The table of the process; null: no memory.
  static kept_texts* of_process() noexcept;
};

/// keep_text() for one thread, which asks for the same texts again and again.
class text_keeper {
 public:
  const char* kept(const char* text) noexcept {
    if (text == nullptr) return nullptr;
    known_text& known = texts_[(reinterpret_cast<std::uintptr_t>(text) >> 2) % known_texts];
    if (known.given == text && std::strcmp(known.kept, text) == 0) return known.kept;
    known.kept = keep_text(text);
    known.given = text;
    return known.kept;
  }
  call_site kept(source_place where) noexcept { return {kept(where.file), where.line}; }

 private:
  static constexpr std::size_t known_texts = 256;

  struct known_text {
    const char *given, *kept;
  };

  known_text texts_[known_texts] = {};
};

/// A value that one thread writes, and that others may read at the same time.
template <class Type>
class shown {
 public:
  void show(const Type& value) noexcept {
    std::uint64_t image[words] = {};
    std::memcpy(image, &value, sizeof value);
    const std::uint32_t odd = sequence_.load(memory_order_relaxed) | 1u;                      // 10
    sequence_.store(odd, memory_order_relaxed);                                               // 5
    for (std::size_t i = 0; i < words; ++i) words_[i].store(image[i], memory_order_release);  // 6
    sequence_.store(odd + 1, memory_order_release);                                           // 8
  }
  /// Readers get nothing until the next value is shown, as if the writer was in the way.
  void hide() noexcept {
    sequence_.store(sequence_.load(memory_order_relaxed) | 1u, memory_order_relaxed);  // 5, 10
  }
  /// False if nothing was shown yet, or if the writer was in the way each time.
  bool read(Type& out, unsigned tries = 1000) const noexcept {
    for (unsigned i = 0; i < tries; ++i) {
      const std::uint32_t before = sequence_.load(memory_order_acquire);  // 9
      if (before == 0) return false;
      if ((before & 1u) != 0) continue;
      std::uint64_t image[words];
      for (std::size_t k = 0; k < words; ++k) image[k] = words_[k].load(memory_order_acquire);  // 7
      if (sequence_.load(memory_order_relaxed) != before) continue;  // 10
      std::memcpy(static_cast<void*>(&out), image, sizeof out);
      return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t words = (sizeof(Type) + 7) / 8;

  observer_atomic<std::uint32_t> sequence_{0};
  observer_atomic<std::uint64_t> words_[words] = {};
};

/// The name of a file without its directories, and the line. If `line` is 0, `file` is the name of a function.
std::string site_text(const char* file, std::uint64_t line);

struct object_name {
  const void* object;  ///< null: the entry is free
  char text[48];
};

struct object_names {
  /// Gives the object a name; null or "" takes the name away. False if there is no memory, or no object.
  static bool set(const void* object, const char* name) noexcept;
  /// False if it has none.
  static bool find(const void* object, object_name& out) noexcept;
  /// Nothing to do: the table is whole in the child.
  static void in_child() noexcept {}
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_NAMES_HPP
