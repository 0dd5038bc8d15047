#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <heddle/apps/config/node.hpp>
#include <utility>

namespace heddle::apps {
namespace {

std::string on_one_line(std::string text) {
  const auto is_control = [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return text;
}

}  // namespace

ConfigError::ConfigError(const Origin& origin, const std::string& message)
    : InvalidArgument(on_one_line(origin.describe() + ": " + message)) {}

std::string Origin::describe() const {
  if (!source) return "configuration";
  if (line == 0 || !source->has_lines) return source->name;
  return fmt::format("{}:{}:{}", source->name, line, column);
}

const ConfigNode* ConfigNode::find(std::string_view key) const noexcept {
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [key](const ConfigEntry& e) { return e.key == key; });
  return entry == entries.end() ? nullptr : &entry->value;
}

ConfigNode* ConfigNode::find(std::string_view key) noexcept {
  return const_cast<ConfigNode*>(std::as_const(*this).find(key));
}

}  // namespace heddle::apps
