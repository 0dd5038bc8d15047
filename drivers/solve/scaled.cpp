#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/inspect/precision.hpp>
#include <heddle/drivers/plan/methods.hpp>
#include <heddle/drivers/solve/scaled.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

/// 2^exponent E A E. No `rows`: E = I.
template <WideScalar W>
HostMatrix<W> scaled(HostContext& context, const HostMatrix<W>& A, int exponent,
                     const std::vector<int>& rows = {}) {
  if ((exponent == 0 && rows.empty()) || !A.is_stored()) return A;
  HostCsrMatrix<W> copy = convert<W>(context, A.view());
  const auto of = [&](auto i) { return rows.empty() ? 0 : rows[static_cast<std::size_t>(i)]; };
  for (Index i = 0; i < copy.rows(); ++i) {
    for (auto k = copy.row_offsets()[i]; k < copy.row_offsets()[i + 1]; ++k) {
      W& value = copy.values()[k];
      value = times_power_of_two(value, exponent + of(i) + of(copy.columns()[k]));
    }
  }
  return HostMatrix<W>(std::move(copy));
}

/// The identity.
Matrix identity(HostContext& context, Index n) {
  std::vector<Triplet<double>> ones;
  for (Index i = 0; i < n; ++i) ones.push_back({i, i, 1});
  return Matrix(csr_from_triplets<double>(context, n, n, ones));
}

template <Scalar T>
double largest_in_column(ConstBlockView<T, HostSpace> X, Index j) {
  double largest = 0;
  for (Index i = 0; i < X.rows(); ++i) {
    largest = std::max(largest, static_cast<double>(std::abs(X(i, j))));
  }
  return largest;
}

/// X with column j multiplied by 2^exponents[j].
template <Scalar T>
MultiVector<T, HostSpace> scaled_columns(HostContext& context, ConstBlockView<T, HostSpace> X,
                                         const std::vector<int>& exponents) {
  MultiVector<T, HostSpace> copy(context, X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      copy.view()(i, j) = times_power_of_two(X(i, j), exponents[static_cast<std::size_t>(j)]);
    }
  }
  return copy;
}

/// X with row i multiplied by 2^(exponent + sign·rows[i]). No `rows`: by 2^exponent.
template <Scalar T>
MultiVector<T, HostSpace> scaled_rows(HostContext& context, ConstBlockView<T, HostSpace> X,
                                      int exponent, int sign, const std::vector<int>& rows) {
  MultiVector<T, HostSpace> copy(context, X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    const int own = rows.empty() ? 0 : sign * rows[static_cast<std::size_t>(i)];
    for (Index j = 0; j < X.cols(); ++j)
      copy.view()(i, j) = times_power_of_two(X(i, j), exponent + own);
  }
  return copy;
}

std::vector<int> every_column(Index columns, int exponent) {
  return std::vector<int>(static_cast<std::size_t>(columns), exponent);
}

/// X with columns of a moderate size, which span the same space.
template <WideScalar W>
HostBlock<W> of_moderate_size(HostContext& context, const HostBlock<W>& X, Precision precision) {
  std::vector<int> exponents;
  for (Index j = 0; j < X.cols(); ++j) {
    exponents.push_back(moderating_exponent(largest_in_column(X.view(), j), precision));
  }
  if (std::all_of(exponents.begin(), exponents.end(), [](int each) { return each == 0; })) return X;
  return HostBlock<W>(scaled_columns(context, X.view(), exponents));
}

/// number·2^exponent in decimal digits, also where it is no number of double precision.
std::string decimal(double number, int exponent) {
  const double size = std::log10(std::abs(number)) + exponent * std::log10(2.0);
  const double power = std::floor(size);
  return fmt::format("{}{:.2f}e{:+.0f}", number < 0 ? "-" : "", std::pow(10, size - power), power);
}

/// Whether number·2^exponent keeps its digits, or loses no more than rounding errors of a problem
/// of size 1.
bool representable(double number, int exponent) {
  const double value = std::ldexp(number, exponent);
  if (!std::isfinite(value)) return !std::isfinite(number);
  const double lost = std::abs(std::ldexp(value, -exponent) - number);
  return lost <= std::max(1e-12 * std::abs(number), std::numeric_limits<double>::epsilon());
}

template <WideScalar W>
void check_rhs(const HostBlock<W>& R, const ProblemScaling& scaling, const Request& request) {
  const bool full = request.precision == Precision::full;
  const double most = full ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  const double least =
      full ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  for (Index j = 0; j < R.cols(); ++j) {
    const double largest = largest_in_column(R.view(), j);
    const double size = std::ldexp(largest, scaling.A);
    if (largest == 0 || !std::isfinite(largest) || (size >= least && size <= most)) continue;
    throw ProblemError(ProblemPart::rhs,
                       fmt::format("column {} has entries of size {:g}, the matrix of size {}: "
                                   "their ratio leaves the range of numbers, as the solution would",
                                   j + 1, largest, decimal(1, -scaling.A)));
  }
}

