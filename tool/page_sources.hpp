// SPDX-License-Identifier: MIT
// tool/page_sources.hpp -- the files of page/, which embed.cmake makes part of the program
#pragma once

#include <string_view>

namespace tool {

extern const std::string_view page_frame;   // page.html
extern const std::string_view page_style;   // style.css
extern const std::string_view page_script;  // the .js files, one after the other

}  // namespace tool
