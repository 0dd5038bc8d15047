#include <fmt/format.h>

#include <cmath>
#include <heddle/apps/input_file.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/apps/standard_input.hpp>
#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <utility>
#include <vector>

namespace heddle::apps {
namespace {

template <Scalar T>
HostMatrix<T> load_matrix(HostContext& context, const MatrixSource& source, std::string_view key,
                          FirstLine first_line) {
  if (!source.structure) {
    return read_input(source.path, key, [&](const std::filesystem::path& path) {
      return HostMatrix<T>(read_matrix<T>(context, path, first_line));
    });
  }
  try {
    return HostMatrix<T>(generate<T>(context, *source.structure));
  } catch (const InvalidArgument& error) {
    throw ConfigError(source.origin, error.what());
  }
}

/// Replaces A by its symmetric, or Hermitian, part if `problem` asks for it. Returns the asymmetry
/// that is removed.
template <Scalar T>
std::optional<double> symmetrize(HostContext& context, const ProblemConfig& problem,
                                 ProblemPart part, HostMatrix<T>& A) {
  if (problem.symmetrize != Symmetrize::average) return std::nullopt;
  detail::check_square(part, A.rows(), A.cols());
  const double asymmetry = relative_asymmetry(context, A.view());
  if (asymmetry > 0) A = HostMatrix<T>(symmetric_part(context, A.view()));
  return asymmetry;
}

/// Replaces A of `loaded` by the Laplacian of its graph, and sets the sizes of its null vector
/// where that is normalised.
void take_laplacian(HostContext& context, const ProblemConfig& problem, Problem& loaded) {
  Matrix& A = loaded.A;
  LaplacianOptions options{.weights = problem.weights,
                           .symmetrize = problem.symmetrize == Symmetrize::larger};
  if (problem.transform == Transform::normalized_laplacian) {
    options.kind = LaplacianKind::normalized;
  }
  std::vector<double> degrees;
  try {
    A = Matrix(graph_laplacian(context, A.view(), options, &degrees));
  } catch (const InvalidArgument& error) {
    throw ProblemError(ProblemPart::matrix, error.what());
  }
  if (options.kind == LaplacianKind::combinatorial) return;
  for (double& each : degrees) each = each > 0 ? std::sqrt(each) : 1;  // 0 at isolated vertices
  loaded.null_vector_sizes = std::move(degrees);
}

template <Scalar T>
HostBlock<T> load_block(HostContext& context, const std::filesystem::path& path,
                        std::string_view key) {
  if (path.empty()) return {};
  return read_input(path, key, [&context](const std::filesystem::path& file) {
    return HostBlock<T>(read_block<T>(context, file));
  });
}

template <Scalar T>
HostBlock<T> unit_vectors(HostContext& context, const Config& config,
                          const HostProblem<T>& problem) {
  const std::vector<Index>& rows = config.problem.rhs.unit;
  MultiVector<T, HostSpace> R(context, problem.A.rows(), std::ssize(rows));
  set_zero<T>(context, R.view());
  for (Index j = 0; j < R.cols(); ++j) {
    const Index row = rows[static_cast<std::size_t>(j)];
    if (row > problem.A.rows()) {
      throw ConfigError(origin_of(config, "problem.rhs.unit"),
                        fmt::format("problem.rhs.unit: there is no row {}, the matrix {}", row,
                                    detail::describe_rows(detail::shape_of(problem, 1))));
    }
    R.view()(row - 1, j) = 1;
  }
  return HostBlock<T>(std::move(R));
}

/// The right-hand sides of a linear system.
template <Scalar T>
HostBlock<T> load_rhs(HostContext& context, const Config& config, const HostProblem<T>& problem) {
  const RhsConfig& rhs = config.problem.rhs;
  if (!rhs.path.empty()) {
    HostBlock<T> R = load_block<T>(context, rhs.path, "problem.rhs");
    if (R.cols() == 0) throw InputError(rhs.describe(), 0, "the block has no columns");
    return R;
  }
  if (!rhs.unit.empty()) return unit_vectors(context, config, problem);
  return detail::generated_rhs<T>(context, rhs.random, rhs.ones, config.request.seed, 0,
                                  problem.A.rows());
}

/// Sets what is known of the vectors that A nearly maps to zero: that of the configuration, else
/// the positions of the nodes of a generated body.
void load_near_null(HostContext& context, const ProblemConfig& named, Problem& problem) {
  problem.near_null = load_block<double>(context, named.near_null, "problem.near_null");
  problem.coordinates = load_block<double>(context, named.coordinates, "problem.coordinates");
  const bool given = !named.near_null.empty() || !named.coordinates.empty();
  if (given || !named.matrix.structure || named.transform != Transform::none) return;
  problem.coordinates = Block(node_coordinates(context, *named.matrix.structure));
}

/// The matrix if processes may get its rows. None for one that is no file of its own.
std::optional<detail::NamedMatrices::Source> row_source(const MatrixSource& source) {
  if (source.structure) return *source.structure;
  if (!is_path(source.path)) return std::nullopt;
  return source.path;
}

bool is_complex(const MatrixSource& source) {
  if (source.structure) return is_complex_structure(source.structure->name);
  return holds_complex(source.path);
}

/// Throws `ConfigError` at the key of what is there for real matrices only.
void check_complex(const Config& config) {
  const ProblemConfig& named = config.problem;
  const auto refuse_key = [&](bool given, std::string_view key) {
    if (!given) return;
    throw ConfigError(origin_of(config, key),
                      fmt::format("{}: takes real matrices and blocks only", key));
  };
  refuse_key(takes_laplacian(named), "problem.transform");
  refuse_key(named.geometric_stiffness.has_value(), "problem.geometric_stiffness");
  refuse_key(!named.near_null.empty(), "problem.near_null");
  refuse_key(!named.coordinates.empty(), "problem.coordinates");
}

[[noreturn]] void refuse(const MatrixSource& source, const std::string& message) {
  if (source.structure) throw ConfigError(source.origin, source.describe() + ": " + message);
  throw InputError(source.describe(), 0, message);
}

}  // namespace

void refuse(const Config& config, const ProblemError& error) {
  const ProblemConfig& problem = config.problem;
  std::filesystem::path block;
  switch (error.part()) {
    case ProblemPart::matrix:
      refuse(problem.matrix, error.message());
    case ProblemPart::mass:
      refuse(*problem.mass, error.message());
    case ProblemPart::geometric_stiffness:
      refuse(*problem.geometric_stiffness, error.message());
    case ProblemPart::constraints:
      block = problem.constraints;
      break;
    case ProblemPart::initial_guess:
      block = problem.initial_guess;
      break;
    case ProblemPart::rhs:
      block = problem.rhs.path;
      if (block.empty()) refuse(problem.matrix, error.message());
      break;
    case ProblemPart::near_null:
      block = problem.near_null;
      break;
    case ProblemPart::coordinates:
      block = problem.coordinates;
      break;
    case ProblemPart::preconditioner:  // no configuration brings one
      throw error;
  }
  throw InputError(input_name(block), 0, error.message());
}

std::optional<detail::NamedMatrices> matrices_by_rows(const Config& config) {
  const ProblemConfig& named = config.problem;
  if (uses_transpose(config) || takes_laplacian(named) || named.geometric_stiffness) return {};
  if (named.symmetrize == Symmetrize::average) return {};
  // Rows of a file are divided at node boundaries, which are unknown until the coordinates are
  // read.
  if (!named.matrix.structure && !named.coordinates.empty()) return {};
  const std::optional<detail::NamedMatrices::Source> A = row_source(named.matrix);
  if (!A) return {};
  detail::NamedMatrices matrices{.A = *A};
  if (named.mass) matrices.B = row_source(*named.mass);
  if (named.mass && !matrices.B) return {};
  if (!is_eigensolver(config.request.method)) {
    matrices.random_rhs = named.rhs.random;
    matrices.ones_rhs = named.rhs.ones;
  }
  return matrices;
}

bool is_complex(const Config& config) {
  const ProblemConfig& named = config.problem;
  return is_complex(named.matrix) || (named.mass && is_complex(*named.mass)) ||
         (named.geometric_stiffness && is_complex(*named.geometric_stiffness)) ||
         holds_complex(named.constraints) || holds_complex(named.initial_guess) ||
         holds_complex(named.near_null) || holds_complex(named.coordinates) ||
         holds_complex(named.rhs.path);
}

template <Scalar T>
HostProblem<T> read_problem(HostContext& context, const Config& config, HostProblem<T> begun,
                            RemovedAsymmetry* removed) {
  if constexpr (kComplex<T>) check_complex(config);
  return with_named_sources(config, [&] {
    const ProblemConfig& named = config.problem;
    HostProblem<T> problem = std::move(begun);
    problem.normal_equations = uses_transpose(config);
    RemovedAsymmetry asymmetry;
    if (problem.A.whole() == nullptr) {
      problem.A = load_matrix<T>(context, named.matrix, "problem.matrix", named.first_line);
      detail::check_shape(problem.A.rows(), problem.A.cols(), problem.normal_equations);
      if constexpr (RealScalar<T>) {
        if (takes_laplacian(named)) take_laplacian(context, named, problem);
      }
      asymmetry.matrix = symmetrize(context, named, ProblemPart::matrix, problem.A);
    }
    if (named.mass && !problem.B) {
      problem.B = load_matrix<T>(context, *named.mass, "problem.mass", named.first_line);
      asymmetry.mass = symmetrize(context, named, ProblemPart::mass, *problem.B);
    }
    if (named.geometric_stiffness) {
      HostMatrix<T>& geometric = problem.geometric_stiffness.emplace(load_matrix<T>(
          context, *named.geometric_stiffness, "problem.geometric_stiffness", named.first_line));
      asymmetry.geometric_stiffness =
          symmetrize(context, named, ProblemPart::geometric_stiffness, geometric);
    }
    if (removed != nullptr) *removed = asymmetry;
    problem.constraints = load_block<T>(context, named.constraints, "problem.constraints");
    problem.initial_guess = load_block<T>(context, named.initial_guess, "problem.initial_guess");
    if constexpr (RealScalar<T>) load_near_null(context, named, problem);
    const bool linear = !is_eigensolver(config.request.method);
    if (linear && problem.rhs.cols() == 0) problem.rhs = load_rhs(context, config, problem);
    return problem;
  });
}

template Problem read_problem(HostContext&, const Config&, Problem, RemovedAsymmetry*);
template ComplexProblem read_problem(HostContext&, const Config&, ComplexProblem,
                                     RemovedAsymmetry*);

}  // namespace heddle::apps
