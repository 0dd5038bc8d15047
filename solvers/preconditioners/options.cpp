#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/preconditioners/options.hpp>

namespace heddle {
namespace {

std::string text(const OptionValue& value) {
  if (const Index* integer = std::get_if<Index>(&value)) return std::to_string(*integer);
  return fmt::format("\"{}\"", std::get<std::string>(value));
}

std::string list_names(const std::vector<PreconditionerKey>& keys) {
  if (keys.empty()) return "it has no options";
  std::vector<std::string_view> names;
  for (const PreconditionerKey& key : keys) names.push_back(key.name);
  return fmt::format("its options are: {}", fmt::join(names, ", "));
}

}  // namespace

bool PreconditionerKey::accepts(const OptionValue& value) const {
  if (const Index* integer = std::get_if<Index>(&value)) {
    return integers && integers->low <= *integer && *integer <= integers->high;
  }
  return std::find(words.begin(), words.end(), std::get<std::string>(value)) != words.end();
}

std::string PreconditionerKey::describe_values() const {
  std::vector<std::string> forms = words;
  if (integers) {
    forms.push_back(fmt::format("an integer from {} to {}", integers->low, integers->high));
  }
  std::string result;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (i > 0) result += i + 1 < forms.size() ? ", " : " or ";
    result += forms[i];
  }
  return result;
}

PreconditionerOptions::PreconditionerOptions(std::string_view preconditioner,
                                             const std::vector<PreconditionerKey>& keys,
                                             const OptionValues& given) {
  for (const PreconditionerKey& key : keys) values_.emplace(key.name, key.fallback);
  for (const auto& [name, value] : given) {
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&name = name](const auto& k) { return k.name == name; });
    if (key == keys.end()) {
      throw InvalidArgument(fmt::format("preconditioner {} has no option \"{}\": {}",
                                        preconditioner, name, list_names(keys)));
    }
    if (!key->accepts(value)) {
      throw InvalidArgument(fmt::format("preconditioner {}: {} must be {}, it is {}",
                                        preconditioner, name, key->describe_values(), text(value)));
    }
    values_.find(name)->second = value;
  }
}

Index PreconditionerOptions::integer(std::string_view name) const {
  const Index* integer = std::get_if<Index>(&value(name));
  if (integer == nullptr) {
    throw InvalidArgument(fmt::format("the preconditioner's option {} is set to {}, not an integer",
                                      name, text(value(name))));
  }
  return *integer;
}

Index PreconditionerOptions::integer(std::string_view name, Index for_word) const {
  const Index* integer = std::get_if<Index>(&value(name));
  return integer != nullptr ? *integer : for_word;
}

bool PreconditionerOptions::is(std::string_view name, std::string_view word) const {
  const std::string* set = std::get_if<std::string>(&value(name));
  return set != nullptr && *set == word;
}

const OptionValue& PreconditionerOptions::value(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw InvalidArgument(fmt::format("the preconditioner has no option {}", name));
  }
  return found->second;
}

}  // namespace heddle
