#pragma once

#include <filesystem>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/preconditioners/options.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// Saves to an archive, or loads from it, values of the kinds that requests consist of.
namespace heddle::detail {

template <class Value>
requires std::is_trivially_copyable_v<Value>
void pass(Archive& archive, Value& value) { archive.values(value); }

/// A trivially copyable optional value.
template <class Value>
void pass(Archive& archive, std::optional<Value>& value) {
  bool there = value.has_value();
  Value content = value.value_or(Value{});
  archive.values(there, content);
  value = there ? std::optional<Value>(content) : std::nullopt;
}

inline void pass(Archive& archive, std::string& text) { archive.text(text); }

inline void pass(Archive& archive, std::filesystem::path& path) {
  std::string text = path.string();
  archive.text(text);
  path = text;
}

inline void pass(Archive& archive, std::vector<std::string>& texts) {
  std::size_t count = texts.size();
  archive.values(count);
  texts.resize(count);
  for (std::string& text : texts) archive.text(text);
}

inline void pass(Archive& archive, OptionValue& value) {
  bool is_word = std::holds_alternative<std::string>(value);
  archive.values(is_word);
  std::string word = is_word && !archive.loading() ? std::get<std::string>(value) : "";
  Index number = is_word || archive.loading() ? 0 : std::get<Index>(value);
  archive.text(word);
  archive.values(number);
  value = is_word ? OptionValue(std::move(word)) : OptionValue(number);
}

inline void pass(Archive& archive, OptionValues& options) {
  std::vector<std::pair<std::string, OptionValue>> list(options.begin(), options.end());
  std::size_t count = list.size();
  archive.values(count);
  list.resize(count);
  options.clear();
  for (auto& [name, value] : list) {
    archive.text(name);
    pass(archive, value);
    options.emplace(name, value);
  }
}

}  // namespace heddle::detail
