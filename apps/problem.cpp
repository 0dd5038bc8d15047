#include <fmt/format.h>

#include <cmath>
#include <heddle/apps/problem.hpp>
#include <heddle/apps/problem_checks.hpp>
#include <heddle/linalg/matrix_market.hpp>
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
  check_square(problem.matrix, A.view());
  switch (problem.transform) {
    case Transform::none:
      check_symmetric(context, problem.matrix, A.view());
      return A;
    case Transform::laplacian:
      return graph_laplacian(context, A.view(), LaplacianKind::combinatorial);
    case Transform::normalized_laplacian:
      return graph_laplacian(context, A.view(), LaplacianKind::normalized);
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

HostBlock load_block(HostContext& context, const std::filesystem::path& path, Index order) {
  if (path.empty()) return HostBlock(context, order, 0);
  HostBlock block = read_matrix_market_block<double>(context, path);
  if (block.rows() != order) {
    throw InputError(
        path.string(), 0,
        fmt::format("the block has {} rows, the matrix has order {}", block.rows(), order));
  }
  return block;
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

MultiVector<float, HostSpace> to_single(HostContext& context, const HostBlock& source) {
  MultiVector<float, HostSpace> target(context, source.rows(), source.cols());
  for (Index i = 0; i < source.rows(); ++i) {
    for (Index j = 0; j < source.cols(); ++j) {
      target.view()(i, j) = static_cast<float>(source.view()(i, j));
    }
  }
  return target;
}

HostCsrMatrix<float> to_single(HostContext& context, const HostMatrix& source,
                               const MatrixSource& name) {
  HostCsrMatrix<float> target = convert<float>(context, source.view());
  if (!std::isfinite(norm_1(context, target.view()))) {
    refuse(name, "the matrix holds values beyond the range of single precision");
  }
  return target;
}

}  // namespace

template <Scalar T>
double EigenInput<T>::bytes() const noexcept {
  return matrix_bytes(A) + (B ? matrix_bytes(*B) : 0) + block_bytes(constraints) +
         block_bytes(initial_guess);
}

template struct EigenInput<float>;
template struct EigenInput<double>;

EigenInput<double> load_problem(HostContext& context, const Config& config) {
  const ProblemConfig& problem = config.problem;
  EigenInput<double> input;
  input.A = load_A(context, problem);
  const Index order = input.order();
  if (problem.mass) input.B = load_B(context, *problem.mass, order);
  input.constraints = load_block(context, problem.constraints, order);
  input.initial_guess = load_block(context, problem.initial_guess, order);
  check_nev(config, order, input.constraints.cols());
  return input;
}

EigenInput<float> to_single(HostContext& context, const EigenInput<double>& input,
                            const Config& config) {
  EigenInput<float> single;
  single.A = to_single(context, input.A, config.problem.matrix);
  if (input.B) single.B = to_single(context, *input.B, *config.problem.mass);
  single.constraints = to_single(context, input.constraints);
  single.initial_guess = to_single(context, input.initial_guess);
  return single;
}

Origin origin_of(const Config& config, std::string_view path) {
  const ConfigNode* node = &config.effective;
  Origin origin = node->origin;
  while (node != nullptr && !path.empty()) {
    const std::size_t dot = path.find('.');
    node = node->find(path.substr(0, dot));
    if (node != nullptr) origin = node->origin;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return origin;
}

}  // namespace heddle::apps
