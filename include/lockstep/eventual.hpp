// SPDX-License-Identifier: MIT
// lockstep/eventual.hpp -- one value, set once, read by many (layer: toolbox)
//
// get() blocks until the value is set and returns it, or throws the exception that was set in its place.
// take() moves the value out, once. This is Argobots' eventual. Unlike std::promise and std::future it is one object, uses
// no heap, and has any number of readers.
// Ready after several contributions: future_set. No value and several notifiers: latch.
//
// Invariants
//   EVENTUAL-1  Of all setters, one sets the claim bit; the others fail. Only the claimer writes the content.
//   EVENTUAL-2  An outcome bit is set after the content is complete, and stays until reset().
//   EVENTUAL-3  If the constructor of Type throws, the claim is given back and the eventual is empty as before.
//               The setter gets the exception and decides, for instance to call set_exception().
//   EVENTUAL-4  A setter touches nothing after it has set the outcome bit but the address, in a futex wake.
//               When all waits have returned the last reader may destroy the eventual.
//   EVENTUAL-5  Of all takers, one sets the taken bit and moves the value. The others fail, and so does every later
//               get(). If that move throws, the bit is given back. An exception is not taken: every reader gets it.
//
//   word_: bit  name      meaning                      set by                    cleared by
//          0    sleeping  readers may be asleep        a reader                  reset
//          1    claimed   a thread sets the content    set_value, set_exception  EVENTUAL-3; reset
//          2    ready     the value is there           set_value                 reset
//          3    failed    the exception is there       set_exception             reset
//          4    taken     the value was moved out      take, after ready         EVENTUAL-5; reset
// Legal to be set too long: sleeping (costs a wake that finds no sleeper). A taken value is destroyed with the
// eventual or by reset().
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access           order    pairs  why it suffices
//   1  word.fetch_or    acquire  2      after a setter or taker that failed, the next one sees what it has left. A taker
//                                       sees the value by 4
//   2  word.fetch_and   release  1      the other half
//   3  word.fetch_or    release  4, 7   the readers see the content; later changes are all RMWs
//   4  wait for word    acquire  3      the other half (1 of wait_engine.hpp)
//   5  word.load        relaxed  -      after 4: the outcome does not change any more. In the destructor and
//                                       in reset() no other thread uses the eventual
//   6  word.store       relaxed  -      reset() requires that no other thread uses the eventual
//   7  word.load        acquire  3      as 4
//
// Order  what happens before set_value() or set_exception() happens before every return from get(), take()
//        and wait().
// Errors set a second time, and get or take after the value was taken: std::logic_error. set_exception()
//        without an exception: std::invalid_argument. get() and take() throw the exception that was set.
// Cost   set: two RMWs. get: one load when set; take: one RMW more. No system call unless a reader sleeps. 8 bytes (4 of
//        state, 4 of policy), and room for the value or a std::exception_ptr.
// Example
//   lockstep::eventual<int> answer;
//   lockstep::joinable_thread other([&] { answer.set_value(42); });
//   const int value = answer.get();
#ifndef LOCKSTEP_EVENTUAL_HPP
#define LOCKSTEP_EVENTUAL_HPP

#include <chrono>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

/// The word of an eventual.
struct eventual_word {
  static constexpr std::uint32_t claimed = 2, ready = 4, failed = 8, taken = 16;

  /// Waits for an outcome; false if `until` came first.
  static bool wait_slowly(wait_word& word, wait_policy policy, deadline until, call_site where);
  [[noreturn]] static void fail_second_value();
  [[noreturn]] static void fail_without_exception();
  /// By what the word says, there is no value: throws `error` unless that was taken.
  [[noreturn]] static void fail_get(std::uint32_t word, const std::exception_ptr& error);
};

/// What eventual<Type> and eventual<void> have in common.
template <class Content>
class eventual_base {
 public:
  eventual_base(const eventual_base&) = delete;
  eventual_base& operator=(const eventual_base&) = delete;

  /// Sets an exception in place of the value: get() throws it. Fails if the eventual is set already, or
  /// if there is no exception.
  void set_exception(std::exception_ptr error) {
    if (error == nullptr) eventual_word::fail_without_exception();
    settle(error_, failed_, std::move(error));
  }

  /// True if a value or an exception is there; never blocks.
  bool is_ready() const noexcept {
    return is_settled(word_.load(detail::memory_order_acquire));  // 7
  }
  bool try_wait() const noexcept { return is_ready(); }

  /// Blocks until a value or an exception is there; does not throw the exception.
  void wait(call_site where = {}) const { wait_until(deadline::never(), where); }

