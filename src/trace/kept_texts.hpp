// SPDX-License-Identifier: MIT
// src/trace/kept_texts.hpp -- texts that live as long as the process, each once (layer: trace)
//
// The names of constructs and files are literals of the module whose code calls. A module that is unloaded takes them with
// it, and what observers know of it stays. So they keep copies.
//
// Memory order (# marks the line)
//   #  access           order    pairs  why it suffices
//   1  first.load       acquire  2      a text, and the table, is whole before its address is seen
//   2  first.cmp_exch   release  1      as 1
//   3  count.add        relaxed  -      a limit; where 2 fails, nothing is read of the text that was before it
#ifndef LOCKSTEP_SRC_TRACE_KEPT_TEXTS_HPP
#define LOCKSTEP_SRC_TRACE_KEPT_TEXTS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Lists that only grow: without a lock, so that a thread that forks may keep texts at any time.
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
  static kept_texts* of_process() noexcept {
    observer_atomic<void*>& word = process().trace_texts;
    void* known = word.load(memory_order_acquire);  // 1
    if (known != nullptr) return static_cast<kept_texts*>(known);
    kept_texts* const made = new (std::nothrow) kept_texts();
    if (made == nullptr || word.compare_exchange_strong(known, made, memory_order_release,  // 2
                                                        memory_order_acquire)) {            // 1
      return made;
    }
    delete made;
    return static_cast<kept_texts*>(known);
  }
};

/// A text that lives for ever, equal to this one. Any thread, at any time; no signal handler.
const char* keep_text(const char* given) noexcept;

/// The same for one thread, which asks again and again.
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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_KEPT_TEXTS_HPP
