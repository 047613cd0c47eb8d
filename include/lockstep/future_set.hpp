// SPDX-License-Identifier: MIT
// lockstep/future_set.hpp -- ready after n contributions from any threads (layer: toolbox)
//
// The last of n contributions runs the callback, with all values at hand, and then releases all waiters.
// This is Argobots' future. One value: eventual. No values and no callback: latch, which
// is smaller.
//
// Invariants, n = contributions()
//   FUTURES-1  Each contribution has an index of its own from 0 to n - 1. One more fails and changes nothing.
//   FUTURES-2  The callback runs once, on the thread of the last contribution, before any waiter is released.
//   FUTURES-3  The set is ready when all have contributed, never earlier, not even after an exception. So a
//              waiter that has returned knows that no contributor uses the set any more. It may destroy the
//              set when the other waits have returned, too.
//   FUTURES-4  If a contribution is an exception, or a value's assignment or the callback throws, the waiters
//              get the first one. The callback does not run after an exception.
//   FUTURES-5  The callback must neither wait for the set nor contribute nor destroy it: it is not ready yet.
// With n = 0 the set is ready at once: constructor and reset() run the callback.
//
// Order  what happens before any contribution happens before the callback, and the callback happens before
//        every return from a wait.
// Errors one contribution too many: std::logic_error, and it changes nothing. contribute_exception() without
//        an exception: std::invalid_argument. wait() and get() throw the first exception of FUTURES-4.
// Cost   contribute: two RMWs on one line; the last one also the callback and an eventual's set. wait:
//        one load when ready. When the set is made: an allocation for the values, one for the callback. Values
//        lie side by side: contributors may share their lines.
// Example
//   lockstep::future_set<double> parts(2);
//   lockstep::joinable_thread other([&] { parts.contribute(0.5); });
//   parts.contribute(1.5);
//   double sum = 0;
//   for (const double each : parts.get()) sum += each;
#ifndef LOCKSTEP_FUTURE_SET_HPP
#define LOCKSTEP_FUTURE_SET_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/eventual.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

/// Who has contributed, and the first error.
class future_counts {
 public:
  future_counts(const future_counts&) = delete;
  future_counts& operator=(const future_counts&) = delete;

  std::size_t contributions() const noexcept { return contributions_; }

  /// Blocks until all have contributed; throws the exception that is carried.
  void wait(call_site where = {}) const { done_.get(where); }

  /// True if all have contributed; never blocks. Neither this nor a timed wait throws what is carried.
  bool is_ready() const noexcept { return done_.is_ready(); }
  bool try_wait() const noexcept { return done_.is_ready(); }
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time, call_site where = {}) const {
    return done_.wait_for(time, where);
  }
  wait_status wait_until(deadline until, call_site where = {}) const {
    return done_.wait_until(until, where);
  }

  wait_policy policy() const noexcept { return done_.policy(); }

 protected:
  future_counts(std::size_t contributions, wait_policy policy);
  ~future_counts();

  /// The index of a contribution. Fails if all have contributed.
  std::size_t take_ticket();
  /// Keeps the first error; nullptr is none.
  void note(std::exception_ptr error) noexcept;

  /// The last call completes the set. The caller touches nothing of the set afterwards.
  template <class Callback>
  void arrive(const Callback& callback) {
    if (is_last()) complete(callback);
  }
  template <class Callback>
  void complete(const Callback& callback) {
    if (error_ == nullptr) error_ = error_of(callback);
    end();
  }
  bool is_last() noexcept;

  template <class Function>
  static std::exception_ptr error_of(const Function& f) {
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      f();
    } catch (...) {
      return std::current_exception();
    }
#else
    f();
#endif
    return std::exception_ptr();
  }

  void reset_counts() noexcept;
  static std::exception_ptr checked(std::exception_ptr error);

 private:
  void end();

  eventual<void> done_;
  const std::size_t contributions_;
  detail::atomic<std::size_t> tickets_;
  detail::atomic<std::size_t> arrived_;
  detail::atomic<std::size_t> failures_;
  std::exception_ptr error_;  // of the first failure; read by the last to arrive
};

/// What future_set<Type> and future_set<void> have in common. Set: one of them; set.pass_to(f) calls f with the values.
/// The callback is not a std::function, because <functional> costs a tenth of what lockstep.hpp does to compile.
template <class Set>
class future_set_base : public future_counts {
 public:
  ~future_set_base() { delete on_ready_; }

  /// In place of a value; returns its index. Fails if all have contributed, or if there is no exception.
  std::size_t contribute_exception(std::exception_ptr error) {
    std::exception_ptr ours = checked(std::move(error));
    const std::size_t index = take_ticket();
    note(std::move(ours));
    arrive(run_callback{*this});
    return index;
  }

  /// Begins anew, even if not all have contributed.
  /// Requires: no thread waits, reads or contributes, and what such threads did happens before this call.
  void reset() {
    reset_counts();
    begin();
  }

