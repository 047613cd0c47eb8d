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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include "../platform/fork.hpp"
#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

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
  static kept_texts* of_process() noexcept {
    observer_atomic<void*>& word = process().trace_texts;
    void* first = word.load(memory_order_acquire);  // 1
    if (first != nullptr) return static_cast<kept_texts*>(first);
    kept_texts* const made = new (std::nothrow) kept_texts();
    if (made == nullptr || word.compare_exchange_strong(first, made, memory_order_release,  // 2
                                                        memory_order_acquire)) {            // 1
      return made;
    }
    delete made;
    return static_cast<kept_texts*>(first);
  }
};

/// A text that lives for ever, equal to this one. For any thread, at any time, but not for signal handlers.
inline const char* keep_text(const char* given) noexcept {
  kept_texts* const texts = kept_texts::of_process();
  if (texts == nullptr) return "?";
  std::size_t place = 5381;
  for (const char* at = given; *at != 0; ++at) place = place * 33 + static_cast<unsigned char>(*at);
  observer_atomic<kept_texts::text*>& first = texts->first[place % kept_texts::size];
  kept_texts::text* next = first.load(memory_order_acquire);  // 1
  for (const kept_texts::text* at = next; at != nullptr; at = at->next) {
    if (std::strcmp(kept_texts::content(at), given) == 0) return kept_texts::content(at);
  }
  if (texts->count.fetch_add(1, memory_order_relaxed) >= kept_texts::most) {  // 3
    return "(too many names)";
  }
  const std::size_t length = std::strlen(given) + 1;
  void* const raw = std::malloc(sizeof(kept_texts::text) + length);
  if (raw == nullptr) return "?";
  kept_texts::text* const made = ::new (raw) kept_texts::text{next};
  std::memcpy(static_cast<void*>(made + 1), given, length);
  while (!first.compare_exchange_weak(made->next, made, memory_order_release,  // 2
                                      memory_order_relaxed)) {                 // 3
  }
  return kept_texts::content(made);
}

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
  /// Until the next value is shown, readers get nothing, as if the writer was always in the way.
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
inline std::string site_text(const char* file, std::uint64_t line) {
  const char* last_part = file;
  for (const char* at = file; *at != 0; ++at) {
    if (*at == '/' || *at == '\\') last_part = at + 1;
  }
  return line == 0 ? last_part : last_part + (":" + std::to_string(line));
}

struct object_name {
  const void* object;  ///< null: the entry is free
  char text[48];
};

class object_names {
 public:
  /// Gives the object a name; null or "" takes the name away. False if there is no memory, or no object.
  static bool set(const void* object, const char* name) noexcept {
    if (object == nullptr) return false;
    watch_forks<locked_around_fork<&process_state::name_forks, object_names>>();
    const bool has_name = name != nullptr && name[0] != 0;
    object_name wanted = {};
    if (has_name) {
      wanted.object = object;
      std::snprintf(wanted.text, sizeof wanted.text, "%s", name);
    }
    observer_atomic<void*>& first = list_of(object);
    const holding<fork_section> held(process().name_forks);
    entry *place = nullptr, *unused = nullptr;
    entry* const head = static_cast<entry*>(first.load(memory_order_relaxed));  // 4
    for (entry* at = head; at != nullptr && place == nullptr; at = at->next) {
      object_name known;
      if (!at->name.read(known)) continue;
      if (known.object == nullptr) unused = at;
      if (known.object == object) place = at;
    }
    if (place == nullptr && has_name) place = unused;
    if (place != nullptr) place->name.show(wanted);
    if (place != nullptr || !has_name) return true;
    place = new (std::nothrow) entry();
    if (place == nullptr) return false;
    place->name.show(wanted);
    place->next = head;
    first.store(place, memory_order_release);  // 2
    return true;
  }
  /// False if it has none.
  static bool find(const void* object, object_name& out) noexcept {
    if (object == nullptr) return false;
    const void* const head = list_of(object).load(memory_order_acquire);  // 1
    for (const entry* at = static_cast<const entry*>(head); at != nullptr; at = at->next) {
      if (at->name.read(out) && out.object == object) return true;
    }
    return false;
  }
  /// Nothing to do: the table is whole in the child.
  static void in_child() noexcept {}

 private:
  struct entry {
    shown<object_name> name;
    entry* next;
  };
  static observer_atomic<void*>& list_of(const void* object) noexcept {
    const std::size_t place = reinterpret_cast<std::uintptr_t>(object) / 8;
    return process().object_names[place % process_state::object_names_size];
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_NAMES_HPP
