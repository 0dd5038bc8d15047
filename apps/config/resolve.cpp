#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/config/combinations.hpp>
#include <heddle/apps/config/foreign_words.hpp>
#include <heddle/apps/config/placeholders.hpp>
#include <heddle/apps/config/programs.hpp>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <heddle/apps/input_file.hpp>
#include <heddle/linalg/base/nearest_name.hpp>
#include <utility>

namespace heddle::apps {
namespace {

bool goes_by(const KeySpec& spec, const std::string& simplified_name) {
  const auto same = [&](std::string_view name) { return simplified(name) == simplified_name; };
  return same(spec.name()) || std::any_of(spec.aliases.begin(), spec.aliases.end(), same);
}

std::string in_section(std::string_view section) {
  return section.empty() ? std::string("at the top level") : fmt::format("in {}", section);
}

/// The beginning of a long text, for messages.
std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 60;
  const std::string_view trimmed = text.substr(0, text.find_last_not_of('\n') + 1);
  if (trimmed.size() <= kShown) return std::string(trimmed);
  return std::string(trimmed.substr(0, kShown)) + "...";
}

/// An invalid value as shown in a message.
std::string shown(const ConfigNode& node) {
  switch (node.kind) {
    case ConfigNode::Kind::null:
      return "nothing";
    case ConfigNode::Kind::map:
      return "a map";
    case ConfigNode::Kind::sequence:
      return "the list " + shortened(to_yaml(node));
    case ConfigNode::Kind::scalar:
      break;
  }
  return fmt::format(fmt::runtime(node.quoted ? "the string \"{}\"" : "'{}'"),
                     shortened(node.text));
}

bool has_right_hand_sides(const ConfigNode& tree) {
  const ConfigNode* problem = tree.find("problem");
  return problem != nullptr && problem->find("rhs") != nullptr;
}

class Resolver {
 public:
  /// `solver`: of the program, or the one that was chosen where the user left it open.
  Resolver(SolverType solver, std::string_view name, bool is_open = false)
      : solver_(solver), is_open_(is_open), name_(name) {}

  Config resolve(const ConfigNode& tree) {
    if (!tree.is_map()) {
      throw ConfigError(tree.origin, fmt::format("expected a map of keys ({}), got {}",
                                                 fmt::join(keys_in(""), ", "), shown(tree)));
    }
    decide_solver(tree);
    config_.effective = resolve_section("", tree);
    config_.request.method = solver_;
    config_.given = tree;
    config_.name = name_;
    check_combinations(config_);
    return std::move(config_);
  }

 private:
  /// Runs before all other checks, because a file for another solver has other keys.
  void decide_solver(const ConfigNode& tree) {
    const ConfigNode* section = tree.find("solver");
    const ConfigNode* type = section != nullptr ? section->find("type") : nullptr;
    SolverType asked = solver_;
    for (const SolverType known : kSolverTypes) {
      if (type != nullptr && type->text == method_name(known)) asked = known;
    }
    is_open_ = is_open_ || asked == SolverType::automatic;
    if (solver_ == SolverType::automatic) {
      const bool linear = is_open_ && has_right_hand_sides(tree);
      solver_ = linear ? SolverType::block_cg : asked;
      if (linear) config_.method_reason = "there are right-hand sides";
    } else if (!is_open_ && asked != solver_) {
      throw ConfigError(
          type->origin,
          fmt::format("solver.type is {}, {} solves with {}; run {}, or heddle solve for any type",
                      type->text, program_of(solver_).name, method_name(solver_),
                      program_of(asked).name));
    }
  }

  /// Whether messages offer the key to the user.
  bool is_offered(const KeySpec& spec) const {
    return solver_ == SolverType::automatic || spec.applies_to(solver_);
  }

  std::vector<std::string_view> keys_in(std::string_view section) const {
    std::vector<std::string_view> keys;
    for (const KeySpec& spec : config_schema()) {
      const bool is_new = std::find(keys.begin(), keys.end(), spec.name()) == keys.end();
      if (spec.section() == section && is_offered(spec) && is_new) keys.push_back(spec.name());
    }
    return keys;
  }

