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
//   FUTURES-3  The set is ready when all have contributed, never earlier, not even after an exception. So when all
//              waits have returned, no thread uses the set any more, and a waiter may destroy it.
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
#include <exception>
#include <functional>
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
template <class Type>
struct future_slots;
}  // namespace detail

/// The values of a future_set, by the index of their contributions. The set owns them.
template <class Type>
class future_values {
 public:
  std::size_t size() const noexcept { return slots_->size(); }
  const Type& operator[](std::size_t index) const noexcept { return (*slots_)[index]; }
  const Type* begin() const noexcept { return slots_->data(); }
  const Type* end() const noexcept { return begin() + size(); }

 private:
  template <class T>
  friend struct detail::future_slots;
  template <class T>
  friend class future_set;
  explicit future_values(const detail::aligned_array<Type>& of) noexcept : slots_(&of) {}

  const detail::aligned_array<Type>* slots_;
};

namespace detail {

/// How many have contributed, and the first error.
class future_counts {
 public:
  future_counts(const future_counts&) = delete;
  future_counts& operator=(const future_counts&) = delete;

  std::size_t contributions() const noexcept { return contributions_; }

  /// Blocks until all have contributed; throws the exception of FUTURES-4.
  void wait(call_site where = {}) const { done_.get(where); }

  /// True if all have contributed; never blocks. Neither this nor a timed wait throws.
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

/// Where the values are; of future_set<void> there are none.
template <class Type>
struct future_slots {
  aligned_array<Type> all;

  explicit future_slots(std::size_t size) : all(size) {}
  template <class Function>
  void pass_to(Function& f) const {
    f(future_values<Type>(all));
  }
};
template <>
struct future_slots<void> {
  explicit future_slots(std::size_t) noexcept {}
  template <class Function>
  void pass_to(Function& f) const {
    f();
  }
};

/// What future_set<Type> and future_set<void> have in common. The callback is not a std::function: it may be only movable.
template <class Type>
class future_set_base : public future_counts {
 public:
  explicit future_set_base(std::size_t contributions, std::nullptr_t = nullptr,
                           wait_policy policy = wait_policy())
      : future_set_base(contributions, policy, owner<any_callback>()) {}
  /// Calls on_ready(values), or on_ready() if there are none, when all have contributed.
  template <class Function>
  future_set_base(std::size_t contributions, Function&& on_ready,
                  wait_policy policy = wait_policy())
      : future_set_base(contributions, policy,
                        owner<any_callback>(is_empty(on_ready)
                                                ? nullptr
                                                : new holder<typename std::decay<Function>::type>(
                                                      std::forward<Function>(on_ready)))) {}

  /// Contributes an exception in place of a value, and returns its index. Fails if all have contributed, or if there is no
  /// exception.
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
  /// Contributes what `store(index)` stores.
  template <class Store>
  std::size_t put(const Store& store) {
    const std::size_t index = take_ticket();
    note(error_of([&store, index] { store(index); }));
    arrive(run_callback{*this});
    return index;
  }

  future_slots<Type> slots_;

 private:
  struct any_callback {
    virtual ~any_callback() = default;
    virtual void call(const future_slots<Type>& with) = 0;
  };
  template <class Function>
  struct holder final : any_callback {
    Function function;

    template <class From>
    explicit holder(From&& f) : function(std::forward<From>(f)) {}
    void call(const future_slots<Type>& with) override { with.pass_to(function); }
  };
  struct run_callback {
    const future_set_base& of;
    void operator()() const {
      if (of.on_ready_) of.on_ready_->call(of.slots_);
    }
  };

  future_set_base(std::size_t contributions, wait_policy policy, owner<any_callback> on_ready)
      : future_counts(contributions, policy),
        slots_(contributions),
        on_ready_(std::move(on_ready)) {
    begin();
  }
  void begin() {
    if (contributions() == 0) complete(run_callback{*this});
  }

  /// A null pointer and an empty std::function are no callback.
  template <class Function>
  static bool is_empty(const Function&) noexcept {
    return false;
  }
  template <class Result, class... Arguments>
  static bool is_empty(Result (*const& f)(Arguments...)) noexcept {
    return f == nullptr;
  }
  template <class Signature>
  static bool is_empty(const std::function<Signature>& f) noexcept {
    return f == nullptr;
  }

  owner<any_callback> on_ready_;
};

}  // namespace detail

/// Collects n values, and then releases all threads that wait for them.
/// Requires: Type can be made without arguments and assigned. A slot whose contribution was an exception
/// keeps the value it had.
template <class Type>
class future_set : public detail::future_set_base<Type> {
 public:
  using values = future_values<Type>;
  using detail::future_set_base<Type>::future_set_base;

  /// Stores the value and returns its index. Fails if all have contributed.
  std::size_t contribute(const Type& value) {
    return this->put([this, &value](std::size_t index) { this->slots_.all[index] = value; });
  }
  std::size_t contribute(Type&& value) {
    return this->put(
        [this, &value](std::size_t index) { this->slots_.all[index] = std::move(value); });
  }

  /// As wait(). The values live until they are contributed anew, or to the end of the set.
  values get(call_site where = {}) const {
    this->wait(where);
    return values(this->slots_.all);
  }
};

template <>
class future_set<void> : public detail::future_set_base<void> {
 public:
  using detail::future_set_base<void>::future_set_base;

  std::size_t contribute() {
    return put([](std::size_t) {});
  }
  void get() const { wait(); }
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_FUTURE_SET_HPP
