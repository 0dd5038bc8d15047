#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/apps/device.hpp>
#include <heddle/apps/memory.hpp>
#include <heddle/apps/precision.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/apps/problem_checks.hpp>
#include <heddle/apps/solver_options.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <utility>

namespace heddle::apps {
namespace {

using HostMatrix = HostCsrMatrix<double>;
using HostBlock = MultiVector<double, HostSpace>;

template <Scalar T>
double matrix_bytes(const HostCsrMatrix<T>& A) {
  return static_cast<double>(A.nnz()) * (sizeof(T) + sizeof(std::int32_t)) +
         static_cast<double>(A.rows() + 1) * sizeof(std::int64_t);
}

template <Scalar T>
double block_bytes(const MultiVector<T, HostSpace>& X) {
  return static_cast<double>(X.rows() * X.ld()) * sizeof(T);
}

HostMatrix load_matrix(HostContext& context, const MatrixSource& source) {
  if (!source.structure) return read_matrix_market<double>(context, source.path);
  try {
    return generate<double>(context, *source.structure);
  } catch (const InvalidArgument& error) {
    throw ConfigError(source.origin, error.what());
  }
}

HostMatrix load_A(HostContext& context, const ProblemConfig& problem) {
  HostMatrix A = load_matrix(context, problem.matrix);
  if (problem.transform == Transform::normal_equations) {
    if (A.rows() == 0 || A.cols() == 0) {
      refuse(problem.matrix,
             fmt::format("the matrix is {} x {}, it has no entries", A.rows(), A.cols()));
    }
    return A;
  }
  check_square(problem.matrix, A.view());
  switch (problem.transform) {
    case Transform::none:
      check_symmetric(context, problem.matrix, A.view());
      return A;
    case Transform::laplacian:
      return graph_laplacian(context, A.view(), LaplacianKind::combinatorial);
    case Transform::normalized_laplacian:
      return graph_laplacian(context, A.view(), LaplacianKind::normalized);
    case Transform::normal_equations:
      break;
  }
  return A;
}

HostMatrix load_B(HostContext& context, const MatrixSource& mass, Index order) {
  HostMatrix B = load_matrix(context, mass);
  check_square(mass, B.view());
  if (B.rows() != order) {
    refuse(mass,
           fmt::format("the mass matrix has order {}, the matrix has order {}", B.rows(), order));
  }
  check_symmetric(context, mass, B.view());
  check_may_be_positive_definite(context, mass, B.view());
  return B;
}

/// A side of A, and how messages tell of its length.
struct Side {
  Index length;
  std::string described;
};

Side rows_of(const HostMatrix& A, const Config& config) {
  if (!uses_transpose(config)) return {A.rows(), fmt::format("has order {}", A.rows())};
  return {A.rows(), fmt::format("has {} rows", A.rows())};
}

Side columns_of(const HostMatrix& A, const Config& config) {
  if (!uses_transpose(config)) return rows_of(A, config);
  return {A.cols(), fmt::format("has {} columns", A.cols())};
}

HostBlock load_block(HostContext& context, const std::filesystem::path& path, const Side& side) {
  if (path.empty()) return HostBlock(context, side.length, 0);
  HostBlock block = read_matrix_market_block<double>(context, path);
  if (block.rows() != side.length) {
    throw InputError(
        path.string(), 0,
        fmt::format("the block has {} rows, the matrix {}", block.rows(), side.described));
  }
  return block;
}

HostBlock unit_vectors(HostContext& context, const Config& config, const Side& side) {
  const std::vector<Index>& rows = config.problem.rhs.unit;
  HostBlock R(context, side.length, std::ssize(rows));
  set_zero<double>(context, R.view());
  for (Index j = 0; j < R.cols(); ++j) {
    const Index row = rows[static_cast<std::size_t>(j)];
    if (row > side.length) {
      throw ConfigError(
          origin_of(config, "problem.rhs.unit"),
          fmt::format("problem.rhs.unit: there is no row {}, the matrix {}", row, side.described));
    }
    R.view()(row - 1, j) = 1;
  }
  return R;
}

/// The right-hand sides; none for an eigenproblem.
HostBlock load_rhs(HostContext& context, const Config& config, const Side& side) {
  const RhsConfig& rhs = config.problem.rhs;
  if (!rhs.path.empty()) {
    HostBlock R = load_block(context, rhs.path, side);
    if (R.cols() == 0) throw InputError(rhs.path.string(), 0, "the block has no columns");
    return R;
  }
  if (!rhs.unit.empty()) return unit_vectors(context, config, side);
  const Index columns = rhs.random + rhs.ones;
  require_memory(static_cast<double>(side.length) * static_cast<double>(columns) * sizeof(double),
                 host_memory_bytes(), "this machine", kFewerRightHandSides);
  HostBlock R(context, side.length, columns);
  if (rhs.random > 0) {
    fill_random<double>(context, config.solver.seed, 0, R.view());
  } else {
    for (Index i = 0; i < side.length; ++i) {
      for (Index j = 0; j < columns; ++j) R.view()(i, j) = 1;
    }
  }
  return R;
}

void check_guess(const Config& config, Index guesses, Index right_hand_sides) {
  if (guesses == 0 || guesses == right_hand_sides) return;
  throw InputError(config.problem.initial_guess.string(), 0,
                   fmt::format("the initial guess has {} columns, there are {} right-hand sides",
                               guesses, right_hand_sides));
}

void check_nev(const Config& config, Index order, Index constraints) {
  if (config.solver.nev < order - constraints) return;
  const std::string room =
      constraints == 0
          ? fmt::format("the matrix has order {}", order)
          : fmt::format("the matrix has order {} and there are {} constraints", order, constraints);
  throw ConfigError(origin_of(config, "solver.nev"),
                    fmt::format("solver.nev is {}, but {}: nev must be below {}", config.solver.nev,
                                room, order - constraints));
}

void check_triplet_count(const Config& config, const HostMatrix& A) {
  if (config.solver.nev <= std::min(A.rows(), A.cols())) return;
  throw ConfigError(
      origin_of(config, "solver.nev"),
      fmt::format("solver.nev is {}, but a matrix of {} x {} has {} singular values",
                  config.solver.nev, A.rows(), A.cols(), std::min(A.rows(), A.cols())));
}

void check_basis(const Config& config, Index order) {
  const SolverConfig& solver = config.solver;
  if (config.type != SolverType::block_lanczos || solver.max_basis == 0) return;
  const Index block =
      block_lanczos_shape(block_lanczos_options(config), order, config.problem.mass.has_value())
          .block;
  const Index least = solver.nev + 2 * block;
  if (solver.max_basis >= least) return;
  throw ConfigError(origin_of(config, "solver.max_basis"),
                    fmt::format("solver.max_basis is {}, but nev and two blocks of {} need at "
                                "least {}",
                                solver.max_basis, block, least));
}

}  // namespace

template <Scalar T>
double ProblemInput<T>::bytes() const noexcept {
  return matrix_bytes(A) + (B ? matrix_bytes(*B) : 0) +
         (A_transposed ? matrix_bytes(*A_transposed) : 0) + block_bytes(constraints) +
         block_bytes(initial_guess) + block_bytes(rhs);
}

template struct ProblemInput<float>;
template struct ProblemInput<double>;

ProblemInput<double> load_problem(HostContext& context, const Config& config) {
  const ProblemConfig& problem = config.problem;
  ProblemInput<double> input;
  input.A = load_A(context, problem);
  const Index order = input.order();
  if (problem.mass) input.B = load_B(context, *problem.mass, order);
  const Side rows = rows_of(input.A, config);
  input.constraints = load_block(context, problem.constraints, rows);
  input.initial_guess = load_block(context, problem.initial_guess, columns_of(input.A, config));
  input.rhs = load_rhs(context, config, rows);
  if (uses_transpose(config)) {
    input.A_transposed = transpose(context, std::as_const(input.A).view());
  }
  if (finds_triplets(config)) {
    check_triplet_count(config, input.A);
  } else if (is_eigensolver(config.type)) {
    check_nev(config, order, input.constraints.cols());
    check_basis(config, order);
  } else {
    check_guess(config, input.initial_guess.cols(), input.rhs.cols());
  }
  check_precision(input, config);
  return input;
}

}  // namespace heddle::apps
