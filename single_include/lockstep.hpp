// SPDX-License-Identifier: MIT
// lockstep.hpp -- all of <lockstep/lockstep.hpp> in one file
//
// Made by scripts/amalgamate.py from include/lockstep; change the headers there, then run
// './do single'.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

// lockstep/lockstep.hpp -- everything (the layers from bottom to top)

// lockstep/platform/config.hpp -- the version and what the compiler gives us (layer: platform)
//
// Every LOCKSTEP_ macro that is *defined* by the library is defined in this directory. None of them
// changes the layout of a class, so units compiled with different settings may be linked together,
// except for the two seam macros (atomic.hpp, system.hpp), which replace types and must be the same
// in the whole program.

#define LOCKSTEP_VERSION_MAJOR 0
#define LOCKSTEP_VERSION_MINOR 1
#define LOCKSTEP_VERSION_PATCH 0

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define LOCKSTEP_HAS_EXCEPTIONS 1
#else
#define LOCKSTEP_HAS_EXCEPTIONS 0
#endif

// Slow paths are kept out of line so that the fast path stays small enough to be inlined.
#if defined(__GNUC__)
#define LOCKSTEP_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define LOCKSTEP_NOINLINE __declspec(noinline)
#else
#define LOCKSTEP_NOINLINE
#endif

// lockstep/platform/this_thread.hpp -- placing and naming the calling thread (layer: platform)
//
// Both are wishes: where the system has no such call, or refuses, they return false and nothing changes.

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace lockstep {
namespace platform {

/// Binds the calling thread to one CPU.
inline bool pin_this_thread(unsigned cpu) noexcept {
#if defined(__linux__)
  if (cpu >= CPU_SETSIZE) return false;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  return sched_setaffinity(0, sizeof mask, &mask) == 0;
#else
  (void)cpu;
  return false;
#endif
}

/// Gives the calling thread a name that debuggers and `top -H` show; cut to what the system takes.
inline bool name_this_thread(const char* name) noexcept {
#if defined(__linux__)
  char short_name[16] = {};
  for (std::size_t i = 0; i + 1 < sizeof short_name && name[i] != 0; ++i) short_name[i] = name[i];
  return pthread_setname_np(pthread_self(), short_name) == 0;
#else
  (void)name;
  return false;
#endif
}

}  // namespace platform
}  // namespace lockstep

// lockstep/platform/usable_cpus.hpp -- how many CPUs this process may really use (layer: platform)
//
// The CPUs of the affinity mask, cut by the control group's quota (rounded down, at least one): a
// container with a quota of 2 CPUs on a machine of 64 has 2. More runnable threads than that are
// *crowded*: spinning then takes time from the very thread one waits for.

// lockstep/platform/cgroup.hpp -- how many CPUs' worth of time a container grants (layer: platform)
//
// Reads the CPU quota of control groups version 1 and 2 for the calling process: every group from its
// own up to the mount is looked at, the smallest quota counts. Mount points come from mountinfo, so
// systems that mount elsewhere, or bind-mount a sub-tree into a container, are read rightly.
//
// The text functions are pure; `root` is a directory put before every path, for tests.
// Source [CGROUP-V1], [CGROUP-V2]

namespace lockstep {
namespace platform {
namespace cgroup {

/// CPUs granted per unit of time; `unlimited` means no quota.
constexpr double unlimited = -1.0;

/// quota / period, or `unlimited` where either is not a positive number.
inline double ratio(const std::string& quota, const std::string& period) {
  const double numerator = std::strtod(quota.c_str(), nullptr);
  const double denominator = std::strtod(period.c_str(), nullptr);
  return numerator > 0 && denominator > 0 ? numerator / denominator : unlimited;
}

/// The content of a version 2 `cpu.max` file: "max 100000" or "150000 100000".
inline double parse_cpu_max(const std::string& text) {
  std::istringstream words(text);
  std::string quota, period;
  words >> quota >> period;
  return ratio(quota, period);
}

/// The tighter of two quotas.
inline double tighter(double a, double b) {
  if (a < 0) return b;
  if (b < 0) return a;
  return a < b ? a : b;
}

inline bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// The group of the process in /proc/self/cgroup's text: version 2 has an empty controller list.
inline std::string find_group(const std::string& cgroup_text, bool version_2) {
  std::istringstream lines(cgroup_text);
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version_2 ? controllers.empty() : has_word(controllers, "cpu")) {
      return line.substr(second + 1);
    }
  }
  return std::string();
}

/// One mounted hierarchy: where it is, and which group its top directory shows.
struct mount {
  std::string point;
  std::string shown_group;
  bool version_2 = false;
};

/// mountinfo writes blank, tab, newline and backslash as a backslash and three octal digits.
inline std::string decode_octal(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string digits = text.substr(i + 1 < text.size() ? i + 1 : text.size(), 3);
    const bool is_code = text[i] == '\\' && digits.size() == 3 &&
                         digits.find_first_not_of("01234567") == std::string::npos;
    result += is_code ? static_cast<char>(std::strtol(digits.c_str(), nullptr, 8)) : text[i];
    if (is_code) i += 3;
  }
  return result;
}

/// Reads one line of mountinfo; false if it is no hierarchy with CPU quotas.
inline bool parse_mount(const std::string& line, mount& result) {
  const std::size_t separator = line.find(" - ");
  if (separator == std::string::npos) return false;
  std::istringstream left(line.substr(0, separator)), right(line.substr(separator + 3));
  std::string id, parent, device, type, source, options;
  left >> id >> parent >> device >> result.shown_group >> result.point;
  right >> type >> source >> options;
  result.shown_group = decode_octal(result.shown_group);
  result.point = decode_octal(result.point);
  result.version_2 = type == "cgroup2";
  return result.version_2 || (type == "cgroup" && has_word(options, "cpu"));
}

/// `group` as seen below a mount whose top directory is `shown`.
inline std::string relative_group(const std::string& group, const std::string& shown) {
  if (shown == "/" || shown.empty()) return group == "/" ? std::string() : group;
  const bool is_below = group.compare(0, shown.size(), shown) == 0 &&
                        (group.size() == shown.size() || group[shown.size()] == '/');
  return is_below ? group.substr(shown.size()) : std::string();
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path.c_str());
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

inline double quota_of_directory(const std::string& directory, bool version_2) {
  if (version_2) return parse_cpu_max(read_file(directory + "/cpu.max"));
  return ratio(read_file(directory + "/cpu.cfs_quota_us"),
               read_file(directory + "/cpu.cfs_period_us"));
}

/// The tightest quota from the process's group up to the top of one mounted hierarchy.
inline double quota_of_mount(const std::string& root, const mount& where,
                             const std::string& cgroup_text) {
  std::string group = relative_group(find_group(cgroup_text, where.version_2), where.shown_group);
  double result = unlimited;
  while (true) {
    result = tighter(result, quota_of_directory(root + where.point + group, where.version_2));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return result;
    group.resize(slash);
  }
}

/// The quota in force for the calling process, in CPUs, or `unlimited`.
inline double quota(const std::string& root = std::string()) {
  const std::string groups = read_file(root + "/proc/self/cgroup");
  std::istringstream mounts(read_file(root + "/proc/self/mountinfo"));
  double result = unlimited;
  std::string line;
  while (std::getline(mounts, line)) {
    mount where;
    if (parse_mount(line, where)) result = tighter(result, quota_of_mount(root, where, groups));
  }
  return result;
}

}  // namespace cgroup
}  // namespace platform
}  // namespace lockstep

#if defined(__linux__)
#include <sched.h>
#endif

namespace lockstep {
namespace platform {

/// The numbers of the CPUs in the affinity mask of the calling thread, ascending; empty if unknown.
inline std::vector<unsigned> affinity() {
  std::vector<unsigned> cpus;
#if defined(__linux__)
  // The kernel refuses a mask smaller than its own, hence the growth.
  for (std::size_t limit = 1024; limit <= std::size_t{1} << 20; limit *= 4) {
    cpu_set_t* const mask = CPU_ALLOC(limit);
    if (mask == nullptr) break;
    const std::size_t size = CPU_ALLOC_SIZE(limit);
    const bool known = sched_getaffinity(0, size, mask) == 0;
    for (std::size_t cpu = 0; known && cpu < limit; ++cpu) {
      if (CPU_ISSET_S(cpu, size, mask)) cpus.push_back(static_cast<unsigned>(cpu));
    }
    CPU_FREE(mask);
    if (known) break;
  }
#endif
  return cpus;
}

/// Looks afresh; about 100 us.
inline unsigned count_usable_cpus() {
  unsigned count = static_cast<unsigned>(affinity().size());
  if (count == 0) count = std::thread::hardware_concurrency();
#if defined(__linux__)
  const double quota = cgroup::quota();
  if (quota >= 0 && quota < count) count = static_cast<unsigned>(quota);
#endif
  return count > 0 ? count : 1;
}

/// The count as it was when the process first asked.
inline unsigned usable_cpus() {
  static const unsigned count = count_usable_cpus();
  return count;
}

}  // namespace platform

using platform::usable_cpus;

}  // namespace lockstep

// lockstep/sync/barrier.hpp -- all wait for all: reusable barrier of ranked threads (layer: sync)
//
// No thread returns from arrive_and_wait(rank) before all participants have called it. It is CUDA's
// __syncthreads() between CPU threads. What happens before any arrival in a phase happens before every
// return from that phase. arrive() and wait() are its two halves, for work in between.
// The participants must be fixed, and each must know its rank.
//
// Two ways, chosen by the number of participants:
//   flags     up to `most_flags`: everyone publishes its phase on its own line and looks at all others.
//   counter   above: everyone counts itself in; the last publishes the phase of all.
//
// Invariants
//   R1  0 <= arrived_ < participants whenever no arrival is being made.
//   R2  While any thread is between arrive and wait of phase p, every phase is p or p + 1.
// Lifetime: by structure; destroy only after every call has returned.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  arrived.fetch_add  acq_rel  1      the last to arrive has seen all arrivals, and publishes them
//   2  arrived.store      relaxed  -      published by the advance after it; the next arrivals, which
//                                         have waited for that advance, come later
//
// Cost   flags: one store on one's own line, participants - 1 fetches in parallel; two participants pay
//        one line transfer each, at the same time. counter: participants RMWs on one line in turn, then
//        participants - 1 fetches of one other line. No system call unless somebody sleeps.
// Source flags: all-to-all dissemination [MCS91]; counter: [MCS91] sec. 3.1 with a phase for the sense.

