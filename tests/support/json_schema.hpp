#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace heddle::test {

/// Checks JSON values against a JSON Schema, as far as heddle's schema uses the language: type,
/// enum, const, anyOf, if/then/else, $ref to a definition, properties, required,
/// additionalProperties, minProperties, maxProperties, items, minItems, maxItems, minLength and
/// bounds of numbers. Source: JSON Schema draft 7, validation vocabulary.
class JsonSchema {
 public:
  using Json = nlohmann::json;

  explicit JsonSchema(Json schema) : root_(std::move(schema)) {}

  bool accepts(const Json& value) const { return accepts(root_, value); }

 private:
  static bool has_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "null") return value.is_null();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    throw std::logic_error("type " + type);
  }

  bool accepts(const Json& schema, const Json& value) const {
    for (const auto& [word, operand] : schema.items()) {
      if (!meets(schema, word, operand, value)) return false;
    }
    return true;
  }

  bool meets(const Json& schema, const std::string& word, const Json& operand,
             const Json& value) const {
    const auto size = static_cast<Json::size_type>(
        value.is_string() ? value.get<std::string>().size() : value.size());
    const auto all = [&](const auto& test) {
      return std::all_of(operand.begin(), operand.end(), test);
    };
    const auto any = [&](const auto& test) {
      return std::any_of(operand.begin(), operand.end(), test);
    };
    if (word == "type" && operand.is_array()) {
      return any([&](const Json& one) { return has_type(value, one); });
    }
    if (word == "type") return has_type(value, operand);
    if (word == "enum") return any([&](const Json& one) { return one == value; });
    if (word == "const") return value == operand;
    if (word == "anyOf") return any([&](const Json& one) { return accepts(one, value); });
    if (word == "$ref")
      return accepts(root_.at(Json::json_pointer(operand.get<std::string>().substr(1))), value);
    if (word == "if") return accepts(schema.at(accepts(operand, value) ? "then" : "else"), value);
    if (word == "required") {
      return !value.is_object() ||
             all([&](const Json& name) { return value.contains(name.get<std::string>()); });
    }
    if (word == "properties") return properties_fit(operand, value);
    if (word == "additionalProperties")
      return !value.is_object() || names_are_in(value, schema.at("properties"));
    if (word == "minProperties") return !value.is_object() || size >= operand;
    if (word == "maxProperties") return !value.is_object() || size <= operand;
    if (word == "minItems") return !value.is_array() || size >= operand;
    if (word == "maxItems") return !value.is_array() || size <= operand;
    if (word == "minLength") return !value.is_string() || size >= operand;
    if (word == "items") {
      return !value.is_array() || std::all_of(value.begin(), value.end(), [&](const Json& item) {
        return accepts(operand, item);
      });
    }
    if (word == "minimum") return !value.is_number() || value >= operand;
    if (word == "maximum") return !value.is_number() || value <= operand;
    if (word == "exclusiveMinimum") return !value.is_number() || value > operand;
    if (word == "exclusiveMaximum") return !value.is_number() || value < operand;
    static const std::vector<std::string> kNotes = {
        "$schema", "title", "description", "default", "definitions", "then", "else"};
    if (std::find(kNotes.begin(), kNotes.end(), word) == kNotes.end()) throw std::logic_error(word);
    return true;
  }

  bool properties_fit(const Json& properties, const Json& value) const {
    if (!value.is_object()) return true;
    for (const auto& [name, entry] : value.items()) {
      if (properties.contains(name) && !accepts(properties.at(name), entry)) return false;
    }
    return true;
  }

  static bool names_are_in(const Json& value, const Json& properties) {
    const auto& items = value.items();
    return std::all_of(items.begin(), items.end(),
                       [&](const auto& item) { return properties.contains(item.key()); });
  }

  Json root_;
};

}  // namespace heddle::test
