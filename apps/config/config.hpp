#pragma once

#include <filesystem>
#include <heddle/apps/config/node.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/linalg/edge_list/edge_list.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The content of a YAML configuration, checked and typed. Each key, its default and its
/// documentation are defined once, in schema.cpp and, for fields of the request, in
/// drivers/problem/request_fields.cpp.
namespace heddle::apps {

struct Setting;

/// The solvers that have configurations. `automatic` stands for the one that suits the problem.
using SolverType = Method;

/// The transformation of the matrix after reading it.
enum class Transform {
  none,
  laplacian,
  normalized_laplacian,
  normal_equations  ///< AᵀA as an operator, for singular triplets of A or least squares
};

/// The symmetric matrix that a matrix without symmetry is turned into.
enum class Symmetrize {
  none,     ///< it is refused
  larger,   ///< a graph Laplacian takes the larger weight of both directions
  average,  ///< (A + Aᵀ)/2
};

/// The file format of eigenvectors or solutions.
enum class VectorFormat { none, matrix_market, npy };

/// The columns that are written about each iteration.
enum class HistoryDetail {
  none,
  iterations,  ///< history.csv
  pairs        ///< also pairs.csv, with the value and the residual of each pair
};

/// The unit of frequencies on the terminal, for matrices whose time is in seconds.
enum class FrequencyUnit {
  automatic,  ///< cycles for a pencil, none for one matrix
  cycles,     ///< per unit of time of the matrices, whatever that is
  hertz,
  kilohertz,
  radians,  ///< ω = √λ
  none,     ///< eigenvalues alone
};

/// Whether the user named a unit, which asks for frequencies of one matrix as well.
constexpr bool is_named(FrequencyUnit unit) {
  return unit != FrequencyUnit::automatic && unit != FrequencyUnit::none;
}

/// A matrix file or the structure of a generated matrix.
struct MatrixSource {
  std::filesystem::path path;              ///< empty for generated matrices
  std::optional<GallerySpec> structure{};  ///< set for generated matrices
  Origin origin;

  /// The name used in messages: the path, or the structure with its sizes.
  std::string describe() const;

  /// The name used in paths: that of the file without its extensions, or that of the structure.
  std::string name() const;
};

/// The right-hand sides of a linear system: a file, or generated columns of one kind.
struct RhsConfig {
  std::filesystem::path path;  ///< of a dense block; empty for the others
  Index random = 0;            ///< columns with entries uniform in (−1, 1)
  Index ones = 0;              ///< columns of ones
  std::vector<Index> unit;     ///< row numbers, from 1, of the ones in unit vectors

  /// The name used in messages: the file, "random", "ones" or "unit vectors".
  std::string describe() const;
};

/// The problem A x = λ B x, A x = −λ K_g x, A X = B, or min ‖B − A X‖.
struct ProblemConfig {
  MatrixSource matrix;                              ///< A, before the transform
  std::optional<MatrixSource> mass;                 ///< B; none: the identity
  std::optional<MatrixSource> geometric_stiffness;  ///< K_g, for load factors
  Transform transform = Transform::none;
  EdgeWeights weights = EdgeWeights::stored;  ///< of the graph Laplacians
  Symmetrize symmetrize = Symmetrize::none;
  FirstLine first_line = FirstLine::automatic;  ///< of edge lists
  std::filesystem::path constraints;            ///< of a dense block, empty for none
  std::filesystem::path initial_guess;          ///< of a dense block, empty for none
  std::filesystem::path coordinates;            ///< of a dense block, empty for none
  std::filesystem::path near_null;              ///< of a dense block, empty for none
  RhsConfig rhs;                                ///< of a linear system
};

/// The result files to write, and their folder.
struct OutputConfig {
  std::filesystem::path directory;            ///< relative to the current folder
  VectorFormat vectors = VectorFormat::none;  ///< of eigenvectors or the solution
  HistoryDetail history = HistoryDetail::none;
  FrequencyUnit unit = FrequencyUnit::automatic;
  std::filesystem::path log;  ///< what is said beside the results is appended to it. Empty: no file
};

/// A whole configuration.
struct Config {
  /// Its method is `automatic` if the choice of an eigensolver is left to `settle_method`.
  Request request;
  ProblemConfig problem;
  OutputConfig output;
  /// The whole configuration as a tree: the values of the file and the command line, defaults
  /// filled in, matrix paths absolute. `to_yaml` of it is an equivalent configuration.
  ConfigNode effective;
  ConfigNode given;  ///< the tree that `resolve_config` took
  std::string name;  ///< in the default output folder
  /// Keys that the user gave and that have no effect, because `solver.type: auto` chose a method
  /// without them.
  std::vector<std::string> unused;
  std::string method_reason;  ///< why `solver.type: auto` chose the method, else empty
};

/// Checks `tree` against the schema and fills in the defaults. `solver` is the solver of the
/// program: its method, which the file must ask for or leave open, or `automatic` for any. `name`
/// is the name of the configuration in the default output folder. Throws `ConfigError` at the first
/// invalid key or value.
Config resolve_config(const ConfigNode& tree, SolverType solver, std::string_view name);

/// The configuration `config`, whose method is `automatic`, for the eigensolver `method`, which was
/// chosen for `reason`. Throws `ConfigError` for keys that do not go with it.
Config settle_method(const Config& config, SolverType method, std::string reason);

/// Sets the value at a dotted path of `tree`, given as `KEY=VALUE` with VALUE in YAML (lists and
/// maps in brackets). It replaces an existing value. In a section that accepts just one of several
/// keys, it also removes the other key. It does not check whether the key exists, which
/// `resolve_config` does. Relative matrix paths in VALUE are relative to the current folder. Throws
/// `ConfigError`, also if the path leads through a value that is invalid for its key.
void apply_override(ConfigNode& tree, std::string_view assignment);

/// The configuration that `subject` names (see `read_subject`) for a program of `solver`, with
/// `settings` and then `overrides` applied in order. Throws `ConfigError`.
Config load_config(const std::string& subject, const std::vector<Setting>& settings,
                   const std::vector<std::string>& overrides, SolverType solver);

/// The place where the user gave the value at a dotted path of the configuration.
Origin origin_of(const Config& config, std::string_view path);

/// The list of all keys for `solver` as text: path, values, default, meaning.
std::string describe_keys(SolverType solver);

/// The reference of all keys for all solvers as a Markdown page: docs/configuration.md.
std::string describe_keys_as_markdown();

/// Whether A may be rectangular and products with Aᵀ are used.
inline bool uses_transpose(const Config& config) noexcept {
  return config.problem.transform == Transform::normal_equations;
}

/// Whether A is replaced by a Laplacian of its graph.
inline bool takes_laplacian(const ProblemConfig& problem) noexcept {
  return problem.transform == Transform::laplacian ||
         problem.transform == Transform::normalized_laplacian;
}

/// Whether the problem is to find singular triplets of A.
inline bool finds_triplets(const Config& config) noexcept {
  return uses_transpose(config) && is_eigensolver(config.request.method);
}

/// Whether the problem is min ‖b − A x‖₂.
inline bool solves_least_squares(const Config& config) noexcept {
  return uses_transpose(config) && !is_eigensolver(config.request.method);
}

}  // namespace heddle::apps
