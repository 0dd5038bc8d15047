#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::apps {

/// The names in braces that paths of output may contain, with their values for a run.
using Placeholders = std::vector<std::pair<std::string_view, std::string>>;

/// `text` with each {NAME} replaced by its value. Throws `InvalidArgument` for another name in
/// braces and for a single brace, with a list of the known names.
std::string expand(std::string_view text, const Placeholders& values);

/// The time of the first call in this process, in UTC, as 2026-01-31T23-59-59Z.
std::string date_for_paths();

}  // namespace heddle::apps
