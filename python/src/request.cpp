#include <algorithm>
#include <heddle/drivers/problem/request_values.hpp>
#include <optional>
#include <string_view>

#include "bindings.hpp"

namespace heddle::python {
namespace {

std::string shown(nb::handle value) { return nb::repr(value).c_str(); }

/// The integer that `value` is, also one of NumPy.
std::optional<GivenValue> integer(nb::handle value) {
  const nb::object exact = nb::steal(PyNumber_Index(value.ptr()));
  if (!exact.is_valid()) {
    PyErr_Clear();
    return {};
  }
  Index number = 0;
  if (nb::try_cast(exact, number)) return number;
  std::uint64_t large = 0;
  if (nb::try_cast(exact, large)) return large;
  return {};
}

/// Whether a number, or one of a list, is complex. NumPy would convert it to its real part.
bool is_complex(nb::handle value) {
  if (PyComplex_Check(value.ptr())) return true;
  if (nb::hasattr(value, "dtype")) {
    return nb::cast<std::string>(nb::repr(value.attr("dtype"))).find("complex") !=
           std::string::npos;
  }
  if (!nb::isinstance<nb::list>(value) && !nb::isinstance<nb::tuple>(value)) return false;
  for (const nb::handle each : value) {
    if (is_complex(each)) return true;
  }
  return false;
}

/// The value of the field `keyword` for the library.
GivenValue given(std::string_view keyword, nb::handle value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (const std::optional<GivenValue> number = integer(value)) return *number;
  double real = 0;
  const bool is_real = !is_complex(value);
  if (is_real && nb::try_cast(value, real)) return real;
  std::vector<double> list;
  if (is_real && nb::try_cast(value, list)) return list;
  const bool is_option = keyword.starts_with("preconditioner.");
  throw RequestError(std::string(keyword),
                     " is " + shown(value) + ", not " +
                         (is_option ? "an integer or a word" : accepted_values(keyword)));
}

/// A name, or a dictionary with the name as `type` beside the options.
void set_preconditioner(Request& request, nb::handle value) {
  constexpr std::string_view kKeyword = "preconditioner";
  if (nb::isinstance<nb::str>(value)) return set_field(request, kKeyword, given(kKeyword, value));
  if (!nb::isinstance<nb::dict>(value)) {
    throw RequestError(std::string(kKeyword),
                       " is " + shown(value) +
                           ", not a name such as 'chebyshev' and not a dictionary such as "
                           "{'type': 'chebyshev', 'degree': 8}");
  }
  for (const auto& [key, option] : nb::cast<nb::dict>(value)) {
    if (!nb::isinstance<nb::str>(key)) {
      throw RequestError(std::string(kKeyword),
                         " is " + shown(value) + ", not a dictionary with names as keys");
    }
    const std::string keyword = std::string(kKeyword) + "." + nb::cast<std::string>(key);
    set_field(request, keyword, given(keyword, option));
  }
}

}  // namespace

Request request_of(const nb::dict& fields) {
  Request request;
  const std::vector<std::string> keywords = field_keywords();
  for (const auto& [key, value] : fields) {
    const std::string name = nb::cast<std::string>(key);
    if (std::find(keywords.begin(), keywords.end(), name) == keywords.end()) {
      std::string known;
      for (const std::string& other : keywords) known += (known.empty() ? "" : ", ") + other;
      throw nb::type_error(("heddle knows no option " + name + "; it knows " + known).c_str());
    }
    if (name == "preconditioner") {
      set_preconditioner(request, value);
    } else {
      set_field(request, name, given(name, value));
    }
  }
  return request;
}

void bind_request(nb::module_& m) {
  m.def("request_keywords", &field_keywords, "The names of all options of a solve.");
}

}  // namespace heddle::python
