#include <fmt/format.h>

#include <array>
#include <fstream>
#include <heddle/apps/config/json.hpp>
#include <heddle/apps/report/replaced.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

namespace heddle::apps {
namespace {

using Json = nlohmann::ordered_json;

/// The keys that say what is asked of a problem. Others say how it is solved.
constexpr std::array kQuestion = {"nev", "which", "interval", "sigma", "side"};

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const bool generated = value.is_object() && value.contains("generate") && value.contains("size");
  return generated ? text_of(value.at("generate")) + " " + value.at("size").dump() : value.dump();
}

/// Problem and question of a configuration, by key.
std::map<std::string, std::string> asked_by(const Json& configuration) {
  std::map<std::string, std::string> asked;
  const Json empty = Json::object();
  const auto section = [&](const char* name) -> const Json& {
    const auto found = configuration.find(name);
    return found != configuration.end() && found->is_object() ? *found : empty;
  };
  for (const auto& [key, value] : section("problem").items()) {
    asked["problem." + key] = text_of(value);
  }
  const Json& solver = section("solver");
  for (const char* key : kQuestion) {
    if (solver.contains(key)) asked[std::string("solver.") + key] = text_of(solver.at(key));
  }
  return asked;
}

/// The earlier result.json. Null if there is none, or one of a run that failed.
Json earlier_result(const std::filesystem::path& directory) {
  for (const char* name : {"previous/result.json", "result.json"}) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(directory / name, unknown)) continue;
    std::ifstream file(directory / name);
    if (!file) continue;
    Json result = Json::parse(file, nullptr, false);
    const bool complete = result.is_object() && result.value("status", Json()) != "error" &&
                          result.value("configuration", Json()).is_object();
    if (complete) return result;
  }
  return nullptr;
}

std::string checksum(const InputSum& input) { return fmt::format("{:08x}", input.crc32); }

}  // namespace

std::string describe_replaced(const std::filesystem::path& directory, const Config& config,
                              const std::vector<InputSum>& inputs) {
  const Json earlier = earlier_result(directory);
  if (earlier.is_null()) return "";
  std::vector<std::string> others;
  const auto before = asked_by(earlier.at("configuration"));
  const auto now = asked_by(to_json(config.effective));
  for (const auto& [key, value] : before) {
    const auto found = now.find(key);
    if (found == now.end() || found->second != value) {
      others.push_back(fmt::format("{}: {}", key, value));
    }
  }
  for (const auto& [key, value] : now) {
    if (!before.contains(key)) others.push_back(fmt::format("no {}", key));
  }
  const Json files = earlier.value("inputs", Json::array());
  for (const InputSum& input : inputs) {
    for (const Json& file : files) {
      const bool same_name = file.is_object() && file.value("file", "") == input.path.string() &&
                             file.value("key", "") == input.key;
      if (same_name && file.value("crc32", "") != checksum(input)) {
        others.push_back(fmt::format("other contents of {}", input.path.string()));
      }
    }
  }
  return fmt::format("{}", fmt::join(others, ", "));
}

}  // namespace heddle::apps
