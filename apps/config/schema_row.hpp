#pragma once

#include <functional>
#include <heddle/apps/config/schema.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::apps {

/// The words that a key accepts, with their values.
template <class Value>
using Words = std::vector<std::pair<std::string_view, Value>>;

/// Builds one row of the schema. Each member function adds the property of its name and returns the
/// row.
class SchemaRow {
 public:
  SchemaRow(std::vector<KeySpec>& rows, std::string path, std::string doc)
      : spec_(&rows.emplace_back()) {
    spec_->path = std::move(path);
    spec_->doc = std::move(doc);
  }

  SchemaRow& section() { return spec_->forms.section = true, *this; }
  SchemaRow& one_key() { return spec_->forms.one_key = true, *this; }
  SchemaRow& file() { return spec_->forms.file = true, *this; }
  SchemaRow& new_file() { return spec_->forms.new_file = true, *this; }
  SchemaRow& folder() { return spec_->forms.folder = true, *this; }
  SchemaRow& word(std::string_view word) { return spec_->forms.words.push_back(word), *this; }
  SchemaRow& integer(Range<Index> range) { return spec_->forms.integer = range, *this; }
  SchemaRow& real(Range<double> range) { return spec_->forms.real = range, *this; }
  SchemaRow& integers(Range<Index> range) { return spec_->forms.integers = range, *this; }
  SchemaRow& interval() { return spec_->forms.interval = true, *this; }
  SchemaRow& required() { return spec_->required = true, *this; }
  SchemaRow& fallback(std::string yaml) { return spec_->fallback = std::move(yaml), *this; }
  SchemaRow& only_for(std::vector<SolverType> solvers) {
    return spec_->only_for = std::move(solvers), *this;
  }
  SchemaRow& aliases(std::vector<std::string_view> names) {
    return spec_->aliases = std::move(names), *this;
  }
  SchemaRow& option(std::string_view names, std::string_view also_sets = "") {
    spec_->option = names;
    spec_->option_sets = also_sets;
    return *this;
  }
  SchemaRow& tuning() { return spec_->tuning = true, *this; }
  SchemaRow& store(std::function<void(const ConfigNode&, Config&)> store) {
    return spec_->store = std::move(store), *this;
  }

  /// The key accepts one of `words`. The value of the word is stored in `field`.
  template <class Value>
  SchemaRow& choice(Words<Value> words, Value& (*field)(Config&)) {
    for (const auto& [name, value] : words) word(name);
    return store([words = std::move(words), field](const ConfigNode& node, Config& config) {
      for (const auto& [name, value] : words) {
        if (name == node.text) field(config) = value;
      }
    });
  }

 private:
  KeySpec* spec_;  // valid until the next row is begun
};

}  // namespace heddle::apps
