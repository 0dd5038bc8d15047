#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <memory>
#include <string>
#include <vector>

namespace heddle::apps::test {

/// The configuration that `text` asks `solver` for, as if it stood in the file folder/case.yaml.
inline Config config_of(const std::string& text, const std::vector<std::string>& overrides = {},
                        SolverType solver = SolverType::lobpcg) {
  const auto source = std::make_shared<const ConfigSource>(ConfigSource{"case.yaml", "folder"});
  ConfigNode tree = parse_yaml(text, source);
  for (const std::string& assignment : overrides) apply_override(tree, assignment);
  return resolve_config(tree, solver, "case");
}

/// The message that `text` is refused with, empty if it is accepted.
inline std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {},
                            SolverType solver = SolverType::lobpcg) {
  try {
    config_of(text, overrides, solver);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace heddle::apps::test
