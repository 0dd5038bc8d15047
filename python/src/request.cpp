#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "bindings.hpp"

namespace heddle::python {
namespace {

/// The words of an enumeration.
template <class Value>
using Words = std::initializer_list<std::pair<std::string_view, Value>>;

template <class Value>
Value word(std::string_view field, nb::handle given, Words<Value> words) {
  std::string known;
  for (const auto& [name, value] : words) {
    if (nb::isinstance<nb::str>(given) && nb::cast<std::string>(given) == name) return value;
    known += (known.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  throw RequestError(std::string(field),
                     " is " + std::string(nb::repr(given).c_str()) + ", not one of " + known);
}

/// The value of a field as a number or a string. `kind` names what it should be.
template <class T>
T number(std::string_view field, nb::handle given, std::string_view kind) {
  T value{};
  if (nb::try_cast(given, value)) return value;
  throw RequestError(std::string(field),
                     " is " + std::string(nb::repr(given).c_str()) + ", not " + std::string(kind));
}

Index integer(std::string_view field, nb::handle given) {
  return number<Index>(field, given, "an integer");
}

double real(std::string_view field, nb::handle given) {
  return number<double>(field, given, "a number");
}

RealInterval interval(std::string_view field, nb::handle given) {
  const nb::object pair = nb::borrow(given);
  if (nb::len(pair) != 2) throw RequestError(std::string(field), " is not a pair of numbers");
  return {real(field, pair[0]), real(field, pair[1])};
}

/// A name, or a dictionary with the name as `type` beside the options.
PreconditionerRequest preconditioner(std::string_view field, nb::handle given) {
  PreconditionerRequest request;
  if (nb::isinstance<nb::str>(given)) {
    request.type = nb::cast<std::string>(given);
    return request;
  }
  if (!nb::isinstance<nb::dict>(given)) {
    throw RequestError(std::string(field),
                       " is " + std::string(nb::repr(given).c_str()) +
                           ", not a name such as 'chebyshev' and not a dictionary such as "
                           "{'type': 'chebyshev', 'degree': 8}");
  }
  for (const auto& [key, value] : nb::cast<nb::dict>(given)) {
    const std::string name = number<std::string>(field, key, "a dictionary with names as keys");
    if (name == "type") {
      request.type = number<std::string>(field, value, "the name of a preconditioner");
    } else if (name == "precision") {
      request.precision =
          word<PreconditionerPrecision>("preconditioner.precision", value,
                                        {{"auto", PreconditionerPrecision::automatic},
                                         {"double", PreconditionerPrecision::full},
                                         {"single", PreconditionerPrecision::single},
                                         {"half", PreconditionerPrecision::half},
                                         {"bf16", PreconditionerPrecision::bf16},
                                         {"tf32", PreconditionerPrecision::tf32}});
    } else if (nb::isinstance<nb::str>(value)) {
      request.options[name] = nb::cast<std::string>(value);
    } else {
      request.options[name] = integer("preconditioner." + name, value);
    }
  }
  return request;
}

/// One field of a request: its name in Python, which messages use, too, and how it is set.
struct Field {
  std::string_view name;
  void (*set)(Request& request, std::string_view name, nb::handle value);
};

constexpr std::array kFields = {
    Field{"method",
          [](Request& r, std::string_view name, nb::handle v) {
            r.method = word<Method>(name, v,
                                    {{"auto", Method::automatic},
                                     {"lobpcg", Method::lobpcg},
                                     {"block_lanczos", Method::block_lanczos},
                                     {"block_cg", Method::block_cg}});
          }},
    Field{"nev", [](Request& r, std::string_view name, nb::handle v) { r.nev = integer(name, v); }},
    Field{"which",
          [](Request& r, std::string_view name, nb::handle v) {
            r.which = word<Which>(name, v,
                                  {{"smallest", Which::smallest}, {"largest", Which::largest}});
          }},
    Field{"interval", [](Request& r, std::string_view name,
                         nb::handle v) { r.interval = interval(name, v); }},
    Field{"block_size",
          [](Request& r, std::string_view name, nb::handle v) { r.block_size = integer(name, v); }},
    Field{"tolerance",
          [](Request& r, std::string_view name, nb::handle v) { r.tolerance = real(name, v); }},
    Field{"criterion",
          [](Request& r, std::string_view name, nb::handle v) {
            r.criterion = word<Criterion>(name, v,
                                          {{"eigenvalue", Criterion::eigenvalue},
                                           {"norm", Criterion::norm},
                                           {"relative", Criterion::relative},
                                           {"absolute", Criterion::absolute}});
          }},
    Field{"linear_criterion",
          [](Request& r, std::string_view name, nb::handle v) {
            r.linear_criterion = word<LinearCriterion>(name, v,
                                                       {{"relative", LinearCriterion::relative},
                                                        {"absolute", LinearCriterion::absolute}});
          }},
    Field{"max_iterations", [](Request& r, std::string_view name,
                               nb::handle v) { r.max_iterations = integer(name, v); }},
    Field{"time_limit",
          [](Request& r, std::string_view name, nb::handle v) { r.time_limit_s = real(name, v); }},
    Field{"seed",
          [](Request& r, std::string_view name, nb::handle v) {
            r.seed = number<std::uint64_t>(name, v, "an integer from 0 to 2^64 - 1");
          }},
    Field{"refresh_interval", [](Request& r, std::string_view name,
                                 nb::handle v) { r.refresh_interval = integer(name, v); }},
    Field{"max_basis",
          [](Request& r, std::string_view name, nb::handle v) { r.max_basis = integer(name, v); }},
    Field{"filter",
          [](Request& r, std::string_view name, nb::handle v) {
            r.filter = word<LanczosFilter>(name, v,
                                           {{"auto", LanczosFilter::automatic},
                                            {"none", LanczosFilter::none},
                                            {"chebyshev", LanczosFilter::chebyshev},
                                            {"inverse", LanczosFilter::inverse}});
          }},
    Field{"factorization",
          [](Request& r, std::string_view name, nb::handle v) {
            r.factorization = word<FactorLibrary>(name, v,
                                                  {{"auto", FactorLibrary::automatic},
                                                   {"host", FactorLibrary::host},
                                                   {"cudss", FactorLibrary::cudss}});
          }},
    Field{"algorithm",
          [](Request& r, std::string_view name, nb::handle v) {
            r.algorithm = word<CgAlgorithm>(name, v,
                                            {{"breakdown_free", CgAlgorithm::breakdown_free},
                                             {"pseudo_block", CgAlgorithm::pseudo_block}});
          }},
    Field{"damp", [](Request& r, std::string_view name, nb::handle v) { r.damp = real(name, v); }},
    Field{"project_rhs",
          [](Request& r, std::string_view name, nb::handle v) {
            r.project_rhs = number<bool>(name, v, "True or False");
          }},
    Field{"preconditioner", [](Request& r, std::string_view name,
                               nb::handle v) { r.preconditioner = preconditioner(name, v); }},
    Field{"kernel",
          [](Request& r, std::string_view name, nb::handle v) {
            r.spmm.kernel = number<std::string>(name, v, "the name of a kernel");
          }},
    Field{"reorder",
          [](Request& r, std::string_view name, nb::handle v) {
            r.reorder = word<RowOrder>(name, v,
                                       {{"auto", RowOrder::automatic},
                                        {"none", RowOrder::none},
                                        {"rcm", RowOrder::rcm},
                                        {"metis", RowOrder::metis},
                                        {"radix", RowOrder::radix},
                                        {"jaccard", RowOrder::jaccard}});
          }},
    Field{"precision",
          [](Request& r, std::string_view name, nb::handle v) {
            r.precision = word<Precision>(name, v,
                                          {{"double", Precision::full},
                                           {"single", Precision::single},
                                           {"mixed", Precision::mixed}});
          }},
    Field{"checkpoint",
          [](Request& r, std::string_view name, nb::handle v) {
            r.checkpoint.file = number<std::string>(name, v, "the path of a file");
          }},
    Field{"checkpoint_every", [](Request& r, std::string_view name,
                                 nb::handle v) { r.checkpoint.every_s = real(name, v); }},
    Field{"resume",
          [](Request& r, std::string_view name, nb::handle v) {
            r.checkpoint.resume = number<bool>(name, v, "True or False");
          }},
};

}  // namespace

Request request_of(const nb::dict& fields) {
  Request request;
  for (const auto& [key, value] : fields) {
    const std::string name = nb::cast<std::string>(key);
    const auto field = std::find_if(kFields.begin(), kFields.end(),
                                    [&](const Field& known) { return known.name == name; });
    if (field == kFields.end()) {
      std::string known;
      for (const Field& other : kFields) {
        known += (known.empty() ? "" : ", ") + std::string(other.name);
      }
      throw nb::type_error(("heddle knows no option " + name + "; it knows " + known).c_str());
    }
    field->set(request, field->name, value);
  }
  return request;
}

}  // namespace heddle::python