// lockstep/platform/error.hpp -- how the library refuses bad input (layer: platform)
//
// With exceptions: throws std::invalid_argument (a count) or std::out_of_range (a rank). Without
// (-fno-exceptions): prints the same message to stderr and aborts. Every message names the class, the
// value that was given, and the values that would have been right.

namespace lockstep {
namespace platform {

/// The most participants any object takes; more is taken for a wrong argument, not for a wish.
constexpr std::size_t max_participants = 65536;

template <class Exception>
[[noreturn]] inline void fail(const char* message) {
#if LOCKSTEP_HAS_EXCEPTIONS
  throw Exception(message);
#else
  std::fprintf(stderr, "%s\n", message);
  std::abort();
#endif
}

[[noreturn]] LOCKSTEP_NOINLINE inline void fail_count(const char* object, const char* what,
                                                      std::size_t count) {
  char message[160];
  std::snprintf(message, sizeof message, "%s: %zu %s given, must be 1 to %zu", object, count, what,
                max_participants);
  fail<std::invalid_argument>(message);
}

[[noreturn]] LOCKSTEP_NOINLINE inline void fail_rank(const char* object, const char* what,
                                                     std::size_t rank, std::size_t count) {
  char message[160];
  std::snprintf(message, sizeof message, "%s: rank %zu of %zu %s is out of range, must be 0 to %zu",
                object, rank, count, what, count - 1);
  fail<std::out_of_range>(message);
}

/// Returns `count` if it is a possible number of participants, else fails naming `object`.
inline std::size_t checked_count(const char* object, const char* what, std::size_t count) {
  if (count == 0 || count > max_participants) fail_count(object, what, count);
  return count;
}

/// Returns `rank` if it is below `count`, else fails naming `object`.
inline std::size_t checked_rank(const char* object, const char* what, std::size_t rank,
                                std::size_t count) {
  if (rank >= count) fail_rank(object, what, rank, count);
  return rank;
}

}  // namespace platform
}  // namespace lockstep

// lockstep/sync/phase_board.hpp -- writers publish phases, readers wait for all of them (layer: sync)
//
// The common part of fan_out, fan_in, rendezvous and barrier; use those. Every writer has a phase
// number on a cache line of its own, which it alone advances. Every reader remembers the phase it has
// reached; a wait blocks until *each* writer is beyond it, so that a fast writer cannot stand in for a
// slow one, and a writer may run ahead without losing a notification.
//
// What happens before an advance happens before the return of every wait that needs it.
// Lifetime: guaranteed by structure: destroy only after every call on the board has returned.
//
// Invariants
//   B1  A phase only ever grows by one, by its writer; differences are taken modulo 2^32, so that a
//       writer may be 2^31 - 1 phases ahead of a reader, and wrap-around is harmless.
//   B2  The phase a reader has reached and the phase a writer has published are kept once more as plain
//       data of that thread.
//   B3  terminated_ is set once and never cleared; a wait that finds it set returns false.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  phase.store        relaxed  -      before the board is given to other threads
//   2  phase.store        release  3      the reader sees what came before the advance
//   3  phase.load         acquire  2      the other half
//   4  terminated.store   release  5      the released waiter sees what came before terminate()
//   5  terminated.load    acquire  4      the other half
//
// The store 2 (or 4) and the look at the mark that follows it are the notifier's side of
// sleeper_mark.hpp, ready() after the announcement is the sleeper's side.
//
// Cost   advance: one store, one load of a read-mostly line; no read-modify-write. Wait for W writers:
//        W line fetches, in parallel where they have all arrived. A published line is never read by its
//        writer, neither for its phase (B2) nor for a mark: a look at it waits until the store before it
//        has claimed the line back from those who poll it. A barrier of 2 takes 1.0 t1 without such a
//        look, 1.3 with one (measured for both, 2 virtual CPUs of an EPYC).
//
// A line has room to spare: a board may carry a Payload beside each phase, written before the advance
// that announces it, so that readers get both with one fetch (team: the job).

// lockstep/platform/cache_line.hpp -- keeping words of different writers apart (layer: platform)
//
// padded<T>        a T that shares its cache line with nothing else
// aligned_array<T> a fixed number of T on the heap, each at its own alignment
//
// C++11 `new` does not honour alignments above that of max_align_t, hence the array of our own.
//
// The constant is 128 where hardware fetches lines in pairs (x86 since Nehalem) or has lines of 128
// bytes (Apple's and some server AArch64 cores, POWER): there, 64 lets neighbours disturb each other.

namespace lockstep {
namespace platform {

#if defined(__x86_64__) || defined(_M_X64) || defined(__aarch64__) || defined(_M_ARM64) || \
    defined(__powerpc64__)
constexpr std::size_t cache_line_size = 128;
#elif defined(__s390x__)
constexpr std::size_t cache_line_size = 256;
#else
constexpr std::size_t cache_line_size = 64;
#endif

/// A gap as long as a cache line. Between such gaps lie the fields that other threads read, in an object
/// that its user may place beside hot data of his own: a team on the stack of the thread that runs it
/// took 2.8 to 3.4 t1 a region without, 1.8 with. Works at any alignment of the object, which
/// alignas does not before C++17's `new`.
struct line_gap {
  unsigned char bytes[cache_line_size];
  line_gap() noexcept {}  // not initialised: never read
};

/// A T alone on its cache line. Use in static or automatic storage, as a member, or in aligned_array.
template <class T>
struct alignas(cache_line_size) padded {
  T value;

  padded() : value() {}
  /// A T made from these arguments; one at least, so that copying a padded stays a copy.
  template <class First, class... Rest,
            class = typename std::enable_if<
                !std::is_same<typename std::decay<First>::type, padded>::value>::type>
  explicit padded(First&& first, Rest&&... rest)
      : value(std::forward<First>(first), std::forward<Rest>(rest)...) {}
};

/// A fixed number of value-initialised T on cache lines of their own: no foreign data begins or ends on
/// them. Throws std::bad_alloc as `new` does.
template <class T>
class aligned_array {
 public:
  explicit aligned_array(std::size_t size) : elements_(size) {
    while (elements_.count < size) {
      ::new (static_cast<void*>(elements_.data + elements_.count)) T();
      ++elements_.count;
    }
  }
  aligned_array(const aligned_array&) = delete;
  aligned_array& operator=(const aligned_array&) = delete;

  T& operator[](std::size_t index) noexcept { return elements_.data[index]; }
  const T& operator[](std::size_t index) const noexcept { return elements_.data[index]; }
  std::size_t size() const noexcept { return elements_.count; }

 private:
  static constexpr std::size_t alignment = alignof(T) > cache_line_size ? alignof(T)
                                                                        : cache_line_size;

  static T* align(void* raw) noexcept {
    const std::uintptr_t mask = alignment - 1;
    return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(raw) + mask) & ~mask);
  }

  /// Enough for `size` elements and a line on each side. More than there are addresses stays more than
  /// `new` can give.
  static std::size_t bytes(std::size_t size) noexcept {
    constexpr std::size_t most = static_cast<std::size_t>(-1) / 2;
    return size > (most - 2 * alignment) / sizeof(T) ? most : size * sizeof(T) + 2 * alignment;
  }

  /// Destroys what was made and gives the memory back, also when a constructor of T throws.
  struct elements {
    void* raw;
    T* data;
    std::size_t count = 0;

    explicit elements(std::size_t size) : raw(::operator new(bytes(size))), data(align(raw)) {}
    ~elements() {
      while (count > 0) data[--count].~T();
      ::operator delete(raw);
    }
    elements(const elements&) = delete;
    elements& operator=(const elements&) = delete;
  };

  elements elements_;
};

}  // namespace platform
}  // namespace lockstep

// lockstep/wait/sleeper_mark.hpp -- "somebody sleeps", beside the state it is about (layer: wait)
//
// For objects whose lifetime their structure guarantees: the notifier looks at the mark *after* the
// change that lets waiters go, so the object must outlive every notify() call. Where a waiter may
// destroy the object as soon as it is let go, the mark must be part of the state: see sync/event.hpp.
//
// The mark is even while nobody sleeps. A sleeper makes it odd and sleeps on the odd value it made or
// found; whoever wakes makes it the next even number first.
//
//   M1  It is legal for the mark to be odd with no sleeper (a wake for nobody); it is illegal for a
//       thread to sleep on it while it is even.
//   M2  Every odd value is left by exactly one step to the next even one, and a wake of all follows it.
//       So a thread that announced itself before the step either never falls asleep, since the word is
//       no longer what it saw, or is woken. A plain flag would not do: the sleeper of the next phase
//       would set it again, and one that was about to sleep for this phase would find it set.
//
//     notifier                            sleeper
//     phase.store(p + 1)                  odd = announce()               (2)
//     fence                        (4)    fence                          (4)
//     if (mark.load() is odd)      (1)    if (phase.load() is still p)
//       step to even, wake all     (3)      futex_wait(mark, odd)
//
// Not both loads may miss the other side's store. Who pays for that is the object's choice, the same for
// both sides: the sleeper alone (A1 of process_fence.hpp), where sleeping is rare; or both, where it is
// not. A sleeper that pays alone pays 7 to 10 us while other threads run: a crowd of 128 that slept at
// every barrier spent 12 us a member so, four times what both fences and the wakes take.
//
// Memory order (# marks the line)
//   #  access                 order    pairs  why it suffices
//   1  mark.load              relaxed  2      the fences order it after the phase and that is all
//   2  mark.fetch_or          relaxed  1      as 1
//   3  mark.compare_exchange  relaxed  2      M2 needs the order of changes to this word only; the
//                                             kernel orders its comparison after the wake's lock
//   4  thread_fence           seq_cst  4      both sides: the pictures' loads come after the stores
//
// Cost   notify with nobody asleep: one load of a line that nobody writes, no read-modify-write; no
//        fence where the sleeper pays and the system has a process-wide one.

