// SPDX-License-Identifier: MIT
// lockstep/team_options.hpp -- what a program says about a team that it makes: a value (layer: team)
//
// What is not said here is taken from the environment (environment.hpp), else it has its default; see resolve() in
// placement.hpp.
//
// Order  none: these are values.
// Errors none here: the team that is made with them refuses a bad number of members with std::invalid_argument.
// Cost   values; a list of CPUs and hooks are on the heap.
// Example
//   lockstep::team four(lockstep::team_options().members(4).bind(lockstep::binding::close()));
#ifndef LOCKSTEP_TEAM_OPTIONS_HPP
#define LOCKSTEP_TEAM_OPTIONS_HPP

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <lockstep/detail/platform/error.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Where a team's members shall run: a value.
///   binding()          nothing said: the environment decides, else none
///   binding::none()    members run where the system puts them
///   binding::close()   fills each core with its hyper-threads, each last-level cache, NUMA node and package, before the
///                      next one. For members that share data and often wait for each other
///   binding::cores()   one member on each core, in the same order; then the second hyper-threads. For members that
///                      share data, and compute
///   binding::spread()  over packages, nodes, caches, then cores, in turns; then the second hyper-threads. For members
///                      that need memory bandwidth, or caches of their own
///   binding::cpus({})  rank i on the i-th of these CPUs
/// If a node has several packages, close() and cores() fill a package before a node, and spread() begins with nodes. If the
/// system tells big cores from little ones, all three fill the big ones first. More members than CPUs take them in turns.
class binding {
 public:
  binding() = default;
  static binding none() { return binding(kind::none); }
  static binding close() { return binding(kind::close); }
  static binding cores() { return binding(kind::cores); }
  static binding spread() { return binding(kind::spread); }
  /// CPUs by the system's numbers, in the order of ranks; a number may occur several times. CPUs that the process may not
  /// use are left out. An empty list is none().
  static binding cpus(std::vector<unsigned> list) {
    binding result(list.empty() ? kind::none : kind::list);
    result.list_ = std::move(list);
    return result;
  }

  bool is_unset() const noexcept { return kind_ == kind::unset; }
  bool is_none() const noexcept { return kind_ == kind::none; }
  bool is_close() const noexcept { return kind_ == kind::close; }
  bool is_cores() const noexcept { return kind_ == kind::cores; }
  bool is_spread() const noexcept { return kind_ == kind::spread; }
  bool is_list() const noexcept { return kind_ == kind::list; }
  /// What cpus() was given; empty for all others.
  const std::vector<unsigned>& list() const noexcept { return list_; }

  friend bool operator==(const binding& a, const binding& b) {
    return a.kind_ == b.kind_ && a.list_ == b.list_;
  }
  friend bool operator!=(const binding& a, const binding& b) { return !(a == b); }

 private:
  enum class kind : unsigned char { unset, none, close, cores, spread, list };

  explicit binding(kind which) : kind_(which) {}

  kind kind_ = kind::unset;
  std::vector<unsigned> list_;
};

/// What the program says about a team before it is made; each function returns the options.
class team_options {
 public:
  /// A function that threads call with their rank: a std::function<void(std::size_t)>, without what <functional> costs to
  /// compile. A null pointer and an empty std::function make an empty one.
  class hook {
   public:
    hook() noexcept = default;
    hook(std::nullptr_t) noexcept {}
    template <class Function,
              class = typename std::enable_if<!std::is_same<Function, hook>::value>::type>
    hook(Function f) {
      if (!is_none(f, is_pointer_like<Function>())) held_ = new held<Function>(std::move(f));
    }
    hook(const hook& other) : held_(other.held_ != nullptr ? other.held_->copy() : nullptr) {}
    hook(hook&& other) noexcept : held_(other.held_) { other.held_ = nullptr; }
    hook& operator=(hook other) noexcept {
      std::swap(held_, other.held_);
      return *this;
    }
    ~hook() { delete held_; }

    explicit operator bool() const noexcept { return held_ != nullptr; }
    void operator()(std::size_t rank) const { held_->call(rank); }

   private:
    struct any {
      virtual ~any() = default;
      virtual any* copy() const = 0;
      virtual void call(std::size_t rank) = 0;
    };
    template <class Function>
    struct held final : any {
      explicit held(Function f) : function(std::move(f)) {}
      any* copy() const override { return new held(function); }
      void call(std::size_t rank) override { function(rank); }

