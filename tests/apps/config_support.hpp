#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/drivers/solve.hpp>
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

/// The problem of `config`, which a plan on the host has checked.
inline Problem load_problem(HostContext& context, const Config& config) {
  Problem problem = read_problem(context, config);
  Device device(DeviceChoice::host, 1);
  with_named_sources(config, [&] { return plan(device, problem, config.request); });
  return problem;
}

}  // namespace heddle::apps::test