// lockstep/platform/system.hpp -- the seam for what the system does for us (layer: platform)
//
// Sleeping, waking, yielding, the clock, the process-wide fence and the starting of threads: the rest
// of the library asks the system for these only through the names below. A test program may define
// LOCKSTEP_SYSTEM_SEAM to a header of its own, in quotes, which declares the same names in the same
// namespace; with the atomic seam it puts the shipped code under a controlled scheduler. The macro must
// be the same in the whole program.

// lockstep/platform/atomic.hpp -- the seam through which all atomics go (layer: platform)
//
// The library uses no std::atomic and no fence but through these names. In production they *are* the
// standard ones. A test program may define LOCKSTEP_ATOMIC_SEAM to a header of its own, in quotes,
// which declares the same names in the same namespace; the shipped code then runs, unchanged, on
// atomics that delay, record or reorder. The macro must be the same in the whole program.
//
// A seam supplies: template <class T> class atomic with load, store, exchange, fetch_add, fetch_sub,
// fetch_or, fetch_and, compare_exchange_strong/weak (explicit orders only), thread_fence, signal_fence.

#if defined(LOCKSTEP_ATOMIC_SEAM)
#include LOCKSTEP_ATOMIC_SEAM
#else

namespace lockstep {
namespace platform {

template <class T>
using atomic = std::atomic<T>;

inline void thread_fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }
inline void signal_fence(std::memory_order order) noexcept { std::atomic_signal_fence(order); }

}  // namespace platform
}  // namespace lockstep

#endif

namespace lockstep {
namespace platform {

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

/// The word that threads wait on: 32 bits on every system that has a futex.
using wait_word = atomic<std::uint32_t>;

}  // namespace platform
}  // namespace lockstep

// lockstep/platform/clock.hpp -- the two clocks (layer: platform)
//
// monotonic_nanoseconds()  never jumps, is what timeouts use, 25 ns a call here
// tick_clock               the processor's counter, 10 ns a call, for stamps that are many and close;
//                          rate() tells how many ticks a second has (measured once, in 2 ms, where the
//                          system does not say)
//
// Ticks of different CPUs are comparable where the counter is invariant and synchronised, which holds
// for x86 processors of the last 15 years and by definition for AArch64. Elsewhere the tick clock *is*
// the monotonic clock.

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <intrin.h>
#endif

namespace lockstep {
namespace platform {

/// The point of the monotonic clock that never comes.
constexpr std::uint64_t no_deadline = ~std::uint64_t{0};

inline std::uint64_t steady_nanoseconds() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

class tick_clock {
 public:
  static std::uint64_t now() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    return __rdtsc();
#elif defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return steady_nanoseconds();
#endif
  }

  /// Ticks per second. The first call may take 2 ms.
  static double rate() {
    static const double measured = measure_rate();
    return measured;
  }

  /// A difference of two stamps in nanoseconds.
  static double nanoseconds(std::uint64_t ticks) {
    return static_cast<double>(ticks) * 1e9 / rate();
  }

 private:
  struct both_clocks {
    std::uint64_t time;
    std::uint64_t tick;
  };

  /// The closest of a few readings: one that was preempted in the middle is not the closest.
  static both_clocks read_both() noexcept {
    both_clocks best = {0, 0};
    std::uint64_t closest = ~std::uint64_t{0};
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t before = now(), time = steady_nanoseconds(), after = now();
      if (after - before >= closest) continue;
      closest = after - before;
      best.time = time;
      best.tick = before + closest / 2;
    }
    return best;
  }

  static double measure_rate() {
#if defined(__aarch64__) && !defined(_MSC_VER)
    std::uint64_t frequency;
    __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(frequency));
    return static_cast<double>(frequency);
#else
    constexpr std::uint64_t window = 2000000;
    const both_clocks first = read_both();
    while (steady_nanoseconds() - first.time < window) continue;
    const both_clocks last = read_both();
    return static_cast<double>(last.tick - first.tick) * 1e9 /
           static_cast<double>(last.time - first.time);
#endif
  }
};

}  // namespace platform
}  // namespace lockstep

// lockstep/platform/futex.hpp -- sleeping until a word changes: the contract (layer: platform)
//
//   F1  futex_wait(word, expected, deadline) returns at once if word != expected. Otherwise it may put
//       the thread to sleep; it returns after a wake on that word, at the deadline, after a signal, or
//       for no reason. It reports nothing: the caller looks at its condition again.
//   F2  futex_wake_one / futex_wake_all on a word let at least one / every thread return that sleeps in
//       futex_wait on it. They only use the address: the word may be gone already.
//   F3  The comparison in F1 and the falling asleep are one step with respect to F2: if the word is
//       changed and a wake follows, no waiter that compared before the change stays asleep.
//   F4  Deadlines are monotonic nanoseconds as of steady_nanoseconds(); no_deadline (clock.hpp) never comes.
//   F5  Nothing is ordered by these calls for the C++ memory model; order comes from the atomics.
//
// One file per system. LOCKSTEP_FORCE_PORTABLE_FUTEX=1 chooses the portable one (mutex and condition
// variable) where a native one exists; it must be the same in the whole program.

#if defined(__linux__) && !(defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX)

// lockstep/platform/futex_linux.hpp -- the futex contract on Linux (layer: platform)
//
// The contract is in futex.hpp. Here: FUTEX_WAIT_BITSET, because it takes an absolute time of
// CLOCK_MONOTONIC, so that a spurious return cannot lengthen a deadline; private to the process.
//
// A kernel or sandbox that refuses the call (ENOSYS, EPERM from a filter) is answered by a short real
// sleep: the waiter polls every 50 us, slower but never stuck, and wakes have nobody to miss.
//
// Cost   wait that must sleep: one call and a context switch. Wake: one call, about 0.23 us with nobody
//        there, 7 us with a sleeper on a halted virtual CPU (measured on 2 CPUs of an EPYC, 6.18).

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

namespace lockstep {
namespace platform {

struct linux_futex {
  static const char* name() noexcept { return "linux futex"; }

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) noexcept {
    timespec until = {};
    const timespec* timeout = nullptr;
    if (deadline != no_deadline) {
      until = to_timespec(deadline);
      timeout = &until;
    }
    const int saved = errno;
    if (call(&word, FUTEX_WAIT_BITSET_PRIVATE, expected, timeout) != 0 && refused(errno)) {
      const timespec pause = {0, 50000};
      nanosleep(&pause, nullptr);
    }
    errno = saved;
  }

  static void wake_one(const wait_word* word) noexcept { wake(word, 1); }
  static void wake_all(const wait_word* word) noexcept { wake(word, INT_MAX); }

 private:
  static_assert(sizeof(wait_word) == sizeof(std::uint32_t), "a futex is a plain 32-bit word");

  static void wake(const wait_word* word, int count) noexcept {
    const int saved = errno;
    call(word, FUTEX_WAKE_PRIVATE, static_cast<std::uint32_t>(count), nullptr);
    errno = saved;
  }

  static long call(const wait_word* word, int operation, std::uint32_t value,
                   const timespec* timeout) noexcept {
    return syscall(SYS_futex, word, operation, value, timeout, nullptr, FUTEX_BITSET_MATCH_ANY);
  }

  static bool refused(int error) noexcept { return error == ENOSYS || error == EPERM; }

  static timespec to_timespec(std::uint64_t nanoseconds) noexcept {
    constexpr std::uint64_t second = 1000000000;
    constexpr std::uint64_t longest = std::uint64_t{INT_MAX} * second;
    if (nanoseconds > longest) nanoseconds = longest;
    timespec result = {};
    result.tv_sec = static_cast<time_t>(nanoseconds / second);
    result.tv_nsec = static_cast<long>(nanoseconds % second);
    return result;
  }
};

}  // namespace platform
}  // namespace lockstep

namespace lockstep {
namespace platform {
using native_futex = linux_futex;
}  // namespace platform
}  // namespace lockstep
#else

// lockstep/platform/futex_portable.hpp -- the futex contract on the standard library (layer: platform)
//
// The contract is in futex.hpp. Here: a table of mutex and condition variable pairs, chosen by a hash
// of the word's address. A wake wakes the whole bucket, so that a neighbour of the same bucket may
// return spuriously, which F1 allows.
//
// The table is made at first use and never destroyed: objects in static storage may wait and notify
// before main and while the program exits.
//
//   P1  The waiter compares and enters the condition variable under the bucket's mutex, the waker
//       takes the same mutex before it notifies: that is F3.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.load   relaxed  -      F5 promises no order; the mutex of P1 makes the last change visible
//
// Cost   wait: lock, condition variable wait. Wake: lock, and a system call when the bucket has waiters.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace lockstep {
namespace platform {

struct portable_futex {
  static const char* name() noexcept { return "mutex and condition variable"; }

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    bucket& home = bucket_of(&word);
    std::unique_lock<std::mutex> lock(home.mutex);
    if (word.load(memory_order_relaxed) != expected) return;  // 1
    ++home.waiters;
    if (deadline == no_deadline) {
      home.changed.wait(lock);
    } else {
      home.changed.wait_until(lock, to_time_point(deadline));
    }
    --home.waiters;
  }

  static void wake_one(const wait_word* word) { wake_all(word); }

  static void wake_all(const wait_word* word) {
    bucket& home = bucket_of(word);
    std::lock_guard<std::mutex> lock(home.mutex);
    if (home.waiters > 0) home.changed.notify_all();
  }

 private:
  struct bucket {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t waiters = 0;
  };

  static bucket& bucket_of(const wait_word* word) {
    constexpr unsigned bits = 8;
    static bucket* const table = new bucket[std::size_t{1} << bits];
    // Fibonacci hashing: the high bits of the product depend on all bits of the address.
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(word);
    return table[static_cast<std::size_t>((address * 0x9E3779B97F4A7C15u) >> (64 - bits))];
  }

  static std::chrono::steady_clock::time_point to_time_point(std::uint64_t nanoseconds) {
    using std::chrono::steady_clock;
    const std::uint64_t longest = ~std::uint64_t{0} >> 2;
    const std::chrono::nanoseconds since(
        static_cast<std::int64_t>(nanoseconds < longest ? nanoseconds : longest));
    return steady_clock::time_point(std::chrono::duration_cast<steady_clock::duration>(since));
  }
};

}  // namespace platform
}  // namespace lockstep

