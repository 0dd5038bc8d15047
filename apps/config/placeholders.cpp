#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <heddle/apps/config/placeholders.hpp>
#include <heddle/linalg/base/error.hpp>

namespace heddle::apps {

std::string expand(std::string_view text, const Placeholders& values) {
  const auto refuse = [&](std::string_view found) {
    std::vector<std::string> known;
    for (const auto& [name, value] : values) known.push_back(fmt::format("{{{}}}", name));
    throw InvalidArgument(
        fmt::format("'{}' stands for nothing here, known are {}", found, fmt::join(known, ", ")));
  };
  std::string result;
  while (!text.empty()) {
    const std::size_t brace = text.find_first_of("{}");
    result += text.substr(0, brace);
    if (brace == std::string_view::npos) break;
    text.remove_prefix(brace);
    const std::size_t end = text.find('}');
    if (text.front() == '}' || end == std::string_view::npos) refuse(text.substr(0, 1));
    const std::string_view name = text.substr(1, end - 1);
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (found == values.end()) refuse(text.substr(0, end + 1));
    result += found->second;
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string date_for_paths() {
  static const std::string date = [] {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H-%M-%SZ", &parts);
    return std::string(text.data());
  }();
  return date;
}

}  // namespace heddle::apps
