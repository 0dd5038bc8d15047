#pragma once

#include <filesystem>
#include <heddle/apps/config/node.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a YAML file asks for, checked and typed. The keys, their defaults and their documentation
/// stand in schema.cpp, once each.
namespace heddle::apps {

/// The solvers that configurations are written for. Each has an executable of its own.
using SolverType = Method;

/// What is done to the matrix that was read.
enum class Transform {
  none,
  laplacian,
  normalized_laplacian,
  normal_equations  ///< AᵀA, as an operator: singular triplets of A, or least squares, are wanted
};

/// The form that eigenvectors or solutions are written in.
enum class VectorFormat { none, matrix_market, npy };

/// A matrix file or a structure to generate.
struct MatrixSource {
  std::filesystem::path path;              ///< empty for generated matrices
  std::optional<GallerySpec> structure{};  ///< set for generated matrices
  Origin origin;

  /// How messages name it: the path, or the structure with its sizes.
  std::string describe() const;
};

/// The right-hand sides of a linear system: a file, or columns of one kind.
struct RhsConfig {
  std::filesystem::path path;  ///< dense Matrix Market file; empty for the others
  Index random = 0;            ///< columns with entries uniform in (−1, 1)
  Index ones = 0;              ///< columns of ones
  std::vector<Index> unit;     ///< rows, from 1, of the ones in unit vectors

  /// How people are told of it: the file, "random", "ones" or "unit vectors".
  std::string describe() const;
};

/// The problem A x = λ B x, A X = B, or min ‖B − A X‖.
struct ProblemConfig {
  MatrixSource matrix;               ///< A, before the transform
  std::optional<MatrixSource> mass;  ///< B; none: the identity
  Transform transform = Transform::none;
  std::filesystem::path constraints;    ///< dense Matrix Market file, empty for none
  std::filesystem::path initial_guess;  ///< dense Matrix Market file, empty for none
  RhsConfig rhs;                        ///< of a linear system
};

/// What is written, and where.
struct OutputConfig {
  std::filesystem::path directory;            ///< relative to the current folder
  VectorFormat vectors = VectorFormat::none;  ///< of eigenvectors or the solution
  bool history = false;                       ///< history.csv
};

/// A whole configuration.
struct Config {
  Request request;  ///< its method is the solver of the executable
  ProblemConfig problem;
  OutputConfig output;
  /// All of it as a tree: what the file and the command line say, defaults filled in, matrix paths
  /// absolute. `to_yaml` of it is a configuration that asks for the same.
  ConfigNode effective;
};

/// Checks `tree` against the schema for `solver` and fills in the defaults. `name` stands for the
/// configuration in the default output folder. Throws `ConfigError` at the first key or value that
/// cannot be used.
Config resolve_config(const ConfigNode& tree, SolverType solver, std::string_view name);

/// Sets the value at a dotted path of `tree`, given as `KEY=VALUE` with VALUE in YAML (lists and
/// maps in brackets). Replaces what stands there, and where just one of several keys can be given,
/// the other one; whether the key exists is `resolve_config`'s to
/// say. Relative matrix paths in VALUE are relative to the current folder. Throws `ConfigError`,
/// also where the path leads through a value that its key does not take.
void apply_override(ConfigNode& tree, std::string_view assignment);

/// The configuration in the file at `path` with `overrides` applied in order.
/// Throws `ConfigError`.
Config load_config(const std::filesystem::path& path, const std::vector<std::string>& overrides,
                   SolverType solver);

/// Where the value at a dotted path of the configuration was given.
Origin origin_of(const Config& config, std::string_view path);

/// The documented list of all keys for `solver`, for people: path, values, default, meaning.
std::string describe_keys(SolverType solver);

/// The reference of all keys for all solvers as a Markdown page: docs/configuration.md.
std::string describe_keys_as_markdown();

/// Whether A is of any shape and Aᵀ is used beside it.
inline bool uses_transpose(const Config& config) noexcept {
  return config.problem.transform == Transform::normal_equations;
}

/// Whether singular triplets of A are wanted.
inline bool finds_triplets(const Config& config) noexcept {
  return uses_transpose(config) && is_eigensolver(config.request.method);
}

/// Whether min ‖b − A x‖₂ is wanted.
inline bool solves_least_squares(const Config& config) noexcept {
  return uses_transpose(config) && !is_eigensolver(config.request.method);
}

}  // namespace heddle::apps
