#pragma once

#include <cstdint>
#include <heddle/linalg/context/context.hpp>
#include <string>
#include <variant>
#include <vector>

namespace heddle {

/// A value as a user gives it. `std::uint64_t` is for integers that `Index` does not hold, a list
/// of two numbers for an interval.
using GivenValue =
    std::variant<bool, Index, std::uint64_t, double, std::string, std::vector<double>>;

}  // namespace heddle
