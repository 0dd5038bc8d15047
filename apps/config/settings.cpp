#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <heddle/apps/config/settings.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <optional>
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

/// Sets the value at a dotted path. Errors on the way name the origin of the value.
void set_value(ConfigNode& tree, std::string_view path, ConfigNode value) {
  const Origin origin = value.origin;
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

const KeySpec* child(const KeySpec& section, std::string_view name) {
  for (const KeySpec& spec : config_schema()) {
    if (spec.section() == section.path && spec.name() == name) return &spec;
  }
  return nullptr;
}

/// Whether the key takes a matrix, which may be generated.
bool takes_matrix(const KeySpec& key) { return child(key, "generate") != nullptr; }

std::string list_of(const ValueForms& forms) {
  if (forms.integers) return "N,N...";
  return forms.integer ? "N" : "X";
}

/// The value of a key in help. `rows`: all rows of the key that the option sets.
std::string argument_of(const std::vector<const KeySpec*>& rows) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string part) {
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) {
      parts.push_back(std::move(part));
    }
  };
  for (const KeySpec* row : rows) {
    const ValueForms& forms = row->forms;
    if (forms.interval) return "A B";
    for (const std::string_view word : forms.words) add(std::string(word));
    if (forms.integer) add("N");
    if (forms.real) add("X");
    if (forms.file || forms.new_file) add("FILE");
    if (forms.folder) add("FOLDER");
    if (takes_matrix(*row)) add("NAME:SIZES");
    if (!forms.one_key) continue;
    for (const KeySpec& spec : config_schema()) {
      if (spec.section() == row->path) add(fmt::format("{}:{}", spec.name(), list_of(spec.forms)));
    }
  }
  return fmt::format("{}", fmt::join(parts, "|"));
}

/// Builds values whose origin is an option of the command line.
class ValueBuilder {
 public:
  explicit ValueBuilder(Origin origin) : origin_(std::move(origin)) {}

  ConfigNode scalar(std::string_view text) const {
    ConfigNode node = make(ConfigNode::Kind::scalar);
    node.text = text;
    return node;
  }

  ConfigNode list(const std::vector<std::string>& words) const {
    ConfigNode node = make(ConfigNode::Kind::sequence);
    for (const std::string& word : words) node.items.push_back(scalar(word));
    return node;
  }

  ConfigNode generated(const GallerySpec& spec) const {
    ConfigNode node = make(ConfigNode::Kind::map);
    add(node, "generate", scalar(spec.name));
    std::vector<std::string> sizes;
    for (const Index size : spec.size) sizes.push_back(std::to_string(size));
    if (!sizes.empty()) add(node, "size", list(sizes));
    if (spec.density != 0) add(node, "density", scalar(fmt::format("{}", spec.density)));
    return node;
  }

  /// The value of a section that accepts one key, given as KEY:VALUE. None if it has another form.
  std::optional<ConfigNode> one_key(const KeySpec& section, const std::string& word) const {
    std::error_code no_such_file;
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos || std::filesystem::exists(word, no_such_file)) return {};
    const KeySpec* key = child(section, word.substr(0, colon));
    if (key == nullptr) return {};
    const std::string text = word.substr(colon + 1);
    ConfigNode node = make(ConfigNode::Kind::map);
    add(node, key->name(), key->forms.integers ? list(split(text)) : scalar(text));
    return node;
  }

  ConfigNode value(const KeySpec& key, const std::vector<std::string>& words) const {
    if (key.forms.interval) return list(words);
    const std::string& word = words.front();
    if (takes_matrix(key) && detail::names_generator(word)) {
      return generated(detail::parse_generator(word));
    }
    std::optional<ConfigNode> section;
    if (key.forms.one_key) section = one_key(key, word);
    return section ? *section : scalar(word);
  }

 private:
  ConfigNode make(ConfigNode::Kind kind) const {
    ConfigNode node;
    node.kind = kind;
    node.origin = origin_;
    return node;
  }

  void add(ConfigNode& map, std::string_view key, ConfigNode value) const {
    map.entries.push_back({std::string(key), origin_, std::move(value)});
  }

  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      parts.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return parts;
  }

  Origin origin_;
};

/// The setting as messages name it: the last name of the option and the words.
std::string describe(const Setting& setting) {
  if (!setting.given.empty()) return setting.given;
  const std::string_view names = setting.key->option;
  return fmt::format("{}{}{}", names.substr(names.rfind(',') + 1), names.empty() ? "" : " ",
                     fmt::join(setting.words, " "));
}

Origin origin_of(const Setting& setting) {
  return {std::make_shared<const ConfigSource>(ConfigSource{describe(setting), {}, false})};
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

  set_value(tree, path, std::move(value));
}

std::vector<KeyOption> key_options(SolverType solver) {
  std::vector<KeyOption> options;
  for (const KeySpec& spec : config_schema()) {
    if (spec.option.empty()) continue;
    if (solver != SolverType::automatic && !spec.applies_to(solver)) continue;
    const auto same = std::find_if(options.begin(), options.end(), [&spec](const KeyOption& one) {
      return one.key->path == spec.path;
    });
    if (same != options.end()) continue;
    std::vector<const KeySpec*> rows;
    for (const KeySpec& other : config_schema()) {
      const bool applies = solver == SolverType::automatic || other.applies_to(solver);
      if (other.path == spec.path && applies) rows.push_back(&other);
    }
    options.push_back({&spec, argument_of(rows), spec.forms.interval ? 2 : 1});
  }
  return options;
}

std::vector<FrequencyOption> frequency_options(SolverType solver) {
  std::vector<FrequencyOption> options;
  for (const KeyOption& known : key_options(solver)) {
    if (known.key->path == "solver.interval") {
      options.push_back({"--range-hz", known.key, "F1 F2", 2,
                         "solver.interval in cycles per unit of time: all pairs with F1 <= "
                         "sqrt(lambda)/(2 pi) <= F2"});
    } else if (known.key->path == "solver.sigma") {
      options.push_back({"--sigma-hz", known.key, "F", 1,
                         "solver.sigma in cycles per unit of time: the pairs nearest to "
                         "lambda = (2 pi F)^2"});
    }
  }
  return options;
}

Setting setting_of(const FrequencyOption& option, const std::vector<std::string>& words) {
  constexpr double kTwoPi = 6.283185307179586;
  Setting setting{option.key, {}, fmt::format("{} {}", option.name, fmt::join(words, " "))};
  for (const std::string& word : words) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::scalar;
    node.text = word;
    const std::optional<double> f = as_end(node);
    if (!f) throw InvalidArgument(fmt::format("{}: '{}' is no frequency", setting.given, word));
    setting.words.push_back(fmt::format("{}", std::copysign(kTwoPi * kTwoPi * *f * *f, *f)));
  }
  return setting;
}

void apply_setting(ConfigNode& tree, const Setting& setting) {
  const KeySpec& key = *setting.key;
  set_value(tree, key.path, ValueBuilder(origin_of(setting)).value(key, setting.words));
}

void apply_settings(ConfigNode& tree, const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    const std::string_view also = setting.key->option_sets;
    if (also.empty()) continue;
    const std::size_t equals = also.find('=');
    set_value(tree, also.substr(0, equals),
              ValueBuilder(origin_of(setting)).scalar(also.substr(equals + 1)));
  }
  for (const Setting& setting : settings) apply_setting(tree, setting);
}

}  // namespace heddle::apps