namespace lockstep {
namespace platform {
using native_futex = portable_futex;
}  // namespace platform
}  // namespace lockstep
#endif

// lockstep/platform/process_fence.hpp -- a full fence of which one side pays all (layer: platform)
//
// "Publish, then look for sleepers" meets "announce sleep, then look again". Both sides need a full
// fence between their store and their load:
//
//     notifier                          sleeper
//     phase = p + 1                     mark = 1
//     light()                           heavy()
//     if (mark) wake                    if (phase still p) sleep
//
//   A1  If one thread calls light() and another heavy(), then the loads after the two calls cannot both
//       miss the stores before them.
//
// Where the system has a process-wide barrier (Linux: membarrier, private expedited), light() is a
// compiler fence and heavy() makes every running thread of the process execute a full fence. Where it
// has none, both are a seq_cst fence. A thread that still reads `unknown` fences for itself, so that
// light() is right before prepare() as well, only slower.
//
// heavy() returns false if the barrier was granted and later refused (a filter installed in between):
// then A1 does not hold for this call, and the caller must not sleep without a time limit.
//
// Memory order (# marks the line; model: tests/model)
//   #  access             order    pairs  why it suffices
//   1  mode.load          relaxed  -      any value is safe in light(): see `unknown` above
//   2  signal_fence       seq_cst  4      A1 by the system's barrier; keeps the compiler from reordering
//   3  thread_fence       seq_cst  3, 4   A1 by the C++ model
//   4  barrier            seq_cst  2, 3   own full fence, and the system's on all other threads
//   5  mode.store         relaxed  -      the mode is decided by the system, every writer writes the same
//
// Cost   light: one load of a read-mostly line. heavy: 0.35 us alone, 7 to 10 us when another thread of
//        the process runs (2 virtual CPUs, 6.18).
// Source [DICE01], [SYS-MEMBARRIER]

#if defined(__linux__)
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace lockstep {
namespace platform {

class process_fence {
 public:
  enum class kind : std::uint32_t { unknown = 0, asymmetric = 1, symmetric = 2 };

  /// Asks the system once for its barrier. Objects whose notifiers use light() call it when they are
  /// made, so that no notifier pays for an `unknown`.
  static kind prepare() noexcept {
    kind found = static_cast<kind>(mode().load(memory_order_relaxed));  // 1
    if (found == kind::unknown) {
      found = register_with_system() ? kind::asymmetric : kind::symmetric;
      mode().store(static_cast<std::uint32_t>(found), memory_order_relaxed);  // 5
    }
    return found;
  }

  static void light() noexcept {
    if (static_cast<kind>(mode().load(memory_order_relaxed)) == kind::asymmetric) {  // 1
      signal_fence(memory_order_seq_cst);                                            // 2
    } else {
      thread_fence(memory_order_seq_cst);  // 3
    }
  }

  static bool heavy() noexcept {
    thread_fence(memory_order_seq_cst);  // 3, 4
    return prepare() == kind::symmetric || system_barrier();
  }

 private:
  // A function-local static of constant initialisation: no guard, no order of initialisation.
  static atomic<std::uint32_t>& mode() noexcept {
    static atomic<std::uint32_t> instance{0};
    return instance;
  }

#if defined(__linux__) && defined(SYS_membarrier)
  // From linux/membarrier.h, which older distributions lack.
  enum : int { private_expedited = 1 << 3, register_private_expedited = 1 << 4 };

  static bool call(int command) noexcept {
    const int saved = errno;
    const bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = saved;
    return done;
  }
  static bool register_with_system() noexcept { return call(register_private_expedited); }
  static bool system_barrier() noexcept { return call(private_expedited); }
#else
  static bool register_with_system() noexcept { return false; }
  static bool system_barrier() noexcept { return false; }
#endif
};

}  // namespace platform
}  // namespace lockstep

#if defined(LOCKSTEP_SYSTEM_SEAM)
#include LOCKSTEP_SYSTEM_SEAM
#else

namespace lockstep {
namespace platform {

/// The futex contract F1 to F5 of futex.hpp.
inline void futex_wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
  native_futex::wait(word, expected, deadline);
}
inline void futex_wake_one(const wait_word* word) { native_futex::wake_one(word); }
inline void futex_wake_all(const wait_word* word) { native_futex::wake_all(word); }

/// Lets another runnable thread have this CPU, if there is one.
inline void yield_thread() noexcept { std::this_thread::yield(); }

/// The clock of all deadlines and budgets.
inline std::uint64_t monotonic_nanoseconds() noexcept { return steady_nanoseconds(); }

/// The two sides of the process-wide fence (process_fence.hpp).
inline void fence_light() noexcept { process_fence::light(); }
inline bool fence_heavy() noexcept { return process_fence::heavy(); }

/// What a team starts its workers with.
using thread = std::thread;

}  // namespace platform
}  // namespace lockstep

#endif

// lockstep/wait/deadline.hpp -- when to stop waiting, and how a wait ended (layer: wait)
//
// Deadlines are points on the monotonic clock: setting the wall clock moves none of them. Times that
// overflow mean "never", negative times mean "now".

namespace lockstep {

/// How a timed wait ended.
enum class wait_status {
  ready,      ///< what was waited for has happened (and was taken)
  timed_out,  ///< it has not happened in time; nothing was taken
  terminated  ///< terminate() was called; no wait on the object blocks any more
};

class deadline {
 public:
  static constexpr deadline never() noexcept { return deadline(platform::no_deadline); }

  template <class Rep, class Period>
  static deadline after(std::chrono::duration<Rep, Period> time) {
    using std::chrono::nanoseconds;
    // Compared in floating point, where no duration overflows; exact enough for a range check.
    const double wished = std::chrono::duration<double, std::nano>(time).count();
    if (!(wished > 0)) return deadline(0);
    if (wished > 9.0e18) return never();
    const std::uint64_t now = platform::monotonic_nanoseconds();
    const std::uint64_t length =
        static_cast<std::uint64_t>(std::chrono::duration_cast<nanoseconds>(time).count());
    return length < platform::no_deadline - now ? deadline(now + length) : never();
  }

  constexpr bool is_never() const noexcept { return nanoseconds_ == platform::no_deadline; }
  constexpr std::uint64_t nanoseconds() const noexcept { return nanoseconds_; }
  bool is_past(std::uint64_t now) const noexcept { return now >= nanoseconds_; }

 private:
  explicit constexpr deadline(std::uint64_t nanoseconds) noexcept : nanoseconds_(nanoseconds) {}

  std::uint64_t nanoseconds_;
};

}  // namespace lockstep

// lockstep/wait/wait_policy.hpp -- how a thread waits, a value of 4 bytes (layer: wait)
//
// Every object takes one when it is made. Which to choose:
//   wait_policy()      the default. Spins for at most 2 us, not at all when crowded or when spinning has
//                      not paid lately; then yields while that helps; then sleeps. Right nearly always.
//   spin()             never enters the kernel. For one thread per CPU that is yours alone, real time.
//                      When crowded a single wait costs whole time slices (milliseconds).
//   block()            sleeps at once. For waits that are known to be long. A wake costs 2 to 35 us.
//   hybrid(time)       spins for `time`, then yields a while, then sleeps; no learning.
//
// All zero bits are the default, so that zero-initialised storage is a valid policy.

namespace lockstep {

class wait_policy {
 public:
  /// The adaptive default.
  constexpr wait_policy() noexcept : bits_(0) {}

  static constexpr wait_policy spin() noexcept { return wait_policy(spin_kind, 0); }
  static constexpr wait_policy block() noexcept { return wait_policy(block_kind, 0); }

  /// Spins for `time`, cut to the range 0 to longest_spin().
  static constexpr wait_policy hybrid(std::chrono::nanoseconds time) noexcept {
    return wait_policy(hybrid_kind, time.count() < 0                 ? 0
                                    : time.count() > longest_spin_ns ? longest_spin_ns
                                                                     : time.count());
  }

  static constexpr std::chrono::nanoseconds longest_spin() noexcept {
    return std::chrono::nanoseconds(longest_spin_ns);
  }

  constexpr bool is_adaptive() const noexcept { return (bits_ & kind_mask) <= crowded_kind; }
  constexpr bool is_spin() const noexcept { return (bits_ & kind_mask) == spin_kind; }
  constexpr bool is_block() const noexcept { return (bits_ & kind_mask) == block_kind; }
  constexpr bool is_hybrid() const noexcept { return (bits_ & kind_mask) == hybrid_kind; }

  /// True for an adaptive policy that was told it is crowded.
  constexpr bool is_crowded() const noexcept { return (bits_ & kind_mask) == crowded_kind; }

  /// The time hybrid() was given; zero for the others.
  constexpr std::chrono::nanoseconds spin_time() const noexcept {
    return std::chrono::nanoseconds(bits_ >> kind_bits);
  }

  /// This policy, told whether the object's participants outnumber the CPUs. Only the default listens.
  constexpr wait_policy when_crowded(bool crowded) const noexcept {
    return is_adaptive() ? wait_policy(crowded ? crowded_kind : adaptive_kind, 0) : *this;
  }

  friend constexpr bool operator==(wait_policy a, wait_policy b) noexcept {
    return a.bits_ == b.bits_;
  }
  friend constexpr bool operator!=(wait_policy a, wait_policy b) noexcept { return !(a == b); }

 private:
  enum : std::uint32_t {
    adaptive_kind = 0,
    crowded_kind = 1,
    spin_kind = 2,
    block_kind = 3,
    hybrid_kind = 4,
    kind_bits = 3,
    kind_mask = (1u << kind_bits) - 1
  };
  static constexpr std::int64_t longest_spin_ns = (std::int64_t{1} << (32 - kind_bits)) - 1;

  constexpr wait_policy(std::uint32_t kind, std::int64_t nanoseconds) noexcept
      : bits_(kind | static_cast<std::uint32_t>(nanoseconds) << kind_bits) {}

