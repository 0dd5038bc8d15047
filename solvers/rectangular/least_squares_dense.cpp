#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/rectangular/collected.hpp>
#include <heddle/solvers/rectangular/least_squares_solve.hpp>
#include <limits>
#include <optional>

namespace heddle::detail {
namespace {

/// Up to this number of operations, a tenth of a second or less, a matrix is factored at once.
constexpr double kFewOperations = 1e8;

/// A matrix of up to this many entries, a quarter of a gigabyte, is factored where CG fails,
/// provided that this takes no more than two minutes.
constexpr double kMostFactored = 1 << 25;
constexpr double kFactorRate = 2e9;
constexpr double kLongestFactorisation = 120;  // seconds

/// The estimated relative error from which on a solution has no digits.
constexpr double kNoDigits = 0.5;

struct DenseFactorCost {
  double entries;
  double operations;
};

/// The cost for an m×n A, with n rows more if it is damped.
template <Scalar T, class Ctx>
DenseFactorCost factor_cost(const LinearOperator<T, Ctx>& A, double damp) {
  const auto n = static_cast<double>(A.column_range().global);
  const double m = static_cast<double>(A.row_range().global) + (damp > 0 ? n : 0);
  const double shorter = std::min(m, n);
  const double operations = 2 * m * n * shorter + 2 * shorter * shorter * shorter;
  return {m * n * (kComplex<T> ? 2 : 1), operations * (kComplex<T> ? 4 : 1)};
}

}  // namespace

/// Whether the problem is small enough to be factored at once. Fewer iterations than the default
/// are a limit that was set on purpose.
template <Scalar T, class Ctx>
bool LeastSquaresSolve<T, Ctx>::factors_at_once() const {
  const bool limited = options_.max_iterations < LinearOptions{}.max_iterations;
  const DenseFactorCost cost = factor_cost(*problem_.A.A, options_.damp);
  return options_.direct && !limited && cost.operations <= kFewOperations &&
         !control_.less_time_left_than(context_, cost.operations / kFactorRate);
}

/// Whether to factor A after CG has failed.
template <Scalar T, class Ctx>
bool LeastSquaresSolve<T, Ctx>::factoring_may_help() const {
  const SolveStatus status = control_.status();
  const bool limited = options_.max_iterations < LinearOptions{}.max_iterations;
  if (!options_.direct || limited || status == SolveStatus::converged ||
      status == SolveStatus::interrupted || status == SolveStatus::time_limit) {
    return false;
  }
  const DenseFactorCost cost = factor_cost(*problem_.A.A, options_.damp);
  const double seconds = cost.operations / kFactorRate;
  return cost.entries <= kMostFactored && seconds <= kLongestFactorisation &&
         !control_.less_time_left_than(context_, seconds);
}

/// X ← the solution nearest to the initial guess, from a dense factorisation of [A; δI] on the
/// host.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::factor() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  OwnedHostContext host(1);
  const bool here = collects(context_);
  const Index n = here ? problem_.A.A->column_range().global : 0;
  const Index rows = here ? problem_.A.A->row_range().global : 0;
  const Index m = rows + (options_.damp > 0 ? n : 0);
  const Index s = problem_.B.cols();
  SmallMatrix<Wide<T>, HostSpace> A(*host, m, n), B(*host, m, s), X(*host, n, s);
  for (const SmallView<Wide<T>, HostSpace> M : {A.view(m, n), B.view(m, s)}) {
    for (Index j = 0; j < M.cols; ++j) std::fill_n(M.data + j * M.ld, M.rows, Wide<T>{});
  }
  collect_matrix(context_, *host, *problem_.A.A, A.view(m, n).block(0, 0, rows, n));
  collect_rows<T>(context_, *host, problem_.B, B.view(m, s).block(0, 0, rows, s));
  collect_rows<T>(context_, *host, result_.solution.view(), X.view(n, s));
  for (Index i = rows; i < m; ++i) A.view(m, n)(i, i - rows) = options_.damp;
  std::optional<LeastSquaresFit> fit;
  if (here) {
    fit = least_squares_solution(A.view(m, n), B.view(m, s), X.view(n, s),
                                 std::numeric_limits<RealOf<T>>::epsilon());
  }
  if (context_.agree(here && !fit)) {
    return control_.end(SolveStatus::breakdown, "products with A are not finite");
  }
  const bool digits = !here || std::all_of(fit->errors.begin(), fit->errors.end(),
                                           [](double error) { return error <= kNoDigits; });
  MultiVector<T, Space> D(context_, result_.solution.rows(), s);
  send_rounded<T>(context_, *host, X.view(n, s), D.view());
  axpby<T>(context_, -1, result_.solution.view(), 1, D.view());
  add(D.view());
  find_roundings();
  if (context_.agree(!digits)) {
    control_.end(SolveStatus::stagnated,
                 "solved by a dense factorisation, but the condition of A leaves no digits");
  } else if (worst_excess() <= 1) {
    control_.end(SolveStatus::converged, "solved by a dense factorisation");
  } else {
    control_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
  }
}

/// Lists what rounding of x leaves of residuals: 10 ε(‖A‖²‖x‖ + ‖A‖‖b‖), with a bound of ‖A‖₂.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::find_roundings() {
  const auto squared = NormalEquationsOperator<T, Ctx>(context_, problem_.A).one_norm();
  if (!squared) return;
  const double epsilon = 10 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  const std::vector<double> sizes = column_norms_of(result_.solution.view());
  const std::vector<double> given = column_norms_of(problem_.B);
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    roundings_.push_back(epsilon * (*squared * sizes[j] + std::sqrt(*squared) * given[j]));
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LeastSquaresSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