  ConfigNode resolve_section(std::string_view section, const ConfigNode& given) {
    for (const ConfigEntry& entry : given.entries) check_key(section, entry);
    ConfigNode effective;
    effective.kind = ConfigNode::Kind::map;
    effective.origin = given.origin;
    for (const KeySpec& spec : config_schema()) {
      if (spec.section() != section || !spec.applies_to(solver_)) continue;
      const ConfigNode* value = given.find(spec.name());
      // A section without keys means its defaults.
      const bool empty = value != nullptr && value->kind == ConfigNode::Kind::null;
      if (empty && spec.forms.section && !spec.fallback.empty()) value = nullptr;
      if (value == nullptr && spec.fallback.empty()) {
        if (spec.required) throw missing(spec, given);
        continue;
      }
      effective.entries.push_back({std::string(spec.name()), given.origin,
                                   resolve_value(spec, value ? *value : fallback(spec, given))});
    }
    return effective;
  }

  ConfigNode resolve_value(const KeySpec& spec, const ConfigNode& value) {
    if (!spec.forms.accepts(value)) throw unusable(spec, value);
    if (spec.forms.folder || spec.forms.new_file) return resolve_output_path(spec, value);
    if (spec.store) spec.store(value, config_);
    if (value.is_map()) {
      ConfigNode section = resolve_section(spec.path, value);
      if (spec.forms.one_key) check_one_key(spec, value);
      return section;
    }
    ConfigNode effective = value;
    if (spec.forms.file && value.is_scalar()) {
      const std::filesystem::path file = resolve_file(value);
      effective.text = (is_path(file) ? std::filesystem::absolute(file) : file).string();
    }
    return effective;
  }

  /// The path with its placeholders replaced. The problem has been resolved before. As long as the
  /// solver is not chosen, {solver} stays in the printed configuration.
  ConfigNode resolve_output_path(const KeySpec& spec, ConfigNode value) {
    const auto expanded = [&](std::string_view solver) {
      return expand(value.text, {{"name", std::string(name_)},
                                 {"solver", std::string(solver)},
                                 {"matrix", config_.problem.matrix.name()},
                                 {"date", date_for_paths()}});
    };
    try {
      const bool buckling = config_.problem.geometric_stiffness.has_value();
      const std::string_view solver = buckling ? "buckling" : method_name(solver_);
      ConfigNode path = value;
      path.text = expanded(solver);
      if (spec.store) spec.store(path, config_);
      const bool open = solver_ == SolverType::automatic && !buckling;
      value.text = expanded(open ? "{solver}" : solver);
    } catch (const InvalidArgument& error) {
      throw ConfigError(value.origin, fmt::format("{}: {}", spec.path, error.what()));
    }
    return value;
  }

  ConfigNode fallback(const KeySpec& spec, const ConfigNode& section) const {
    const SolverType type = is_open_ ? SolverType::automatic : solver_;
    const std::string_view yaml =
        spec.fallback == kSolverPlaceholder ? method_name(type) : spec.fallback;
    ConfigNode value = parse_yaml(yaml, section.origin.source);
    value.origin = section.origin;
    return value;
  }

  /// Throws if the solver does not have the key. Where the solver was left open, a tuning key of
  /// another one is only recorded.
  void check_key(std::string_view section, const ConfigEntry& entry) {
    std::string path;
    std::vector<std::string_view> owners;
    bool tuning = false;
    for (const KeySpec& spec : config_schema()) {
      if (spec.section() != section || spec.name() != entry.key) continue;
      if (spec.applies_to(solver_)) return;
      path = spec.path;
      tuning = spec.tuning;
      for (const SolverType owner : spec.only_for) {
        if (owner != SolverType::automatic) owners.push_back(method_name(owner));
      }
    }
    if (owners.empty()) throw unknown(section, entry);
    if (tuning && is_open_) {
      config_.unused.push_back(path);
      return;
    }
    throw ConfigError(entry.origin, fmt::format("{} belongs to {}, this file is for {}", path,
                                                fmt::join(owners, " and "), method_name(solver_)));
  }

  void check_one_key(const KeySpec& spec, const ConfigNode& value) const {
    const std::size_t given = value.entries.size();
    if (given == 1) return;
    throw ConfigError(value.origin,
                      fmt::format("{}: expected one key from {{{}}}, got {}", spec.path,
                                  fmt::join(keys_in(spec.path), ", "), given));
  }

