#include <algorithm>
#include <heddle/apps/config/field_keys.hpp>
#include <heddle/apps/config/schema_row.hpp>
#include <heddle/apps/config/solver_schema.hpp>
#include <heddle/solvers/preconditioners/table.hpp>

namespace heddle::apps {
namespace {

Request& request_of(Config& config) { return config.request; }

/// The value of an option as YAML.
std::string to_text(const OptionValue& value) {
  const Index* integer = std::get_if<Index>(&value);
  return integer != nullptr ? std::to_string(*integer) : std::get<std::string>(value);
}

/// If several preconditioners share a key, the description of the first one is used.
void add_option(std::vector<KeySpec>& rows, const PreconditionerKey& key) {
  const std::string path = "solver.preconditioner." + key.name;
  for (const KeySpec& row : rows) {
    if (row.path == path) return;
  }
  SchemaRow row(rows, path, key.doc);
  for (const std::string& word : key.words) row.word(word);
  if (key.integers) row.integer({key.integers->low, key.integers->high});
  row.fallback(to_text(key.fallback))
      .aliases({key.aliases.begin(), key.aliases.end()})
      .store([name = key.name, fallback = key.fallback](const ConfigNode& node, Config& config) {
        const std::optional<Index> integer = as_integer(node);
        const OptionValue value = integer ? OptionValue(*integer) : OptionValue(node.text);
        if (value != fallback) config.request.preconditioner.options[name] = value;
      });
}

void add_preconditioner_rows(std::vector<KeySpec>& rows) {
  SchemaRow(rows, "solver.preconditioner", "approximates an inverse")
      .section()
      .fallback("{}")
      .only_for(detail::methods_of(detail::kPreconditioned))
      .tuning()
      .aliases({"precond", "pc", "pc_type", "st_pc_type", "prec_choice"});
  add_request_rows(rows, "solver.preconditioner");
  std::vector<std::string_view> names = preconditioner_table().names();
  // The options of the preconditioner that auto uses by default are listed first.
  std::stable_partition(names.begin(), names.end(),
                        [](std::string_view name) { return name == automatic_preconditioner({}); });
  for (const std::string_view name : names) {
    for (const PreconditionerKey& key : preconditioner_table().get(name).keys) {
      add_option(rows, key);
    }
  }
}

}  // namespace

void add_request_rows(std::vector<KeySpec>& rows, std::string_view section) {
  add_field_keys(rows, detail::request_fields(), section, request_of);
}

void add_solver_rows(std::vector<KeySpec>& rows) {
  SchemaRow(rows, "solver", "how it is solved").section().fallback("{}");
  add_request_rows(rows, "solver");
  for (KeySpec& row : rows) {
    if (row.path != "solver.type") continue;
    row.fallback = kSolverPlaceholder;
    row.store = nullptr;  // it is read before all other keys
  }
  add_preconditioner_rows(rows);
}

}  // namespace heddle::apps