/// Ends `solution` as a breakdown because double precision cannot hold a result.
void refuse_result(Solution& solution, const std::string& what) {
  solution.status = SolveStatus::breakdown;
  solution.reason =
      fmt::format("{} leaves the range of numbers: scale the matrix; {}", what, solution.reason);
}

/// Multiplies `values` by 2^exponent.
void unscale_values(Solution& solution, std::vector<double>& values, int exponent,
                    std::string_view name) {
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (!representable(values[j], exponent)) {
      refuse_result(solution,
                    fmt::format("{} {}, which is {},", name, j + 1, decimal(values[j], exponent)));
      break;
    }
  }
  for (double& value : values) value = std::ldexp(value, exponent);
}

template <Scalar T>
void unscale_vectors(Device& device, Solution& solution, const HostBlock<T>& X,
                     const ProblemScaling& scaling) {
  MultiVector<T, HostSpace> copy =
      scaled_rows(device.host(), X.view(), scaling.vectors / 2, 1, scaling.rows);
  for (Index j = 0; j < solution.count(); ++j) {
    const double largest = largest_in_column<T>(std::as_const(copy).view(), j);
    if (std::isfinite(largest) && largest >= std::numeric_limits<RealOf<T>>::min()) continue;
    refuse_result(solution, fmt::format("eigenvector {}, with x'Bx = 1,", j + 1));
    break;
  }
  solution.vectors = HostBlock<T>(std::move(copy), device.shared_host());
}

CsrView<double, HostSpace> mass_of(const Problem& problem) {
  return problem.B ? problem.B->view() : CsrView<double, HostSpace>{};
}

/// Multiplies the rows and columns of the matrices of a graded problem, and its guess, by powers of
/// two. Its null vectors are no longer those that the graph shows.
void scale_rows(HostContext& context, Problem& problem, Facts& facts, Request& request,
                const ProblemScaling& scaling) {
  request.filter = LanczosFilter::inverse;
  if (!problem.B) problem.B = identity(context, facts.order());
  facts.B = {true, true, facts.order(), facts.order(), problem.B->nnz()};
  facts.null_space = nullptr;
  if (problem.initial_guess.cols() == 0) return;
  problem.initial_guess =
      Block(scaled_rows(context, problem.initial_guess.view(), 0, -1, scaling.rows));
}

void report_grading(const ProblemScaling& scaling, Solution& solution) {
  const std::string held = scaling.held == 0
                               ? std::string()
                               : fmt::format(", penalties hold at least {} of them", scaling.held);
  solution.reason += fmt::format(
      "; the sizes of the rows of the matrix span a factor of {:.0e}{}: the problem was "
      "scaled by rows and solved by a factor of A - sigma B",
      scaling.span, held);
}

/// (A x)_i for column j of X.
template <Scalar T>
double product(const CsrView<double, HostSpace>& A, ConstBlockView<T, HostSpace> X, Index i,
               Index j) {
  double sum = 0;
  for (auto k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    sum += A.values[k] * static_cast<double>(X(A.columns[k], j));
  }
  return sum;
}

/// ‖A x − λ B x‖/‖x‖ for column j of X. A B without rows is the identity.
template <Scalar T>
double residual(const CsrView<double, HostSpace>& A, const CsrView<double, HostSpace>& B,
                double lambda, ConstBlockView<T, HostSpace> X, Index j) {
  double squares = 0;
  double size = 0;
  for (Index i = 0; i < A.rows; ++i) {
    const double x = static_cast<double>(X(i, j));
    const double r = product(A, X, i, j) - lambda * (B.rows == 0 ? x : product(B, X, i, j));
    squares += r * r;
    size += x * x;
  }
  return std::sqrt(squares / size);
}

}  // namespace

template <WideScalar W>
void scale(HostContext& context, HostProblem<W>& problem, Facts& facts, Request& request,
           const ProblemScaling& scaling) {
  problem.constraints = of_moderate_size(context, problem.constraints, request.precision);
  if (is_eigensolver(request.method)) {
    problem.initial_guess = of_moderate_size(context, problem.initial_guess, request.precision);
  }
  if (scaling.changes_nothing()) return;
  if constexpr (RealScalar<W>) {
    if (scaling.graded()) scale_rows(context, problem, facts, request, scaling);
  }
  problem.A = scaled(context, problem.A, scaling.A, scaling.rows);
  if (problem.A_transposed) {
    problem.A_transposed = scaled(context, *problem.A_transposed, scaling.A);
  }
  if (problem.B) problem.B = scaled(context, *problem.B, scaling.B, scaling.rows);
  if (problem.rhs.cols() > 0 && scaling.A != 0) {
    check_rhs(problem.rhs, scaling, request);
    problem.rhs = HostBlock<W>(
        scaled_columns(context, problem.rhs.view(), every_column(problem.rhs.cols(), scaling.A)));
  }
  request.damp = std::ldexp(request.damp, scaling.A);  // A and R are scaled, solutions are not
  const auto within_range = [](double value, int exponent) {
    const double most = std::numeric_limits<double>::max();
    return std::clamp(std::ldexp(value, exponent), -most, most);
  };
  if (request.interval) {
    const int exponent = scaling.A - scaling.B;
    request.interval->lower = within_range(request.interval->lower, exponent);
    request.interval->upper = within_range(request.interval->upper, exponent);
  }
  if (request.sigma) request.sigma = std::ldexp(*request.sigma, scaling.A - scaling.B);
  const bool absolute = is_eigensolver(request.method)
                            ? request.criterion == Criterion::absolute
                            : request.linear_criterion == LinearCriterion::absolute;
  if (!absolute) return;
  request.tolerance =
      std::max(within_range(tolerance_of(request), scaling.A), std::numeric_limits<double>::min());
}

