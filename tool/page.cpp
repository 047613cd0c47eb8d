// SPDX-License-Identifier: MIT
#include "tool/page.hpp"

#include <stdexcept>

#include "tool/page_sources.hpp"

namespace tool {
namespace {

/// A text of an element. A name such as "</script>" stays text, too.
std::string for_html(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      default: safe += c;
    }
  }
  return safe;
}

/// JSON inside of <script>, in which the end of the script may not appear.
std::string for_script(const nlohmann::ordered_json& value) {
  std::string safe;
  for (const char c :
       value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string data_of(const packed_trace& of) {
  std::string text = "<script type=\"application/json\" id=\"description\">" +
                     for_script(of.description) + "</script>\n";
  for (const auto& [name, bytes] : of.sections) {
    text += "<script type=\"text/plain\" id=\"" + name + "\">" + to_base64(bytes) + "</script>\n";
  }
  return text;
}

}  // namespace

std::string make_page(const packed_trace& of, std::string_view title) {
  const std::pair<std::string_view, std::string> fillings[] = {
      {"{{title}}", for_html(title)},           {"{{style}}", std::string(page_style)},
      {"{{title}}", for_html(title)},           {"{{data}}", data_of(of)},
      {"{{script}}", std::string(page_script)},
  };
  std::string page;
  std::string_view rest = page_frame;
  for (const auto& [place, filling] : fillings) {
    const std::size_t at = rest.find(place);
    if (at == std::string_view::npos)
      throw std::logic_error("page.html lacks " + std::string(place));
    page.append(rest.substr(0, at)).append(filling);
    rest.remove_prefix(at + place.size());
  }
  return page.append(rest);
}

}  // namespace tool
