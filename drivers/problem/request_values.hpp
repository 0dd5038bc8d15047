#pragma once

#include <cstdint>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/linalg/context/context.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Fields of a request by name, for programs that read them from their users.
namespace heddle {

/// A value as a user gives it. `std::uint64_t` is for integers that `Index` does not hold, a list
/// of two numbers for an interval.
using GivenValue =
    std::variant<bool, Index, std::uint64_t, double, std::string, std::vector<double>>;

/// The names of all fields that `set_field` sets, such as "nev". Options of a preconditioner are
/// left out.
std::vector<std::string> field_keywords();

/// Sets the field `keyword` of `request`. A word is one of a configuration, such as "auto".
/// "preconditioner" is its type, "preconditioner.NAME" its precision or one of its options. Throws
/// `RequestError` for a value of another kind than the field's, with those that it accepts, and
/// `InvalidArgument` for an unknown name. A solve checks that numbers lie in their ranges.
void set_field(Request& request, std::string_view keyword, const GivenValue& value);

/// The accepted values of the field `keyword` as text, such as "auto or an integer of at least 1".
std::string accepted_values(std::string_view keyword);

/// The name in `set_field` of a field as `RequestError::field` names it.
std::string keyword_of(std::string_view field);

}  // namespace heddle
