// SPDX-License-Identifier: MIT
// lockstep/named_object.hpp -- names for objects, in reports of the watchdog and in traces (layer: trace)
//
// Messages call the object of the example lockstep::mutex 'queue lock'. The name is in a table of the process, so no object
// grows.
//
//   NAMED-1  A name belongs to an address. It stays until another is given or it is taken away, also if the object ends:
//           then it is the name of whatever comes to lie there. So take it away before, as a named_object does at its end.
//           An object and its first member have one address, and so one name.
//   NAMED-2  Any thread may give a name, change it and take it away at any time. A trace has the name at the end of the
//           wait, a report of the watchdog that at the time of the report.
//   NAMED-3  A child of fork() has the names of its parent.
//
// Order  none (NAMED-2).
// Errors none is thrown: name_object() returns false where it keeps no name.
// Cost   a lock of the process and a search. Threads that wait pay nothing unless somebody watches. A name is 64 bytes;
//        its place is used again, but never freed.
// Example
//   lockstep::mutex queue_lock;
//   const lockstep::named_object name(&queue_lock, "queue lock");
#ifndef LOCKSTEP_NAMED_OBJECT_HPP
#define LOCKSTEP_NAMED_OBJECT_HPP

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// What the object at this address is called from now on: at most 47 bytes are kept. Null or "" takes the name away.
/// False if there is no memory.
bool name_object(const void* object, const char* name) noexcept;

/// Gives an object a name, and takes it away at its own end. Make it after the object, so that it ends before.
class named_object {
 public:
  named_object(const void* object, const char* name) noexcept : object_(object) {
    name_object(object, name);
  }
  ~named_object() { name_object(object_, nullptr); }
  named_object(const named_object&) = delete;
  named_object& operator=(const named_object&) = delete;

 private:
  const void* const object_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_NAMED_OBJECT_HPP