      Function function;
    };
    /// What can be null: pointers, and classes that are no plain functions.
    template <class Function>
    using is_pointer_like =
        std::integral_constant<bool,
                               std::is_pointer<Function>::value ||
                                   (std::is_constructible<bool, const Function&>::value &&
                                    !std::is_convertible<Function, void (*)(std::size_t)>::value)>;
    template <class Function>
    static bool is_none(const Function& f, std::true_type) {
      return !static_cast<bool>(f);
    }
    template <class Function>
    static bool is_none(const Function&, std::false_type) {
      return false;
    }

    any* held_ = nullptr;
  };

  /// Members including the caller, 1 to 65536; 0: not said, one for each usable CPU.
  team_options& members(std::size_t count) {
    members_ = count;
    return *this;
  }
  /// How many CPUs the team has for itself, of those on which its threads may run; 0: all of them. With more members
  /// than that the team is crowded: its waits begin with yields.
  team_options& cpus(std::size_t count) {
    cpus_ = count;
    return *this;
  }
  /// How members wait. A policy given here takes precedence over the environment, even the default, wait_policy().
  team_options& policy(wait_policy how) { return say(policy_, how); }
  /// Whether workers learn when the next region is due, and poll shortly before it: for a quarter of the time between
  /// regions at most, until 4 ms after the last. True by default. Counts only for wait_policy(), in teams that are not
  /// crowded.
  team_options& anticipate(bool yes) { return say(anticipate_, yes); }
  /// Whether a team's for_each and its like learn what their iterations cost, and run on as many members as pay. True by
  /// default; false: always on all members that have a CPU.
  team_options& learn(bool yes) { return say(learn_, yes); }
  /// Whether a worker moves to another CPU of its affinity if it shares its CPU with a member that it waits for. True
  /// by default. Counts where anticipate() does, and only for members that are not bound.
  team_options& cpu_separation(bool yes) { return say(cpu_separation_, yes); }
  /// Whether the team counts who waits where and for whom: team::ledger(). False by default; costs a member two looks at
  /// the tick clock, some 20 to 30 ns, in each construct at which it meets others.
  team_options& ledger(bool yes) { return say(ledger_, yes); }
  /// Where members run; binding(): not said.
  team_options& bind(binding where) {
    bind_ = std::move(where);
    return *this;
  }
  /// What debuggers and messages call the team; the rank is added to the names of its threads.
  team_options& name(const char* text) {
    if (text == nullptr)
      detail::fail_argument("lockstep::team_options::name: null given; give a text");
    std::size_t size = 0;
    while (text[size] != 0) ++size;
    name_.assign(text, text + size + 1);
    return *this;
  }
  /// A std::string.
  template <class String>
  auto name(const String& text) -> decltype(name(text.c_str())) {
    return name(text.c_str());
  }
  /// Called on each thread that the team starts, with its rank, before its first region: for thread-local state. Not for
  /// rank 0, whose thread is the caller's.
  team_options& on_start(hook function) {
    on_start_ = std::move(function);
    return *this;
  }
  /// As on_start(), after the last region.
  team_options& on_exit(hook function) {
    on_exit_ = std::move(function);
    return *this;
  }

  std::size_t members() const noexcept { return members_; }
  std::size_t cpus() const noexcept { return cpus_; }
  bool has_policy() const noexcept { return policy_.is_said; }
  wait_policy policy() const noexcept { return policy_.value; }
  bool has_anticipate() const noexcept { return anticipate_.is_said; }
  bool anticipate() const noexcept { return anticipate_.value; }
  bool has_learn() const noexcept { return learn_.is_said; }
  bool learn() const noexcept { return learn_.value; }
  bool has_cpu_separation() const noexcept { return cpu_separation_.is_said; }
  bool cpu_separation() const noexcept { return cpu_separation_.value; }
  bool has_ledger() const noexcept { return ledger_.is_said; }
  bool ledger() const noexcept { return ledger_.value; }
  const binding& bind() const noexcept { return bind_; }
  const char* name() const noexcept { return name_.empty() ? "lockstep" : name_.data(); }
  const hook& on_start() const noexcept { return on_start_; }
  const hook& on_exit() const noexcept { return on_exit_; }

 private:
  template <class Value>
  struct option {
    Value value;
    bool is_said;
  };
  template <class Value>
  team_options& say(option<Value>& of, Value value) {
    of = {value, true};
    return *this;
  }

  std::size_t members_ = 0;
  std::size_t cpus_ = 0;
  option<wait_policy> policy_ = {wait_policy(), false};
  option<bool> anticipate_ = {true, false};
  option<bool> learn_ = {true, false};
  option<bool> cpu_separation_ = {true, false};
  option<bool> ledger_ = {false, false};
  binding bind_;
  std::vector<char> name_;  ///< with its end
  hook on_start_;
  hook on_exit_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_OPTIONS_HPP