  std::uint32_t bits_;
};

static_assert(sizeof(wait_policy) == 4, "objects hold a policy each: keep it small");

}  // namespace lockstep

namespace lockstep {

/// Who pays for the store-load fence between notifiers and sleepers.
enum class fence_payer { sleeper, both };

/// Sleeping is the rule with block() and when crowded, the exception otherwise.
constexpr fence_payer fence_payer_of(wait_policy policy) noexcept {
  return policy.is_block() || policy.is_crowded() ? fence_payer::both : fence_payer::sleeper;
}

class sleeper_mark {
 public:
  /// To be called after the change that lets waiters go. Wakes all who sleep on this mark.
  /// Requires: the same payer in every call on one mark.
  void notify(fence_payer payer = fence_payer::sleeper) {
    if (payer == fence_payer::both) {
      platform::thread_fence(platform::memory_order_seq_cst);  // 4
    } else {
      platform::fence_light();
    }
    if ((mark_.load(platform::memory_order_relaxed) & 1u) != 0) wake();  // 1
  }

  /// Sleeps unless `what.ready()` when looked at after the announcement. May return for no reason.
  template <class Waitable>
  void sleep(const Waitable& what, deadline until, fence_payer payer = fence_payer::sleeper) {
    const std::uint32_t odd = mark_.fetch_or(1u, platform::memory_order_relaxed) | 1u;  // 2
    const bool fenced = fence(payer);
    if (what.ready()) return;
    platform::futex_wait(mark_, odd, fenced ? until.nanoseconds() : soon(until));
  }

 private:
  LOCKSTEP_NOINLINE void wake() {
    std::uint32_t odd = mark_.load(platform::memory_order_relaxed);  // 1
    if ((odd & 1u) == 0) return;
    if (mark_.compare_exchange_strong(odd, odd + 1u, platform::memory_order_relaxed,  // 3
                                      platform::memory_order_relaxed)) {              // 3
      platform::futex_wake_all(&mark_);
    }
  }

  /// The sleeper's side; false if the system refused its part.
  static bool fence(fence_payer payer) {
    if (payer == fence_payer::sleeper) return platform::fence_heavy();
    platform::thread_fence(platform::memory_order_seq_cst);  // 4
    return true;
  }

  /// Without the fence a notifier may have missed the announcement: look again in a millisecond.
  static std::uint64_t soon(deadline until) {
    const std::uint64_t limit = platform::monotonic_nanoseconds() + 1000000;
    return limit < until.nanoseconds() ? limit : until.nanoseconds();
  }

  platform::wait_word mark_{0};
};

}  // namespace lockstep

// lockstep/wait/wait_engine.hpp -- how a thread waits until something is ready (layer: wait)
//
// One loop for all objects of the library: spin for a time, then yield while that helps, then sleep in
// the kernel. What is waited for is a Waitable:
//     bool ready() const noexcept        looks, with acquire order; never blocks
//     void sleep(deadline until)         announces a sleeper, looks again, sleeps; may return any time
// See sleeper_mark.hpp and sync/event.hpp for the two ways to be one, and for the notifier's side.
//
//   W1  wait() returns true only after ready() was true, false only after the deadline.
//   W2  wait() sleeps only through Waitable::sleep, which looks again after it has announced itself:
//       no wake-up can be lost between the last look and the sleep.
//
// Cost   ready at once: one look. Uncrowded: polls, no system call for spin_budget. Crowded: a yield is
//        0.5 us alone, 1.4 us with a switch; a sleep and wake 2 us on one CPU, 15 to 35 us across.
//
// Tuning (2 virtual CPUs of an EPYC, kernel 6.18; bench/sync, bench/team)
//   spin_budget   2 us: longer spins cost a whole budget a wait when both threads share a CPU, and end
//                 few waits more; a 50 us spin made such a fork/join 100 us.
//   yield_limit   64: about 32 us alone, which is what the sleep would have cost (the 2-competitive
//                 choice); crowded, one to three yields end nearly every wait.
//   yield_time    crowded, a wait that is not over after this time is better slept, but the time before
//                 pays: it keeps the CPUs from halting while the notification comes round. Rings of 30 to
//                 127 events take 4 to 6 us a hop with 80 us, 5 to 6 with 20 or 40, 4 to 12 with 200,
//                 9 to 21 without a limit and 10 if all sleep. Where one notification lets many go,
//                 waking them in turn costs more than their yields: barriers of 128 take 110 us with
//                 400 us, 150 with 80. Hence event has the shorter one.
//   long_yield    a yield that took longer than this went to a stranger's time slice (3 ms here), and
//                 is a failure even if the wait is over after it: a sleeper woken for the notification
//                 preempts the stranger. With 8 busy strangers an event hop takes 11 to 165 us so, and
//                 1.9 to 4.4 ms if such yields count as successes. Our own crowd of 256 returns within
//                 0.3 ms.

// lockstep/platform/cpu_relax.hpp -- the polite pause of a polling loop (layer: platform)
//
// Lets a hyper-thread sibling run and keeps the memory pipeline from guessing ahead. It costs 4 to 140
// cycles depending on the processor (26 ns on the EPYC the project is measured on), so never use a
// count of pauses as a measure of time.

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86) || defined(_M_ARM64))
#include <intrin.h>
#endif

namespace lockstep {
namespace platform {

inline void cpu_relax() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
  _mm_pause();
#elif defined(_MSC_VER) && defined(_M_ARM64)
  __yield();
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // ISB waits for about as long as x86's PAUSE; YIELD is a no-op on most cores.
  __asm__ __volatile__("isb" ::: "memory");
#elif defined(__arm__)
  __asm__ __volatile__("yield" ::: "memory");
#elif defined(__riscv)
  __asm__ __volatile__(".insn i 0x0F, 0, x0, x0, 0x010" ::: "memory");
#elif defined(__powerpc64__)
  __asm__ __volatile__("or 27,27,27" ::: "memory");
#endif
}

}  // namespace platform
}  // namespace lockstep

// lockstep/wait/wait_history.hpp -- what one waiter has learnt from its last waits (layer: wait)
//
// Two questions, one for each stage of an adaptive wait before the last:
//   Does spinning pay?  Not when the thread we wait for needs our CPU, and not when waits are long.
//   Does yielding pay?  Not when a stranger takes the CPU and keeps it for its whole time slice.
// Each is asked anew now and then, because the machine changes.
//
// Plain data of the waiting thread: one thread uses a history at a time. All zero bits are "no doubt".

namespace lockstep {

/// How far a stage is to be trusted: waits that it ended speak for it, those it did not speak against.
class stage_trust {
 public:
  /// True if the stage should be tried in this wait: it is trusted, or it is time for another look.
  bool asks() noexcept {
    if (doubt_ < limit) return true;
    skipped_ = static_cast<std::uint8_t>((skipped_ + 1) % probe_interval);
    return skipped_ == 0;
  }
  void paid() noexcept { doubt_ = static_cast<std::uint8_t>(doubt_ / 2); }
  void failed() noexcept {
    if (doubt_ < limit) ++doubt_;
  }
  /// One failure that is as bad as many.
  void failed_badly() noexcept { doubt_ = limit; }

 private:
  // 4 failures in a row stop a stage, one success in a probe starts it again. A probe that fails costs
  // at most spin_budget (2 us) in 64 waits, 30 ns a wait.
  static constexpr std::uint8_t limit = 4;
  static constexpr std::uint8_t probe_interval = 64;

  std::uint8_t doubt_ = 0;
  std::uint8_t skipped_ = 0;
};

struct wait_history {
  stage_trust spinning;
  stage_trust yielding;
};

static_assert(sizeof(wait_history) == 4, "small objects hold a history");

}  // namespace lockstep

namespace lockstep {

class wait_engine {
 public:
  /// How long a wait yields at most, in nanoseconds, where it shares its notification with others, and
  /// where it has one for itself.
  static constexpr std::uint64_t shared_yield_time = 400000;
  static constexpr std::uint64_t single_yield_time = 80000;

  /// Waits until `what.ready()`. Returns false if `until` came first.
  template <class Waitable>
  static bool wait(Waitable& what, wait_policy policy, wait_history& history,
                   deadline until = deadline::never(),
                   std::uint64_t yield_time = shared_yield_time) {
    return what.ready() || wait_slowly(what, policy, history, until, yield_time);
  }

 private:
  static constexpr std::uint64_t spin_budget = 2000;
  static constexpr unsigned yield_limit = 64;
  static constexpr std::uint64_t long_yield = 2000000;
  static constexpr unsigned polls_per_look_at_clock = 16;

  template <class Waitable>
  LOCKSTEP_NOINLINE static bool wait_slowly(Waitable& what, wait_policy policy,
                                            wait_history& history, deadline until,
                                            std::uint64_t yield_time) {
    if (policy.is_adaptive()) return wait_adaptively(what, policy, history, until, yield_time);
    if (policy.is_spin()) return spin(what, platform::no_deadline, until) || what.ready();
    if (policy.is_hybrid()) {
      const std::uint64_t budget = static_cast<std::uint64_t>(policy.spin_time().count());
      if (spin(what, budget, until)) return true;
      if (yield(what, history.yielding, until, yield_time)) return true;
    }
    return sleep(what, until);
  }

  template <class Waitable>
  static bool wait_adaptively(Waitable& what, wait_policy policy, wait_history& history,
                              deadline until, std::uint64_t yield_time) {
    const bool may_spin = !policy.is_crowded() && usable_cpus() > 1;
    if (may_spin && history.spinning.asks()) {
      if (spin(what, spin_budget, until)) {
        history.spinning.paid();
        return true;
      }
      history.spinning.failed();
    }
    if (history.yielding.asks() && yield(what, history.yielding, until, yield_time)) return true;
    return sleep(what, until);
  }

  /// Polls for `budget` nanoseconds. The first polls go without a look at the clock, which costs as
  /// much as one of them.
  template <class Waitable>
  static bool spin(Waitable& what, std::uint64_t budget, deadline until) {
    if (poll(what)) return true;
    if (budget == platform::no_deadline && until.is_never()) {
      while (!poll(what)) continue;
      return true;
    }
    const std::uint64_t start = platform::monotonic_nanoseconds();
    std::uint64_t now = start;
    while (now - start < budget && !until.is_past(now)) {
      if (poll(what)) return true;
      now = platform::monotonic_nanoseconds();
    }
    return false;
  }

