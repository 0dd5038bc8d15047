#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::apps {

/// The names of the manual pages: "heddle", "heddle-solve", ..., "heddle-config".
std::vector<std::string> manual_pages();

/// The manual page `name` in the language of man(7). "heddle-" may be left out. Throws
/// `InvalidArgument` for an unknown page.
std::string manual_page(std::string_view name);

}  // namespace heddle::apps
