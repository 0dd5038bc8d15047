#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/config/config.hpp>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <utility>

namespace heddle::apps {
namespace {

/// Whether the key at `path` accepts `value`.
bool is_usable(const ConfigNode& value, std::string_view path) {
  const std::vector<KeySpec>& schema = config_schema();
  return std::any_of(schema.begin(), schema.end(), [&](const KeySpec& spec) {
    return spec.path == path && spec.forms.accepts(value);
  });
}

/// Replaces the value at `path` by a map in which an override from `origin` sets a key. A valid
/// value is replaced, such as the name of a file by the description of a generated matrix. An
/// invalid value stays, so that its error is reported.
void make_map(ConfigNode& value, std::string_view path, const Origin& origin) {
  if (value.is_map()) return;
  if (value.kind != ConfigNode::Kind::null && !is_usable(value, path)) {
    throw ConfigError(value.origin,
                      fmt::format("{}{}expected a map of keys, in which {} can set one", path,
                                  path.empty() ? "" : ": ", origin.describe()));
  }
  value = ConfigNode{};
  value.kind = ConfigNode::Kind::map;
  value.origin = origin;
}

/// In a section that accepts just one key, removes the existing key so that an override from
/// `origin` can set another. A key with an invalid value stays, so that its error is reported.
void make_room(ConfigNode& map, std::string_view path, std::string_view key, const Origin& origin) {
  const std::vector<KeySpec>& schema = config_schema();
  const bool one_key = std::any_of(schema.begin(), schema.end(), [path](const KeySpec& spec) {
    return spec.path == path && spec.forms.one_key;
  });
  if (!one_key || map.entries.size() != 1 || map.entries.front().key == key) return;
  const ConfigEntry& entry = map.entries.front();
  if (!is_usable(entry.value, fmt::format("{}.{}", path, entry.key))) return;
  map.entries.clear();
  map.origin = origin;
}

/// The value at `key` of `map`. An empty value is added if there is none.
ConfigNode& at(ConfigNode& map, std::string_view key, const Origin& origin) {
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
  const std::string_view path = assignment.substr(0, equals);
  if (equals == std::string_view::npos || path.empty()) {
    throw ConfigError(origin, "expected KEY=VALUE, e.g. --set solver.nev=20");
  }
  const std::string_view text = assignment.substr(equals + 1);
  ConfigNode value;
  value.origin = origin;
  if (!text.empty()) value = parse_yaml(text, source);

  ConfigNode* target = &tree;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view section = path.substr(0, begin == 0 ? 0 : begin - 1);
    const std::string_view key = path.substr(begin, end - begin);
    make_map(*target, section, origin);
    make_room(*target, section, key, origin);
    target = &at(*target, key, origin);
    begin = end + 1;
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