  template <class Waitable>
  static bool poll(const Waitable& what) {
    for (unsigned i = 0; i < polls_per_look_at_clock; ++i) {
      platform::cpu_relax();
      if (what.ready()) return true;
    }
    return false;
  }

  /// Gives the CPU to others while that helps.
  template <class Waitable>
  static bool yield(const Waitable& what, stage_trust& trust, deadline until,
                    std::uint64_t yield_time) {
    const std::uint64_t start = platform::monotonic_nanoseconds();
    std::uint64_t before = start;
    for (unsigned i = 0; i < yield_limit && !until.is_past(before); ++i) {
      platform::yield_thread();
      const std::uint64_t after = platform::monotonic_nanoseconds();
      if (after - before > long_yield) {
        trust.failed_badly();
        return what.ready();
      }
      if (what.ready()) {
        trust.paid();
        return true;
      }
      if (after - start > yield_time) return false;
      before = after;
    }
    return false;
  }

  template <class Waitable>
  static bool sleep(Waitable& what, deadline until) {
    while (!what.ready()) {
      if (!until.is_never() && until.is_past(platform::monotonic_nanoseconds()))
        return what.ready();
      what.sleep(until);
    }
    return true;
  }
};

}  // namespace lockstep

namespace lockstep {

struct no_payload {};

template <class Payload>
class basic_phase_board {
 public:
  basic_phase_board(std::size_t writers, std::size_t readers, wait_policy policy,
                    std::uint32_t first_phase)
      : lines_(writers), writers_(writers), readers_(readers), marks_(writers), policy_(policy) {
    platform::process_fence::prepare();
    for (std::size_t i = 0; i < writers; ++i) {
      lines_[i].value.phase.store(first_phase, platform::memory_order_relaxed);  // 1
      writers_[i].value = first_phase;
    }
    for (std::size_t i = 0; i < readers; ++i) readers_[i].value.phase = first_phase;
  }

  std::size_t writers() const noexcept { return lines_.size(); }
  std::size_t readers() const noexcept { return readers_.size(); }
  wait_policy policy() const noexcept { return policy_; }

  /// To be written by the writer before it advances, while no reader may read it.
  Payload& payload(std::size_t writer) noexcept { return lines_[writer].value.payload; }

  /// Publishes the writer's next phase.
  void advance(std::size_t writer) {
    const std::uint32_t next = ++writers_[writer].value;
    lines_[writer].value.phase.store(next, platform::memory_order_release);  // 2
    marks_[writer].notify(fence_payer_of(policy_));
  }

  /// Waits until `count` writers from `first` on, modulo writers(), are beyond the reader's phase, then
  /// moves the reader on. Readers that begin with different writers disturb each other less.
  wait_status wait_until(std::size_t reader, std::size_t first, std::size_t count, deadline until) {
    reader_state& self = readers_[reader].value;
    const std::uint32_t target = self.phase + 1;
    for (std::size_t i = 0, writer = first; i < count; ++i, ++writer) {
      if (writer >= writers()) writer = 0;
      phase_reached condition{*this, writer, target};
      if (!wait_engine::wait(condition, policy_, self.history, until))
        return wait_status::timed_out;
    }
    if (terminated()) return wait_status::terminated;
    self.phase = target;
    return wait_status::ready;
  }

  /// True, and moves the reader on, if a wait would return true at once; never blocks.
  bool try_wait(std::size_t reader) noexcept {
    reader_state& self = readers_[reader].value;
    if (terminated()) return false;
    for (std::size_t writer = 0; writer < writers(); ++writer) {
      if (!reached(writer, self.phase + 1)) return false;
    }
    ++self.phase;
    return true;
  }

  void terminate() {
    terminated_.store(1, platform::memory_order_release);  // 4
    for (std::size_t writer = 0; writer < writers(); ++writer) {
      marks_[writer].notify(fence_payer_of(policy_));
    }
  }
  bool terminated() const noexcept {
    return terminated_.load(platform::memory_order_acquire) != 0;  // 5
  }

 private:
  struct writer_line {
    platform::wait_word phase{0};
    Payload payload;
  };
  struct reader_state {
    std::uint32_t phase = 0;
    wait_history history = {};
  };

  /// What the wait engine looks at.
  struct phase_reached {
    basic_phase_board& board;
    std::size_t writer;
    std::uint32_t target;

    bool ready() const noexcept { return board.reached(writer, target) || board.terminated(); }
    void sleep(deadline until) {
      board.marks_[writer].sleep(*this, until, fence_payer_of(board.policy_));
    }
  };

  bool reached(std::size_t writer, std::uint32_t target) const noexcept {
    const std::uint32_t phase =
        lines_[writer].value.phase.load(platform::memory_order_acquire);  // 3
    return static_cast<std::int32_t>(phase - target) >= 0;
  }

  platform::line_gap before_;
  platform::aligned_array<platform::padded<writer_line>> lines_;
  platform::aligned_array<platform::padded<std::uint32_t>> writers_;
  platform::aligned_array<platform::padded<reader_state>> readers_;
  platform::aligned_array<sleeper_mark> marks_;
  platform::wait_word terminated_{0};
  wait_policy policy_;
  platform::line_gap after_;
};

using phase_board = basic_phase_board<no_payload>;

}  // namespace lockstep

namespace lockstep {

class barrier {
 public:
  /// Above this many participants the fetches of all flags cost more than counting in.
  static constexpr std::size_t most_flags = 8;

  /// Fails if participants is 0 or above 65536. Tests pass `first_phase` to start next to wrap-around.
  explicit barrier(std::size_t participants, wait_policy policy = wait_policy(),
                   std::uint32_t first_phase = 0)
      : board_(participants <= most_flags ? participants : 1,
               platform::checked_count("lockstep::barrier", "participants", participants),
               policy.when_crowded(participants > usable_cpus()), first_phase) {}
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  std::size_t participants() const noexcept { return board_.readers(); }
  wait_policy policy() const noexcept { return board_.policy(); }

  /// Blocks until all participants have arrived; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= participants().
  bool arrive_and_wait(std::size_t rank) {
    arrive_checked(checked(rank));
    return wait_until(rank, deadline::never()) == wait_status::ready;
  }

  /// The first half: tells the others that this thread is here. Never blocks.
  /// Requires: the rank's previous arrival has been waited for.
  void arrive(std::size_t rank) { arrive_checked(checked(rank)); }

  /// The second half: blocks until all have arrived; false once terminated.
  /// Requires: arrive(rank) was called before.
  bool wait(std::size_t rank) {
    return wait_until(checked(rank), deadline::never()) == wait_status::ready;
  }
  /// As wait() if all are there, else false; never blocks.
  bool try_wait(std::size_t rank) { return board_.try_wait(checked(rank)); }
  /// As wait(), for at most `time`; after a time-out the arrival still counts: wait again.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time) {
    return wait_until(checked(rank), deadline::after(time));
  }

  /// Releases everybody; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  bool flags() const noexcept { return participants() <= most_flags; }

  void arrive_checked(std::size_t rank) {
    if (flags()) {
      board_.advance(rank);
      return;
    }
    const std::size_t before = arrived_[0].value.fetch_add(1, platform::memory_order_acq_rel);  // 1
    if (before + 1 == participants()) {
      arrived_[0].value.store(0, platform::memory_order_relaxed);  // 2
      board_.advance(0);
    }
  }

  wait_status wait_until(std::size_t rank, deadline until) {
    return flags() ? board_.wait_until(rank, rank + 1, participants() - 1, until)
                   : board_.wait_until(rank, 0, 1, until);
  }
  std::size_t checked(std::size_t rank) const {
    return platform::checked_rank("lockstep::barrier", "participants", rank, participants());
  }

  platform::line_gap before_;
  platform::aligned_array<platform::padded<platform::wait_word>> arrived_{1};
  phase_board board_;
};

}  // namespace lockstep

// lockstep/sync/event.hpp -- one thread notifies, one other waits, 1:1 (layer: sync)
//
// Every notify() lets exactly one wait() return, whichever comes first: notifications are counted, none
// is lost, and none is merged with another. What happens before notify() happens before the return of
// the wait() that takes it. After terminate() every wait returns at once and says so.
// Not for several waiters (fan_out) or notifiers (fan_in).
//
// Invariants, n = count in word_, t = taken_
//   E1  0 <= n - t < 2^30 (modulo 2^30): a notifier may be that far ahead; wrap-around is harmless.
//   E2  The waiter sleeps only on a word whose sleeping bit is set and whose count is t; whoever changes
//       the word finds the bit in the old value and wakes.
//   E3  The notifier touches nothing after its change of the word but the address, in a futex wake: the
//       waiter may destroy the event as soon as its wait has returned.
//
//   word_     bits 2..31 count   bit 1 terminated   bit 0 sleeping (may be set with no sleeper)
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  word.fetch_add    release  2      the waiter sees what came before notify()
//   2  word.load         acquire  1, 3   the other half
//   3  word.fetch_or     release  2      as 1, for terminate()
//   4  word.compare_exch relaxed  1, 3   the bit and the count are one word: the change order suffices
//   5  word.fetch_and    relaxed  -      clears our own bit; keeps the release sequence of 1
//
// Cost   notify: one RMW. wait: one load when notified before, else a refetch of the line. No system
//        call unless the waiter sleeps. 16 bytes: 8 of state, 4 of policy, 4 of history.

namespace lockstep {

class event {
 public:
  /// Tests pass `first_count` to start next to wrap-around.
  explicit constexpr event(wait_policy policy = wait_policy(),
                           std::uint32_t first_count = 0) noexcept
      : word_(first_count * one_), taken_(first_count * one_), policy_(policy), history_() {}
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Lets one wait() return. Requires: one notifier at a time, fewer than 2^30 notifications pending.
  void notify() { wake_if_sleeping(word_.fetch_add(one_, platform::memory_order_release)); }  // 1

  /// Blocks until a notification is there and takes it; false once terminated.
  /// Requires: one waiter at a time. The event may be destroyed when this has returned true.
  bool wait() { return wait_until(deadline::never()) == wait_status::ready; }

