#include <fmt/format.h>

#include <heddle/apps/config/config.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <utility>

namespace heddle::apps {
namespace {

/// The value at `key` of `map`; an empty one is added if there is none. What is not a map becomes
/// an empty one first: the override replaces it.
ConfigNode& at(ConfigNode& map, std::string_view key, const Origin& origin) {
  if (!map.is_map()) {
    map = ConfigNode{};
    map.kind = ConfigNode::Kind::map;
    map.origin = origin;
  }
  if (ConfigNode* value = map.find(key)) return *value;
  map.entries.push_back({std::string(key), origin, ConfigNode{}});
  return map.entries.back().value;
}

}  // namespace

void apply_override(ConfigNode& tree, std::string_view assignment) {
  const auto source = std::make_shared<const ConfigSource>(
      ConfigSource{fmt::format("--set {}", assignment), {}, false});
  const Origin origin{source};
  const std::size_t equals = assignment.find('=');
  std::string_view key = assignment.substr(0, equals);
  if (equals == std::string_view::npos || key.empty()) {
    throw ConfigError(origin, "expected KEY=VALUE, e.g. --set solver.nev=20");
  }
  const std::string_view text = assignment.substr(equals + 1);
  ConfigNode value;
  value.origin = origin;
  if (!text.empty()) value = parse_yaml(text, source);

  ConfigNode* target = &tree;
  while (!key.empty()) {
    const std::size_t dot = key.find('.');
    target = &at(*target, key.substr(0, dot), origin);
    key = dot == std::string_view::npos ? std::string_view() : key.substr(dot + 1);
  }
  *target = std::move(value);
}

Config load_config(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                   SolverType solver) {
  ConfigNode tree = read_yaml_file(path);
  for (const std::string& assignment : overrides) apply_override(tree, assignment);
  return resolve_config(tree, solver, path.stem().string());
}

}  // namespace heddle::apps
