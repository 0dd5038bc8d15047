#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>

/// Checks of numbers on the command line, whose messages say what is allowed.
namespace heddle::apps {

/// Accepts whole numbers from `least` to the largest of the type.
template <std::integral T>
CLI::Validator at_least(T least) {
  return {[least](std::string& text) {
            T value{};
            if (CLI::detail::lexical_cast(text, value) && value >= least) return std::string();
            return fmt::format("{} is not a whole number from {} to {}", text, least,
                               std::numeric_limits<T>::max());
          },
          ""};
}

/// Accepts finite numbers above 0, or from 0 on if `zero_too`.
inline CLI::Validator finite_number(bool zero_too) {
  return {[zero_too](std::string& text) {
            double value{};
            if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) &&
                (value > 0 || (zero_too && value == 0))) {
              return std::string();
            }
            return fmt::format("{} is not a finite number {}", text,
                               zero_too ? "of at least 0" : "above 0");
          },
          ""};
}

}  // namespace heddle::apps
