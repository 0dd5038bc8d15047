#pragma once

#include <heddle/apps/config/config.hpp>
#include <string>

namespace heddle::apps {

/// A configuration as it was given, before checks and defaults.
struct GivenConfig {
  ConfigNode tree;
  std::string name;  ///< in the default output folder
};

/// The configuration that the argument CONFIG of a program for `solver` names: a YAML file, or `-`
/// for standard input. A program for any solver also takes a matrix, as a file, as NAME:SIZE,SIZE
/// for a generated one, or on standard input. The configuration then consists of this matrix.
/// Throws `ConfigError`, also for a matrix where a configuration is expected.
GivenConfig read_subject(const std::string& argument, SolverType solver);

}  // namespace heddle::apps
