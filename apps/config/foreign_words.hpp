#pragma once

#include <string>
#include <string_view>

namespace heddle::apps {

/// The meaning in heddle of other programs' word `value` for the key at `path`, as the end of "did
/// you mean …?", such as "'cuda'" for `device: gpu`. Case and punctuation of `value` do not matter.
/// Empty if the word is not known.
std::string_view meaning_of_foreign_word(std::string_view path, std::string_view value);

/// Letters and digits of `name` only, in lower case, so that `numEvals`, `num-evals` and
/// `num_evals` are equal.
std::string simplified(std::string_view name);

}  // namespace heddle::apps