  /// As wait(), for at most `time`: ready or timed_out.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time, call_site where = {}) const {
    return wait_until(deadline::after(time), where);
  }
  wait_status wait_until(deadline until, call_site where = {}) const {
    const bool is_over =
        is_ready() || eventual_word::wait_slowly(word_, policy_, until, where);  // 4
    return is_over ? wait_status::ready : wait_status::timed_out;
  }

  /// Destroys value or exception; the eventual can be set anew.
  /// Requires: no thread waits, reads or sets, and what such threads did happens before this call.
  void reset() noexcept {
    destroy_content();
    word_.store(0, detail::memory_order_relaxed);  // 6
  }

  wait_policy policy() const noexcept { return policy_; }

 protected:
  explicit constexpr eventual_base(wait_policy policy) noexcept
      : word_(0), policy_(policy), nothing_(0) {}
  ~eventual_base() {
    detail::misuse::destroying(&word_, "lockstep::eventual");
    destroy_content();
  }

  template <class... Arguments>
  void set(Arguments&&... arguments) {
    settle(content_, ready_, std::forward<Arguments>(arguments)...);
  }

  const Content& get_content(call_site where) const {
    wait(where);
    const std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 5
    if ((word & (failed_ | taken_)) != 0) fail_get(word);
    return content_;
  }

  Content take_content(call_site where) {
    wait(where);
    const std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 5
    if ((word & failed_) != 0) fail_get(word);
    claim ours(*this, taken_);
    if (!ours.is_ours()) fail_get(ours.before());
    Content content(std::move(content_));
    ours.keep();
    return content;
  }

 private:
  static constexpr std::uint32_t claimed_ = eventual_word::claimed, ready_ = eventual_word::ready,
                                 failed_ = eventual_word::failed, taken_ = eventual_word::taken;

  static bool is_settled(std::uint32_t word) noexcept { return word >= ready_; }

  /// A bit that one thread sets, and gives back unless it has done what the bit says (EVENTUAL-3, EVENTUAL-5).
  class claim {
   public:
    claim(eventual_base& of, std::uint32_t bit)
        : owner_(&of),
          bit_(bit),
          before_(of.word_.fetch_or(bit, detail::memory_order_acquire)) {  // 1
      if (!is_ours()) owner_ = nullptr;
    }
    ~claim() {
      if (owner_ != nullptr) owner_->word_.fetch_and(~bit_, detail::memory_order_release);  // 2
    }
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;

    std::uint32_t before() const noexcept { return before_; }
    bool is_ours() const noexcept { return (before_ & bit_) == 0; }
    void keep() noexcept { owner_ = nullptr; }

   private:
    eventual_base* owner_;
    const std::uint32_t bit_, before_;
  };

  /// Makes the content and publishes it: EVENTUAL-1.
  template <class Made, class... Arguments>
  void settle(Made& content, std::uint32_t outcome, Arguments&&... arguments) {
    claim ours(*this, claimed_);
    if (!ours.is_ours()) eventual_word::fail_second_value();
    detail::notify_point(&word_);
    ::new (static_cast<void*>(&content)) Made(std::forward<Arguments>(arguments)...);
    ours.keep();
    detail::wake_sleepers(&word_, word_.fetch_or(outcome, detail::memory_order_release));  // 3
  }

  [[noreturn]] void fail_get(std::uint32_t word) const {
    eventual_word::fail_get(word, (word & taken_) != 0 ? std::exception_ptr() : error_);
  }

  void destroy_content() noexcept {
    const std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 5
    if ((word & ready_) != 0) content_.~Content();
    if ((word & failed_) != 0) error_.~exception_ptr();
  }

  mutable detail::wait_word word_;
  wait_policy policy_;
  union {
    unsigned char nothing_;
    Content content_;
    std::exception_ptr error_;  // in every build: the layout is the same without exceptions
  };
};

/// Stands for the value of an eventual<void>.
struct no_value {};

}  // namespace detail

/// A value, or an exception, that one thread sets and any number of threads wait for.
template <class Type>
class eventual : public detail::eventual_base<Type> {
  static_assert(std::is_object<Type>::value && !std::is_const<Type>::value,
                "an eventual holds an object: no reference, no const");

 public:
  explicit constexpr eventual(wait_policy policy = wait_policy()) noexcept
      : detail::eventual_base<Type>(policy) {}

  /// Sets the value and releases all readers. Fails if the eventual is set already, or is being set.
  void set_value(const Type& value) { this->set(value); }
  void set_value(Type&& value) { this->set(std::move(value)); }
  template <class... Arguments>
  void emplace(Arguments&&... arguments) {
    this->set(std::forward<Arguments>(arguments)...);
  }

  /// Blocks until the value is set. It lives until reset() or the end of the eventual. Fails if it was
  /// taken.
  const Type& get(call_site where = {}) const { return this->get_content(where); }

  /// Blocks until the value is set and moves it out, once for all threads: fails if it was taken already.
  /// Requires: no thread reads what get() has returned while this moves it.
  Type take(call_site where = {}) { return this->take_content(where); }
};

template <>
class eventual<void> : public detail::eventual_base<detail::no_value> {
 public:
  explicit constexpr eventual(wait_policy policy = wait_policy()) noexcept
      : detail::eventual_base<detail::no_value>(policy) {}

  void set_value() { set(); }
  void get(call_site where = {}) const { get_content(where); }
  /// As get(), once for all threads: fails if another thread has taken it.
  void take(call_site where = {}) { take_content(where); }
};

static_assert(sizeof(eventual<std::uint32_t>) <= 8 + sizeof(std::exception_ptr) &&
                  sizeof(eventual<void>) == 8 + sizeof(std::exception_ptr),
              "a word of state, one of policy, and the content");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_EVENTUAL_HPP
