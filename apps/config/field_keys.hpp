#pragma once

#include <algorithm>
#include <heddle/apps/config/schema.hpp>
#include <heddle/drivers/problem/request_fields.hpp>
#include <string>
#include <utility>
#include <vector>

/// The keys of a configuration that set fields of a struct, from the table of these.
namespace heddle::apps {

/// The value of a key as a field with these forms takes it.
GivenValue given_value(const ConfigNode& node, const detail::FieldForms& forms);

/// The key of one variant of a field, or of the field itself, for `solvers`. It stores its value in
/// what `owner` returns.
template <class Owner>
KeySpec key_of_field(const detail::Field<Owner>& field, const detail::FieldVariant& variant,
                     std::vector<SolverType> solvers, Owner& (*owner)(Config&)) {
  KeySpec key;
  key.path = field.path;
  key.doc = variant.doc;
  static_cast<detail::FieldForms&>(key.forms) = field.forms;
  key.forms.words.insert(key.forms.words.end(), variant.words.begin(), variant.words.end());
  key.fallback = variant.fallback.empty() ? field.fallback : variant.fallback;
  key.required = field.required;
  key.only_for = std::move(solvers);
  if (key.only_for.size() == kSolverTypes.size()) key.only_for.clear();
  key.aliases = field.aliases;
  key.option = field.option;
  key.option_sets = field.option_sets;
  key.tuning = field.tuning;
  key.store = [&field, owner, words = variant.words](const ConfigNode& node, Config& config) {
    if (std::find(words.begin(), words.end(), node.text) != words.end()) return;
    if (field.set(owner(config), given_value(node, field.forms))) return;
    throw ConfigError(node.origin, field.path + " does not accept " + node.text);
  };
  return key;
}

/// Adds the keys of those fields of `table` that stand in `section`, in their order. The table must
/// outlive them.
template <class Owner>
void add_field_keys(std::vector<KeySpec>& rows, const detail::FieldTable<Owner>& table,
                    std::string_view section, Owner& (*owner)(Config&)) {
  for (const detail::Field<Owner>& field : table) {
    if (field.path.empty()) continue;
    std::vector<detail::FieldVariant> variants = field.variants;
    if (variants.empty()) variants.push_back({.readers = field.readers, .doc = field.doc});
    std::vector<KeySpec> keys;
    bool open = true;
    // Where the method is open, the last variant that it may lead to holds.
    for (auto variant = variants.rbegin(); variant != variants.rend(); ++variant) {
      std::vector<SolverType> solvers = detail::methods_of(variant->readers);
      if (!open) std::erase(solvers, SolverType::automatic);
      open = open && solvers.back() != SolverType::automatic;
      keys.push_back(key_of_field(field, *variant, std::move(solvers), owner));
    }
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      if (key->section() == section) rows.push_back(std::move(*key));
    }
  }
}

}  // namespace heddle::apps
