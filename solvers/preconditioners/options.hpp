#pragma once

#include <functional>
#include <heddle/linalg/context/context.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle {

/// The value of an option: an integer or a word.
using OptionValue = std::variant<Index, std::string>;

/// Option values by name, as a caller gives them: `{{"degree", 8}}`.
using OptionValues = std::map<std::string, OptionValue, std::less<>>;

/// The integers from `low` to `high`, both included.
struct IntegerRange {
  Index low = 1;
  Index high = 1;
};

/// One option of a preconditioner: what it may be set to, and its default.
struct PreconditionerKey {
  std::string name{};
  std::string doc{};                       ///< one line
  std::vector<std::string> words{};        ///< the words that it takes
  std::optional<IntegerRange> integers{};  ///< the integers that it takes; empty: none
  OptionValue fallback = Index{0};         ///< the default, one of the words or of the integers
  std::vector<std::string> aliases{};      ///< names in other packages, for hints

  bool accepts(const OptionValue& value) const;

  /// For messages: "auto or an integer from 1 to 256".
  std::string describe_values() const;
};

/// The options of one preconditioner, complete and checked: every key of it has a value that the
/// key accepts.
class PreconditionerOptions {
 public:
  /// The defaults of `keys`, replaced by what is `given`. Throws `InvalidArgument` in the name of
  /// `preconditioner` for an option that is not among the keys, listing them, and for a value that
  /// its key does not accept, with both the value and what the key accepts.
  PreconditionerOptions(std::string_view preconditioner, const std::vector<PreconditionerKey>& keys,
                        const OptionValues& given = {});

  /// The integer that `name` is set to. Throws `InvalidArgument` if there is no such option or it
  /// is set to a word.
  Index integer(std::string_view name) const;

  /// The same, `for_word` if the option is set to a word.
  Index integer(std::string_view name, Index for_word) const;

  /// Whether `name` is set to `word`. Throws `InvalidArgument` if there is no such option.
  bool is(std::string_view name, std::string_view word) const;

  const OptionValues& values() const noexcept { return values_; }

 private:
  const OptionValue& value(std::string_view name) const;

  OptionValues values_;
};

}  // namespace heddle