  /// Takes a notification if one is there; never blocks.
  bool try_wait() noexcept {
    const state now{*this};
    if (!now.notified(now.load())) return false;
    take();
    return true;
  }

  /// As wait(), for at most `time`.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) {
    return wait_until(deadline::after(time));
  }
  wait_status wait_until(deadline until) {
    state now{*this};
    const bool in_time =
        wait_engine::wait(now, policy_, history_, until, wait_engine::single_yield_time);
    if (now.announced) word_.fetch_and(~sleeping_, platform::memory_order_relaxed);  // 5
    if (!in_time) return wait_status::timed_out;
    if (terminated()) return wait_status::terminated;
    take();
    return wait_status::ready;
  }

  /// Releases the waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() {
    wake_if_sleeping(word_.fetch_or(terminated_, platform::memory_order_release));  // 3
  }
  bool terminated() const noexcept {
    return (word_.load(platform::memory_order_acquire) & terminated_) != 0;  // 2
  }

 private:
  static constexpr std::uint32_t sleeping_ = 1, terminated_ = 2, one_ = 4;

  /// What the wait engine looks at.
  struct state {
    event& owner;
    bool announced;

    explicit state(event& of) noexcept : owner(of), announced(false) {}
    std::uint32_t load() const noexcept {
      return owner.word_.load(platform::memory_order_acquire);  // 2
    }
    bool notified(std::uint32_t word) const noexcept {
      return (word & terminated_) == 0 && (word & ~(one_ - 1)) != owner.taken_;
    }
    bool ready() const noexcept { return done(load()); }
    bool done(std::uint32_t word) const noexcept {
      return (word & terminated_) != 0 || notified(word);
    }
    void sleep(deadline until) {
      std::uint32_t word = load();
      if (done(word)) return;
      announced = true;
      if ((word & sleeping_) == 0 &&
          !owner.word_.compare_exchange_strong(word, word | sleeping_,
                                               platform::memory_order_relaxed,     // 4
                                               platform::memory_order_relaxed)) {  // 4
        return;
      }
      platform::futex_wait(owner.word_, word | sleeping_, until.nanoseconds());
    }
  };

  void take() noexcept { taken_ += one_; }

  void wake_if_sleeping(std::uint32_t old) {
    if ((old & sleeping_) != 0) platform::futex_wake_all(&word_);
  }

  platform::wait_word word_;
  std::uint32_t taken_;
  wait_policy policy_;
  wait_history history_;
};

static_assert(sizeof(event) == 16, "two words of state, one of policy, one of history");

}  // namespace lockstep

// lockstep/sync/fan_in.hpp -- N threads notify, one other waits, N:1 (layer: sync)
//
// A wait() returns when *each* of the N notifiers has called notify(rank) once more. Notifications are
// counted per notifier: a fast one that notifies twice does not stand in for a slow one, and its second
// notification serves the second wait. What happens before the notify() of every rank happens before
// the return of the wait() that takes them.
// For one notifier take event; for several waiters rendezvous.
//
// Lifetime: by structure; destroy only after every call has returned.
// Cost   notify: one store on the notifier's own line. wait: N line fetches, in parallel.

namespace lockstep {

class fan_in {
 public:
  /// Fails if notifiers is 0 or more than 65536. Tests pass `first_phase` to start next to wrap-around.
  explicit fan_in(std::size_t notifiers, wait_policy policy = wait_policy(),
                  std::uint32_t first_phase = 0)
      : board_(platform::checked_count("lockstep::fan_in", "notifiers", notifiers), 1,
               policy.when_crowded(notifiers + 1 > usable_cpus()), first_phase) {}
  fan_in(const fan_in&) = delete;
  fan_in& operator=(const fan_in&) = delete;

  std::size_t notifiers() const noexcept { return board_.writers(); }

  /// Requires: each rank used by one thread at a time. Fails if rank >= notifiers().
  void notify(std::size_t rank) {
    board_.advance(platform::checked_rank("lockstep::fan_in", "notifiers", rank, notifiers()));
  }

  /// Blocks until every notifier has notified once more; false once terminated.
  /// Requires: one waiter at a time.
  bool wait() {
    return board_.wait_until(0, 0, notifiers(), deadline::never()) == wait_status::ready;
  }
  /// Takes one notification of each notifier if all are there; never blocks.
  bool try_wait() { return board_.try_wait(0); }
  /// As wait(), for at most `time`; nothing is taken at a time-out.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time) {
    return board_.wait_until(0, 0, notifiers(), deadline::after(time));
  }

  /// Releases the waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  phase_board board_;
};

}  // namespace lockstep

// lockstep/sync/fan_out.hpp -- one thread notifies, N others wait, 1:N (layer: sync)
//
// Every notify() lets each of the N waiters return from one wait(rank). Notifications are counted per
// waiter: none is lost, whichever side comes first, and the notifier never waits for the waiters.
// What happens before notify() happens before the return of every wait() that takes it.
// For one waiter take event; for several notifiers rendezvous.
//
// Lifetime: by structure; destroy only after every call has returned.
// Cost   notify: one store and one load of a read-mostly line; every waiter refetches one line.

namespace lockstep {

class fan_out {
 public:
  /// Fails if waiters is 0 or more than 65536. Tests pass `first_phase` to start next to wrap-around.
  explicit fan_out(std::size_t waiters, wait_policy policy = wait_policy(),
                   std::uint32_t first_phase = 0)
      : board_(1, platform::checked_count("lockstep::fan_out", "waiters", waiters),
               policy.when_crowded(waiters + 1 > usable_cpus()), first_phase) {}
  fan_out(const fan_out&) = delete;
  fan_out& operator=(const fan_out&) = delete;

  std::size_t waiters() const noexcept { return board_.readers(); }

  /// Requires: one notifier at a time.
  void notify() { board_.advance(0); }

  /// Blocks until the next notification for this rank; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= waiters().
  bool wait(std::size_t rank) {
    return board_.wait_until(checked(rank), 0, 1, deadline::never()) == wait_status::ready;
  }
  /// Takes a notification if one is there; never blocks.
  bool try_wait(std::size_t rank) { return board_.try_wait(checked(rank)); }
  /// As wait(), for at most `time`.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time) {
    return board_.wait_until(checked(rank), 0, 1, deadline::after(time));
  }

  /// Releases every waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  std::size_t checked(std::size_t rank) const {
    return platform::checked_rank("lockstep::fan_out", "waiters", rank, waiters());
  }

  phase_board board_;
};

}  // namespace lockstep

// lockstep/sync/rendezvous.hpp -- N threads notify, M other threads wait, N:N (layer: sync)
//
// Every wait(rank) returns when *each* notifier has notified once more than that waiter has waited.
// Notifications are counted per notifier and taken per waiter: none is lost or counted for another,
// whichever side comes first, and no notifier waits. What happens before the notify() of every notifier
// happens before the return of each wait() that needs them.
// Notifiers and waiters are different roles, each with ranks from 0. Where every thread is both, take
// barrier; for one waiter fan_in, for one notifier fan_out.
//
// Lifetime: by structure; destroy only after every call has returned.
// Cost   notify: one store on the notifier's own line. wait: one line fetch a notifier, in parallel.

namespace lockstep {

class rendezvous {
 public:
  /// Fails if a count is 0 or above 65536. Tests pass `first_phase` to start next to wrap-around.
  rendezvous(std::size_t notifiers, std::size_t waiters, wait_policy policy = wait_policy(),
             std::uint32_t first_phase = 0)
      : board_(platform::checked_count("lockstep::rendezvous", "notifiers", notifiers),
               platform::checked_count("lockstep::rendezvous", "waiters", waiters),
               policy.when_crowded(notifiers + waiters > usable_cpus()), first_phase) {}
  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;

  std::size_t notifiers() const noexcept { return board_.writers(); }
  std::size_t waiters() const noexcept { return board_.readers(); }

  /// Requires: each rank used by one thread at a time. Fails if rank >= notifiers().
  void notify(std::size_t rank) {
    board_.advance(platform::checked_rank("lockstep::rendezvous", "notifiers", rank, notifiers()));
  }

  /// Blocks until every notifier has notified once more; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= waiters().
  bool wait(std::size_t rank) { return wait_until(rank, deadline::never()) == wait_status::ready; }
  /// As wait() if it would return true at once, else false; never blocks.
  bool try_wait(std::size_t rank) { return board_.try_wait(checked(rank)); }
  /// As wait(), for at most `time`; nothing is taken at a time-out.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time) {
    return wait_until(rank, deadline::after(time));
  }

  /// Releases every waiter; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  wait_status wait_until(std::size_t rank, deadline until) {
    return board_.wait_until(checked(rank), rank % notifiers(), notifiers(), until);
  }
  std::size_t checked(std::size_t rank) const {
    return platform::checked_rank("lockstep::rendezvous", "waiters", rank, waiters());
  }

  phase_board board_;
};

}  // namespace lockstep

// lockstep/team/team.hpp -- persistent threads that run one function together (layer: team)
//
// run(f) calls f(member&) on every member, and returns when all calls have returned. What happens before
// run() happens before every call; every call happens before the return of run(). The caller is member
// 0; the other members are threads that the team starts once and keeps. Between regions they wait by
// the team's policy: with the default they sleep after about 50 us and use no CPU.
// run() allocates nothing and takes no lock. For primitives by themselves see sync/.
//
//   T1  One region at a time: outside threads that call run() together are served in the order of their
//       calls.
//   T2  run() from inside a region of the same team, however deep and on whatever thread, runs f inline
//       as the only member of its region: it would wait for itself otherwise.
//   T3  An exception leaves the team usable: members that wait in sync_threads() are released (it
//       returns false), all calls are awaited, then run() rethrows the exception of the lowest rank.
//   T4  A thread that cannot be started ends the constructor with std::system_error, after those that
//       were started have ended.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  serving.store      release  3      the next region comes after this one
//   3  serving.load       acquire  2      the other half
//   4  serving.load       relaxed  -      own word while being served
//
// Cost   an empty region of P members: one RMW on a line of the caller's, one store to the job's line,
//        P-1 fetches of it, one store on each member's own line, P-1 fetches by the caller. Two members
//        uncrowded: two line transfers in a row.

