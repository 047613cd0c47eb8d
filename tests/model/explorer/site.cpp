// SPDX-License-Identifier: MIT
#include "site.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace lockstep::model {
namespace {

constexpr std::memory_order orders[] = {std::memory_order_relaxed, std::memory_order_acquire,
                                        std::memory_order_release, std::memory_order_acq_rel,
                                        std::memory_order_seq_cst};

struct mutation {
  enum class kind { none, order, failure, drop };
  std::string file;
  int line = 0;
  kind what = kind::none;
  std::memory_order order = std::memory_order_relaxed;

  bool is_at(site where) const {
    if (line != where.line) return false;
    // A header is named as it was included: src/sync/../wait/NAME.hpp.
    const std::string path = std::filesystem::path(where.file).lexically_normal().string();
    return path.size() >= file.size() &&
           path.compare(path.size() - file.size(), file.size(), file) == 0;
  }
};

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument("LOCKSTEP_MODEL_MUTATION: " + text +
                              " is not file:line:order=ORDER, :failure=ORDER or :drop");
}

std::memory_order order_named(const std::string& name, const std::string& text) {
  for (const std::memory_order each : orders) {
    if (name == name_of(each)) return each;
  }
  refuse(text);
}

mutation read_mutation() {
  mutation read;
  const char* const given = std::getenv("LOCKSTEP_MODEL_MUTATION");
  if (given == nullptr || *given == 0) return read;
  const std::string text = given;
  const std::size_t second = text.rfind(':');
  const std::size_t first = second == std::string::npos ? second : text.rfind(':', second - 1);
  if (first == std::string::npos) refuse(text);
  read.file = "/" + text.substr(0, first);
  read.line = std::atoi(text.c_str() + first + 1);
  const std::string action = text.substr(second + 1);
  const std::size_t equals = action.find('=');
  if (action == "drop") {
    read.what = mutation::kind::drop;
  } else if (equals == std::string::npos) {
    refuse(text);
  } else {
    const std::string of = action.substr(0, equals);
    if (of != "order" && of != "failure") refuse(text);
    read.what = of == "order" ? mutation::kind::order : mutation::kind::failure;
    read.order = order_named(action.substr(equals + 1), text);
  }
  return read;
}

const mutation& the_mutation() {
  static const mutation read = read_mutation();
  return read;
}

}  // namespace

std::memory_order mutated(std::memory_order given, site where, part of) {
  const mutation& it = the_mutation();
  const auto kind = of == part::order ? mutation::kind::order : mutation::kind::failure;
  return it.what == kind && it.is_at(where) ? it.order : given;
}

bool is_dropped(site where) {
  const mutation& it = the_mutation();
  return it.what == mutation::kind::drop && it.is_at(where);
}

const char* name_of(std::memory_order order) noexcept {
  switch (order) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    default: return "seq_cst";
  }
}

bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

std::string to_text(site where) {
  if (where.line == 0) return "";
  const std::string path = where.file, root = "include/lockstep/";
  const std::size_t include = path.find(root);
  const std::size_t slash = path.rfind('/');
  const std::string name = include != std::string::npos ? path.substr(include + root.size())
                           : slash != std::string::npos ? path.substr(slash + 1)
                                                        : path;
  return name + ":" + std::to_string(where.line);
}

}  // namespace lockstep::model