template void scale(HostContext&, Problem&, Facts&, Request&, const ProblemScaling&);
template void scale(HostContext&, ComplexProblem&, Facts&, Request&, const ProblemScaling&);

Monitor unscaled(const Monitor& monitor, const ProblemScaling& scaling) {
  if (!monitor.iteration || scaling.A == scaling.B) return monitor;
  return monitor.with_iteration(
      [iteration = monitor.iteration, scaling,
       values = std::vector<double>()](const MonitorState& state) mutable {
        values.assign(state.eigenvalues.begin(), state.eigenvalues.end());
        for (double& value : values) value = std::ldexp(value, scaling.B - scaling.A);
        return iteration({state.record, state.nev, values, state.residuals});
      });
}

void unscale(Device& device, Solution& solution, const ProblemScaling& scaling) {
  if (scaling.graded()) report_grading(scaling, solution);
  if (scaling.changes_nothing()) return;
  for (double& norm : solution.residual_norms) norm = std::ldexp(norm, -scaling.A);
  const int of_values = solution.singular_values.empty() ? scaling.B - scaling.A : -scaling.A;
  for (double& bound : solution.error_bounds) bound = std::ldexp(bound, of_values);
  if (!solution.singular_values.empty()) {
    unscale_values(solution, solution.singular_values, -scaling.A, "singular value");
    std::transform(solution.singular_values.begin(), solution.singular_values.end(),
                   solution.eigenvalues.begin(), [](double sigma) { return sigma * sigma; });
    return;
  }
  unscale_values(solution, solution.eigenvalues, scaling.B - scaling.A, "eigenvalue");
  if (scaling.vectors == 0 && scaling.rows.empty()) return;
  std::visit([&](const auto& X) { unscale_vectors(device, solution, X, scaling); },
             HostVectors(solution.vectors));
}

double take_given_residuals(HostContext& context, const Problem& given, const Request& request,
                            Solution& solution) {
  const CsrView<double, HostSpace> A = given.A.view();
  const CsrView<double, HostSpace> B = mass_of(given);
  const EigenConvergence convergence(request.criterion, tolerance_of(request), norm_1(context, A),
                                     B.rows == 0 ? 1 : norm_1(context, B),
                                     std::numeric_limits<double>::epsilon());
  double excess = 0;
  for (std::size_t j = 0; j < solution.eigenvalues.size(); ++j) {
    const double lambda = solution.eigenvalues[j];
    const double found = visit_real(solution.vectors, [&](const auto& X) {
      return residual(A, B, lambda, X.view(), static_cast<Index>(j));
    });
    const double rounding = convergence.noise_floor() * convergence.scale(lambda);
    keep_worst(excess, found / std::max(convergence.allowed(lambda), rounding));
    solution.residuals[j] = convergence.scaled_residual(lambda, found);
  }
  return excess;
}

void require_digits(const Request& request, Solution& solution, double smallest) {
  const bool single = request.precision == Precision::single;
  const double digits = single ? 1 : std::max(kSixDigits, tolerance_of(request));
  for (std::size_t j = 0; j < solution.eigenvalues.size(); ++j) {
    const double lambda = solution.eigenvalues[j];
    const double bound = solution.error_bounds[j];
    // Such a value passes only as a zero.
    const bool zero = smallest == 0 && std::abs(lambda) <= bound;
    const double size = std::max(std::abs(lambda), smallest);
    if (zero || bound <= digits * size || !solution.converged[j]) continue;
    solution.converged[j] = false;
    if (smallest > 0) solution.completeness.proven = false;  // its place is not known either
    if (solution.status != SolveStatus::converged) continue;
    solution.status = SolveStatus::stagnated;
    solution.reason += fmt::format(
        "; the error of value {}, {:.9g}, may be {:.1e}: {}", j + 1, lambda, bound,
        single ? "single precision gives no digit of it, double precision may"
               : "the entries of the matrix, which are rounded, give no more digits of it");
  }
}

}  // namespace heddle::detail