// lockstep/team/job.hpp -- a callable small enough to travel with the phase that announces it (layer: team)
//
// A job calls f(member&). A closure that is small, trivially copyable and callable while const is copied
// into the job: whoever fetches the job's cache line has all it needs. Any other is called through a
// pointer, and must live until the last call has returned. No allocation either way.

// lockstep/team/member.hpp -- what a team's function sees of itself (layer: team)

// lockstep/team/schedule.hpp -- who does which part of a range: pure functions (layer: team)

namespace lockstep {

/// The half-open range [first, last).
struct index_range {
  std::size_t first;
  std::size_t last;
};

/// The contiguous block of member `rank` of `size`: blocks cover [first, last) in rank order without
/// gap or overlap, and their lengths differ by one at most, the longer ones first. Empty if last <= first.
/// Requires rank < size.
constexpr index_range static_block(std::size_t first, std::size_t last, std::size_t rank,
                                   std::size_t size) noexcept {
  // One expression, as C++11 wants it: quotient * rank + min(rank, remainder) after the start.
  return last <= first
             ? index_range{first, first}
             : index_range{
                   first + (last - first) / size * rank +
                       (rank < (last - first) % size ? rank : (last - first) % size),
                   first + (last - first) / size * (rank + 1) +
                       (rank + 1 < (last - first) % size ? rank + 1 : (last - first) % size)};
}

}  // namespace lockstep

namespace lockstep {

class member {
 public:
  member(std::size_t rank, std::size_t size, barrier* common) noexcept
      : rank_(rank), size_(size), common_(common) {}
  member(const member&) = delete;
  member& operator=(const member&) = delete;

  /// 0 to size() - 1; the thread that called run() is 0.
  std::size_t rank() const noexcept { return rank_; }
  std::size_t size() const noexcept { return size_; }

  /// Blocks until every member of the region has called it as often as this one. What happens before
  /// any member's call happens before every member's return. False if another member has left the
  /// region by an exception: leave it too, for nobody waits for anybody any more.
  /// Requires: all members call it equally often.
  bool sync_threads() { return size_ == 1 || common_->arrive_and_wait(rank_); }

  /// Calls f(first, last) once with this member's contiguous block, unless that is empty. No member
  /// waits for another: where the next step reads what others wrote, call sync_threads() in between.
  template <class Function>
  void for_range(std::size_t first, std::size_t last, Function&& f) {
    const index_range block = static_block(first, last, rank_, size_);
    if (block.first < block.last) f(block.first, block.last);
  }

 private:
  const std::size_t rank_;
  const std::size_t size_;
  barrier* const common_;
};

}  // namespace lockstep

namespace lockstep {

class job {
 public:
  /// With a phase and a pointer before it, a job fills one cache line of 64 bytes.
  static constexpr std::size_t closure_size = 40;

  template <class Function>
  void assign(Function& f) noexcept {
    assign(f, std::integral_constant<bool, travels<Function>::value>());
  }
  void operator()(member& self) { call_(*this, self); }

 private:
  template <class Function>
  struct const_callable {
    template <class F>
    static auto test(int)
        -> decltype(std::declval<const F&>()(std::declval<member&>()), std::true_type());
    template <class F>
    static std::false_type test(...);
    static constexpr bool value = decltype(test<Function>(0))::value;
  };
  template <class Function, bool IsClass = std::is_class<Function>::value>
  struct travels : std::false_type {};
  template <class Function>
  struct travels<Function, true> {
    static constexpr bool value =
        std::is_trivially_copyable<Function>::value &&
        std::is_trivially_destructible<Function>::value && const_callable<Function>::value &&
        sizeof(Function) <= closure_size && alignof(Function) <= alignof(void*);
  };

  template <class Function>
  void assign(Function& f, std::true_type /*travels*/) noexcept {
    using closure = typename std::remove_const<Function>::type;
    ::new (static_cast<void*>(closure_)) closure(f);
    call_ = [](job& self, member& who) { (*reinterpret_cast<const closure*>(self.closure_))(who); };
  }
  template <class Function>
  void assign(Function& f, std::false_type /*stays*/) noexcept {
    using pointer = Function*;
    ::new (static_cast<void*>(closure_)) pointer(&f);
    call_ = [](job& self, member& who) { (**reinterpret_cast<pointer*>(self.closure_))(who); };
  }

  void (*call_)(job&, member&) = nullptr;
  alignas(void*) unsigned char closure_[closure_size];
};

}  // namespace lockstep

namespace lockstep {

class team {
 public:
  /// One member per usable CPU.
  team() : team(usable_cpus()) {}

  /// Fails if members is 0 or above 65536.
  explicit team(std::size_t members, wait_policy policy = wait_policy())
      : size_(platform::checked_count("lockstep::team", "members", members)),
        policy_(policy.when_crowded(members > usable_cpus())),
        common_(new barrier(members, policy)),
        errors_(members),
        forks_(1, members - 1, policy_, 0),
        joins_(members - 1, 1, policy_, 0) {
    start_workers();
  }
  /// Requires: no region runs.
  ~team() { stop_workers(); }
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  std::size_t size() const noexcept { return size_; }

  /// Calls f(member&) once on every member; returns when all have returned. See T1 to T3.
  template <class Function>
  void run(Function&& f) {
    if (is_inside()) {
      member alone(0, 1, nullptr);
      f(alone);
      return;
    }
    const turn mine(*this);
    const region nested{this, innermost()};
    order& next = forks_.payload(0);
    next.where = &nested;
    next.what.assign(f);
    forks_.advance(0);
    // Not through the line just published: it is on its way to the others.
    perform(0, nested, f);
    joins_.wait_until(0, 0, size_ - 1, deadline::never());
    rethrow_first_error();
  }

  /// Calls f(i) for every i of [first, last), in contiguous blocks by rank.
  template <class Function>
  void parallel_for(std::size_t first, std::size_t last, Function&& f) {
    run([&](member& self) {
      self.for_range(first, last, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) f(i);
      });
    });
  }

 private:
  /// Outside threads that want to run a region. On a line of its own: callers write it, members do not
  /// need it.
  struct caller_queue {
    platform::wait_word tickets{0};
    platform::wait_word serving{0};
    sleeper_mark mark;
  };

  /// A place in the queue of outside threads, kept while the region runs.
  class turn {
   public:
    explicit turn(team& of) : team_(of) {
      number_ = queue().tickets.fetch_add(1, platform::memory_order_relaxed);  // 1
      wait_history history = {};
      wait_engine::wait(*this, of.policy_, history);
    }
    ~turn() {
      const std::uint32_t next = queue().serving.load(platform::memory_order_relaxed) + 1;  // 4
      queue().serving.store(next, platform::memory_order_release);                          // 2
      queue().mark.notify(fence_payer_of(team_.policy_));
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    bool ready() const noexcept {
      return queue().serving.load(platform::memory_order_acquire) == number_;  // 3
    }
    void sleep(deadline until) { queue().mark.sleep(*this, until, fence_payer_of(team_.policy_)); }

   private:
    caller_queue& queue() const noexcept { return team_.queue_[0].value; }

    team& team_;
    std::uint32_t number_;
  };

  /// A region and the one it was called from: a list on the callers' stacks, the same for all members.
  struct region {
    const team* owner;
    const region* outer;
  };
  /// What travels on the line of the fork's phase.
  struct order {
    const region* where = nullptr;
    job what;
  };
  static_assert(sizeof(order) <= 64 - alignof(order), "phase, region and job share a cache line");

  /// The region the calling thread is in, if any.
  static const region*& innermost() noexcept {
    static thread_local const region* current = nullptr;
    return current;
  }
  bool is_inside() const noexcept {
    const region* at = innermost();
    while (at != nullptr && at->owner != this) at = at->outer;
    return at != nullptr;
  }

  /// This member's part of a region.
  template <class Function>
  void perform(std::size_t rank, const region& where, Function& f) {
    const region* const before = innermost();
    innermost() = &where;
    member self(rank, size_, common_.get());
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      f(self);
    } catch (...) {
      errors_[rank] = std::current_exception();
      common_->terminate();
    }
#else
    f(self);
#endif
    innermost() = before;
  }

  void rethrow_first_error() {
#if LOCKSTEP_HAS_EXCEPTIONS
    if (!common_->terminated()) return;
    std::exception_ptr first;
    for (std::exception_ptr& error : errors_) {
      if (error && !first) first = error;
      error = nullptr;
    }
    common_.reset(new barrier(size_, common_->policy()));
    std::rethrow_exception(first);
#endif
  }

  void work(std::size_t rank) {
    char name[32];
    std::snprintf(name, sizeof name, "lockstep %zu", rank);
    platform::name_this_thread(name);
    while (forks_.wait_until(rank - 1, 0, 1, deadline::never()) == wait_status::ready) {
      order& given = forks_.payload(0);
      perform(rank, *given.where, given.what);
      joins_.advance(rank - 1);
    }
  }

  void start_workers() {
    workers_.reserve(size_ - 1);
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      start_each_worker();
    } catch (const std::system_error& error) {
      const std::size_t started = workers_.size();
      stop_workers();
      char message[160];
      std::snprintf(
          message, sizeof message,
          "lockstep::team: the system refused thread %zu of %zu; ask for fewer members or "
          "raise the limit on threads",
          started + 1, size_ - 1);
      throw std::system_error(error.code(), message);
    }
#else
    start_each_worker();
#endif
  }
  void start_each_worker() {
    for (std::size_t rank = 1; rank < size_; ++rank) {
      workers_.emplace_back([this, rank] { work(rank); });
    }
  }
  void stop_workers() {
    forks_.terminate();
    for (platform::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  platform::line_gap before_;  // joins_ brings the gap behind
  const std::size_t size_;
  const wait_policy policy_;
  std::unique_ptr<barrier> common_;
  std::vector<std::exception_ptr> errors_;
  std::vector<platform::thread> workers_;
  platform::aligned_array<platform::padded<caller_queue>> queue_{1};
  basic_phase_board<order> forks_;
  phase_board joins_;
};

}  // namespace lockstep
