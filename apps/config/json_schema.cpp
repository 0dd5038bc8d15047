#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/config/json.hpp>
#include <heddle/apps/config/json_schema.hpp>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <nlohmann/json.hpp>

namespace heddle::apps {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<const KeySpec*>;

Json json_of(std::string_view yaml) {
  return to_json(parse_yaml(yaml, std::make_shared<const ConfigSource>()));
}

template <class Number>
Json range_schema(const char* type, const Range<Number>& range) {
  Json schema = {{"type", type}};
  if (range.low != std::numeric_limits<Number>::lowest()) {
    schema[range.open ? "exclusiveMinimum" : "minimum"] = range.low;
  }
  if (range.high != std::numeric_limits<Number>::max()) {
    schema[range.open ? "exclusiveMaximum" : "maximum"] = range.high;
  }
  return schema;
}

/// The keys of one solver, or of all solvers for `automatic`.
class SolverKeys {
 public:
  explicit SolverKeys(SolverType solver) : solver_(solver) {}

  Json section(std::string_view path) const {
    Json properties = Json::object();
    Json required = Json::array();
    for (const KeySpec& spec : config_schema()) {
      const std::string name(spec.name());
      if (spec.section() != path || !is_included(spec) || properties.contains(name)) continue;
      properties[name] = key(spec.path);
      // A section that is there by default is needed if a key in it is.
      const bool holds_needed = spec.fallback == "{}" && properties[name].contains("required");
      if (holds_needed || (spec.required && spec.applies_to(solver_))) required.push_back(name);
    }
    Json schema = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
    if (!required.empty()) schema["required"] = required;
    return schema;
  }

 private:
  bool is_included(const KeySpec& spec) const {
    return solver_ == SolverType::automatic || spec.applies_to(solver_);
  }

  Json key(const std::string& path) const {
    Json alternatives = Json::array();
    std::string description;
    std::string_view fallback;
    for (const KeySpec& spec : config_schema()) {
      if (spec.path != path || !is_included(spec)) continue;
      for (Json& alternative : forms(spec)) {
        const bool is_new =
            std::find(alternatives.begin(), alternatives.end(), alternative) == alternatives.end();
        if (is_new) alternatives.push_back(std::move(alternative));
      }
      if (description.empty()) fallback = spec.fallback;
      description += (description.empty() ? "" : " | ") + spec.doc;
    }
    Json schema = alternatives.size() == 1 ? alternatives.front() : Json{{"anyOf", alternatives}};
    schema["description"] = description;
    const bool is_value = !fallback.empty() && fallback.find('{') == std::string_view::npos;
    if (is_value) schema["default"] = json_of(fallback);
    return schema;
  }

  std::vector<Json> forms(const KeySpec& spec) const {
    const ValueForms& accepted = spec.forms;
    std::vector<Json> schemas;
    if (!accepted.words.empty()) {
      Json words = Json::array();
      for (const std::string_view word : accepted.words) words.push_back(json_of(word));
      schemas.push_back({{"enum", words}});
    }
    if (accepted.integer) schemas.push_back(range_schema("integer", *accepted.integer));
    if (accepted.real) schemas.push_back(range_schema("number", *accepted.real));
    if (accepted.integers) {
      schemas.push_back({{"type", "array"},
                         {"items", range_schema("integer", *accepted.integers)},
                         {"minItems", 1}});
    }
    if (accepted.interval) {
      schemas.push_back(
          {{"type", "array"},
           {"items", {{"anyOf", {{{"type", "number"}}, {{"enum", {"inf", "-inf"}}}}}}},
           {"minItems", 2},
           {"maxItems", 2}});
    }
    if (accepted.file || accepted.new_file || accepted.folder) {
      schemas.push_back({{"type", "string"}, {"minLength", 1}});
    }
    if (accepted.section) {
      schemas.push_back(section(spec.path));
      // A section without keys means its defaults.
      const bool may_be_empty = !spec.fallback.empty() && !schemas.back().contains("required");
      if (may_be_empty) schemas.back()["type"] = {"object", "null"};
      if (accepted.one_key) schemas.back().update({{"minProperties", 1}, {"maxProperties", 1}});
    }
    return schemas;
  }

  SolverType solver_;
};

Json reference(SolverType solver) {
  return {{"$ref", fmt::format("#/definitions/{}", method_name(solver))}};
}

/// A schema that is met by files that name `solver` as their type.
Json names(SolverType solver) {
  const Json type = {{"type", "object"},
                     {"properties", {{"type", {{"const", method_name(solver)}}}}},
                     {"required", {"type"}}};
  return {{"properties", {{"solver", type}}}, {"required", {"solver"}}};
}

}  // namespace

std::string config_json_schema() {
  Json definitions = Json::object();
  Json by_type = reference(SolverType::automatic);
  for (const SolverType solver : kSolverTypes) {
    definitions[std::string(method_name(solver))] = SolverKeys(solver).section("");
    if (solver == SolverType::automatic) continue;
    by_type = {{"if", names(solver)}, {"then", reference(solver)}, {"else", by_type}};
  }
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "heddle configuration"},
                 {"type", "object"}};
  schema.update(by_type);
  schema["definitions"] = definitions;
  return schema.dump(1) + "\n";
}

}  // namespace heddle::apps
