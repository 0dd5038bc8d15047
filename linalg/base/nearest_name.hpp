#pragma once

#include <cstddef>
#include <span>
#include <string_view>

/// "Did you mean": what an error message suggests for a misspelt name.
namespace heddle {

/// Fewest insertions, deletions, replacements and swaps of neighbouring characters that turn `a`
/// into `b`, no character being edited twice. Source: the optimal string alignment distance, as in
/// Navarro, A guided tour to approximate string matching, ACM Computing Surveys 33 (2001) 31.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the smallest edit distance to `word`, the first of equals; empty if none is
/// within a third of the longer name's length (at least one edit is always allowed).
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace heddle