  ConfigError unknown(std::string_view section, const ConfigEntry& entry) const {
    const std::string near = suggestion(section, entry.key);
    return {entry.origin, fmt::format("unknown key '{}' {}{}; valid keys: {}", shortened(entry.key),
                                      in_section(section),
                                      near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                      fmt::join(keys_in(section), ", "))};
  }

  /// A suggestion for an unknown key, for messages. In this order: a key of this section that has
  /// this name in another package, a key of this name in another section, the most similar key of
  /// this section, a key of another section that has this name in another package. Empty if there
  /// is none.
  std::string suggestion(std::string_view section, std::string_view key) const {
    const std::string plain = simplified(key);
    const KeySpec* same_name = nullptr;
    const KeySpec* same_alias = nullptr;
    for (const KeySpec& spec : config_schema()) {
      if (!is_offered(spec) || !goes_by(spec, plain)) continue;
      if (spec.section() == section) return fmt::format("'{}'", spec.name());
      const KeySpec*& found = spec.name() == key ? same_name : same_alias;
      if (found == nullptr || spec.path.size() < found->path.size()) found = &spec;
    }
    const std::string_view near = nearest_name(key, keys_in(section));
    if (same_name == nullptr && !near.empty()) return fmt::format("'{}'", near);
    const KeySpec* elsewhere = same_name != nullptr ? same_name : same_alias;
    if (elsewhere == nullptr) return "";
    return fmt::format("'{}'{}", elsewhere->path,
                       elsewhere->section().empty() ? " at the top level" : "");
  }

  ConfigError missing(const KeySpec& spec, const ConfigNode& section) const {
    return {section.origin, fmt::format("{} is missing: {}", spec.path, spec.doc)};
  }

  ConfigError unusable(const KeySpec& spec, const ConfigNode& value) const {
    if (value.kind == ConfigNode::Kind::null) {
      return {value.origin, fmt::format("{} has no value, expected {}", spec.path, expected(spec))};
    }
    const std::string meant = value.is_scalar() ? meant_value(spec, value.text) : "";
    return {value.origin,
            fmt::format("{}: expected {}, got {}{}", spec.path, expected(spec), shown(value),
                        meant.empty() ? "" : fmt::format(" (did you mean {}?)", meant))};
  }

  /// The word that was probably meant by an invalid one, for messages. Empty if nothing is near it.
  /// For a section, its key `type` with the word as its value.
  std::string meant_value(const KeySpec& spec, const std::string& text) const {
    for (const KeySpec& inner : config_schema()) {
      if (!spec.forms.section || inner.path != spec.path + ".type") continue;
      const auto& words = inner.forms.words;
      const bool known = std::find(words.begin(), words.end(), text) != words.end();
      const std::string word = known ? fmt::format("'{}'", text) : meant_value(inner, text);
      return word.empty() ? "" : fmt::format("'type' with the value {}", word);
    }
    const std::string_view foreign = meaning_of_foreign_word(spec.path, text);
    if (!foreign.empty()) return std::string(foreign);
    for (const std::string_view word : spec.forms.words) {
      if (simplified(word) == simplified(text)) return fmt::format("'{}'", word);
    }
    const std::string_view near = nearest_name(text, spec.forms.words);
    return near.empty() ? "" : fmt::format("'{}'", near);
  }

  /// For a section, the list of its keys, which is more helpful than "a map".
  std::string expected(const KeySpec& spec) const {
    std::string forms = spec.forms.describe();
    if (spec.forms.section) {
      forms += fmt::format(" with keys from {{{}}}", fmt::join(keys_in(spec.path), ", "));
    }
    return forms;
  }

  SolverType solver_;
  bool is_open_;  // whether the user leaves the choice of the solver to the program
  std::string_view name_;
  Config config_;
};

}  // namespace

Config resolve_config(const ConfigNode& tree, SolverType solver, std::string_view name) {
  return Resolver(solver, name).resolve(tree);
}

Config settle_method(const Config& config, SolverType method, std::string reason) {
  Config settled = Resolver(method, config.name, true).resolve(config.given);
  settled.method_reason = std::move(reason);
  return settled;
}

Origin origin_of(const Config& config, std::string_view path) {
  const ConfigNode* node = &config.effective;
  Origin origin = node->origin;
  while (node != nullptr && !path.empty()) {
    const std::size_t dot = path.find('.');
    node = node->find(path.substr(0, dot));
    if (node != nullptr) origin = node->origin;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return origin;
}

}  // namespace heddle::apps
