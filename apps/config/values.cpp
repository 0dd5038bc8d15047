#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <heddle/apps/collection.hpp>
#include <heddle/apps/config/field_keys.hpp>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/standard_input.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <limits>
#include <utility>

namespace heddle::apps {
namespace {

template <class Number>
std::optional<Number> parse_number(const ConfigNode& node) {
  if (!node.is_scalar() || node.quoted) return std::nullopt;
  std::string_view text = node.text;
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool are_integers(const std::vector<ConfigNode>& items, const Range<Index>& range) {
  return !items.empty() && std::all_of(items.begin(), items.end(), [&](const ConfigNode& item) {
    const auto value = as_integer(item);
    return value && range.contains(*value);
  });
}

bool is_interval(const std::vector<ConfigNode>& items) {
  if (items.size() != 2) return false;
  const auto lower = as_end(items[0]);
  const auto upper = as_end(items[1]);
  return lower && upper && detail::is_interval(*lower, *upper);
}

void check_collection_name(const ConfigNode& node) {
  if (parse_collection_name(node.text)) return;
  throw ConfigError(node.origin, describe_collection_names(node.text));
}

}  // namespace

std::filesystem::path resolve_file(const ConfigNode& node) {
  if (node.text == kStandardInput) return node.text;
  if (detail::names_collection_matrix(node.text)) {
    check_collection_name(node);
    return node.text;
  }
  return (node.origin.source->base_directory / node.text).lexically_normal();
}

std::optional<Index> as_integer(const ConfigNode& node) { return parse_number<Index>(node); }

std::optional<double> as_real(const ConfigNode& node) {
  const std::optional<double> value = parse_number<double>(node);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> as_end(const ConfigNode& node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::array<std::pair<std::string_view, double>, 6> kWords = {{{"inf", kInfinity},
                                                                          {"+inf", kInfinity},
                                                                          {".inf", kInfinity},
                                                                          {"+.inf", kInfinity},
                                                                          {"-inf", -kInfinity},
                                                                          {"-.inf", -kInfinity}}};
  for (const auto& [word, value] : kWords) {
    if (node.is_scalar() && node.text == word) return value;
  }
  return as_real(node);
}

std::string ValueForms::describe() const {
  std::vector<std::string> forms;
  if (file) forms.emplace_back("a file name");
  if (folder) forms.emplace_back("a folder name");
  for (std::string& form : detail::describe_forms(*this)) forms.push_back(std::move(form));
  if (integers) forms.push_back("a list of integers " + detail::describe_range(*integers));
  if (section) forms.emplace_back("a map");
  return detail::alternatives(forms);
}

GivenValue given_value(const ConfigNode& node, const detail::FieldForms& forms) {
  if (forms.interval) {
    std::vector<double> numbers;
    for (const ConfigNode& item : node.items)
      numbers.push_back(as_end(item).value_or(std::nan("")));
    return numbers;
  }
  const auto integer = as_integer(node);
  if (integer && (forms.integer || forms.real)) return *integer;
  const auto real = as_real(node);
  if (real && forms.real) return *real;
  return node.text;
}

bool ValueForms::accepts(const ConfigNode& node) const {
  switch (node.kind) {
    case ConfigNode::Kind::null:
      return false;
    case ConfigNode::Kind::map:
      return section;
    case ConfigNode::Kind::sequence:
      return (integers && are_integers(node.items, *integers)) ||
             (interval && is_interval(node.items));
    case ConfigNode::Kind::scalar:
      break;
  }
  if ((file || new_file || folder) && !node.text.empty()) return true;
  if (std::find(words.begin(), words.end(), node.text) != words.end()) return true;
  if (const auto value = as_integer(node); integer && value && integer->contains(*value))
    return true;
  const auto value = as_real(node);
  return real && value && real->contains(*value);
}

std::string_view KeySpec::name() const noexcept {
  const std::string_view whole = path;
  return whole.substr(whole.rfind('.') + 1);
}

std::string_view KeySpec::section() const noexcept {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::string_view() : std::string_view(path).substr(0, dot);
}

bool KeySpec::applies_to(SolverType solver) const noexcept {
  return only_for.empty() || std::find(only_for.begin(), only_for.end(), solver) != only_for.end();
}

}  // namespace heddle::apps
