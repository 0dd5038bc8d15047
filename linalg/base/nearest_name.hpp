#pragma once

#include <cstddef>
#include <span>
#include <string_view>

/// Suggestions for misspelt names in error messages.
namespace heddle {

/// The smallest number of insertions, deletions, replacements and swaps of neighbouring characters
/// that turn `a` into `b`, where no character is edited twice (the optimal string alignment
/// distance). Source: Navarro, A guided tour to approximate string matching, ACM Computing Surveys
/// 33 (2001) 31.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the smallest edit distance to `word`, the first one in case of a tie. Empty
/// if no distance is within a third of the longer name's length. At least one edit is always
/// allowed.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace heddle