 protected:
  future_set_base(std::size_t contributions, wait_policy policy, std::nullptr_t)
      : future_counts(contributions, policy), on_ready_(nullptr) {}
  template <class Function>
  future_set_base(std::size_t contributions, wait_policy policy, Function&& on_ready)
      : future_counts(contributions, policy),
        on_ready_(is_empty(on_ready) ? nullptr
                                     : new holder<typename std::decay<Function>::type>(
                                           std::forward<Function>(on_ready))) {}

  /// Once the set is made.
  void begin() {
    if (contributions() == 0) complete(run_callback{*this});
  }

  /// Contributes what `store(index)` stores.
  template <class Store>
  std::size_t put(const Store& store) {
    const std::size_t index = take_ticket();
    note(error_of([&store, index] { store(index); }));
    arrive(run_callback{*this});
    return index;
  }

 private:
  struct any_callback {
    virtual ~any_callback() = default;
    virtual void call(const Set& set) = 0;
  };
  template <class Function>
  struct holder final : any_callback {
    Function function;

    template <class From>
    explicit holder(From&& f) : function(std::forward<From>(f)) {}
    void call(const Set& set) override { set.pass_to(function); }
  };
  struct run_callback {
    const future_set_base& owner;
    void operator()() const {
      if (owner.on_ready_ != nullptr) owner.on_ready_->call(static_cast<const Set&>(owner));
    }
  };

  /// A null pointer and an empty std::function are no callback.
  template <class Function>
  static bool is_empty(const Function& f) {
    constexpr bool is_explicit = std::is_constructible<bool, const Function&>::value &&
                                 !std::is_convertible<const Function&, bool>::value;
    return is_empty(
        f, std::integral_constant<bool, is_explicit || std::is_pointer<Function>::value>());
  }
  template <class Function>
  static bool is_empty(const Function& f, std::true_type /*can be asked*/) {
    return !static_cast<bool>(f);
  }
  template <class Function>
  static bool is_empty(const Function&, std::false_type) noexcept {
    return false;
  }

  any_callback* const on_ready_;
};

}  // namespace detail

/// Collects n values, and lets all threads go that wait for them.
/// Requires: Type can be made without arguments and assigned. A slot whose contribution was an exception
/// keeps the value it had.
template <class Type>
class future_set : public detail::future_set_base<future_set<Type>> {
  using base = detail::future_set_base<future_set<Type>>;

 public:
  /// The contributed values by index. The set owns them.
  class values {
   public:
    std::size_t size() const noexcept { return slots_->size(); }
    const Type& operator[](std::size_t index) const noexcept { return (*slots_)[index]; }
    const Type* begin() const noexcept { return size() == 0 ? nullptr : &(*slots_)[0]; }
    const Type* end() const noexcept { return size() == 0 ? nullptr : begin() + size(); }

   private:
    friend class future_set;
    explicit values(const detail::aligned_array<Type>& of) noexcept : slots_(&of) {}

    const detail::aligned_array<Type>* slots_;
  };

  explicit future_set(std::size_t contributions, std::nullptr_t = nullptr,
                      wait_policy policy = wait_policy())
      : base(contributions, policy, nullptr), slots_(contributions) {
    this->begin();
  }
  /// Calls on_ready(values) when all have contributed.
  template <class Function>
  future_set(std::size_t contributions, Function&& on_ready, wait_policy policy = wait_policy())
      : base(contributions, policy, std::forward<Function>(on_ready)), slots_(contributions) {
    this->begin();
  }

  /// Stores the value and returns its index. Fails if all have contributed.
  std::size_t contribute(const Type& value) {
    return this->put([this, &value](std::size_t index) { slots_[index] = value; });
  }
  std::size_t contribute(Type&& value) {
    return this->put([this, &value](std::size_t index) { slots_[index] = std::move(value); });
  }

  /// As wait(). The values live until they are contributed anew, or to the end of the set.
  values get(call_site where = {}) const {
    this->wait(where);
    return values(slots_);
  }

 private:
  friend base;

  template <class Function>
  void pass_to(Function& f) const {
    f(values(slots_));
  }

  detail::aligned_array<Type> slots_;
};

template <>
class future_set<void> : public detail::future_set_base<future_set<void>> {
  using base = detail::future_set_base<future_set<void>>;

 public:
  explicit future_set(std::size_t contributions, std::nullptr_t = nullptr,
                      wait_policy policy = wait_policy())
      : base(contributions, policy, nullptr) {
    begin();
  }
  template <class Function>
  future_set(std::size_t contributions, Function&& on_ready, wait_policy policy = wait_policy())
      : base(contributions, policy, std::forward<Function>(on_ready)) {
    begin();
  }

  std::size_t contribute() {
    return put([](std::size_t) {});
  }
  void get() const { wait(); }

 private:
  friend base;

  template <class Function>
  void pass_to(Function& f) const {
    f();
  }
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_FUTURE_SET_HPP
