#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/earlier_parts.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/rectangular/least_squares_solve.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

constexpr int kMaxRounds = 4;

/// A correction aims at this share of what the criterion allows.
constexpr double kMargin = 0.5;

/// Columns that differ in size by more than this are scaled.
constexpr double kUneven = 100;

}  // namespace

template <Scalar T, class Ctx>
LeastSquaresSolve<T, Ctx>::LeastSquaresSolve(Ctx& context,
                                             const LeastSquaresProblem<T, Ctx>& problem,
                                             const LeastSquaresOptions& options,
                                             const Monitor& monitor)
    : context_(context),
      problem_(problem),
      options_(options),
      monitor_(monitor),
      applied_before_(problem.A.columns_applied()),
      algorithm_(problem.A.A->row_range().global < problem.A.A->column_range().global
                     ? CgAlgorithm::pseudo_block
                     : options.algorithm),
      control_(options.max_iterations, options.time_limit_s),
      R_(context, problem.A.A->rows(), problem.B.cols()),
      S_(context, problem.A.A->cols(), problem.B.cols()),
      before_(context, problem.A.A->cols(), problem.B.cols()),
      norms_(context, problem.B.cols(), 1) {
  result_.solution = {context, problem.A.A->cols(), problem.B.cols()};
}

template <Scalar T, class Ctx>
LeastSquaresResult<T, typename Ctx::Space> LeastSquaresSolve<T, Ctx>::run() {
  start();
  const double excess = worst_excess();
  if (!std::isfinite(excess)) {
    control_.end(SolveStatus::breakdown, "a residual is not finite");
  } else if (excess <= 1) {
    control_.end(SolveStatus::converged, "nothing is left to be done");
  } else if (factors_at_once()) {
    factor();
  } else {
    iterate();
    if (factoring_may_help()) {
      control_.reopen();
      factor();
    }
  }
  write_result();
  return std::move(result_);
}

/// Corrections until the criterion holds.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::iterate() {
  NormalEquationsOperator<T, Ctx> F(context_, problem_.A, options_.damp);
  find_scaling();
  for (int round = 1; !control_.ended(); ++round) {
    const double excess = worst_excess();
    if (!std::isfinite(excess)) {
      control_.end(SolveStatus::breakdown, "a residual is not finite");
    } else if (excess <= 1) {
      control_.end(SolveStatus::converged, "all columns converged and passed verification");
    } else if (round > kMaxRounds) {
      control_.end(SolveStatus::stagnated, "corrections do not help any more");
    } else {
      correct(F, kMargin / excess);
    }
  }
}

/// Columns multiplied by A or Aᴴ since the solve began.
template <Scalar T, class Ctx>
Index LeastSquaresSolve<T, Ctx>::applied() const {
  return problem_.A.columns_applied() - applied_before_;
}

/// X ← X₀, or 0 where Aᴴb = 0, S ← Aᴴ(B − A X), and the norms ‖Aᴴb‖.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::start() {
  problem_.A.A_transposed->apply(context_, problem_.B, S_.view());
  scales_ = gradients_ = column_norms_of(S_.view());
  objectives_ = result_.residual_norms = column_norms_of(problem_.B);
  set_zero<T>(context_, result_.solution.view());
  if (problem_.initial_guess.cols() == 0) return;
  copy<T>(context_, problem_.initial_guess, result_.solution.view());
  for (std::size_t j = 0; j < scales_.size(); ++j) {  // x = 0 is the solution where Aᴴb = 0
    if (scales_[j] == 0) set_zero<T>(context_, result_.solution.columns(static_cast<Index>(j), 1));
  }
  measure();
}

/// Finds the weights of columns, where A has no more columns than rows, these differ in size by
/// more than `kUneven`, and A says how large they are.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::find_scaling() {
  const RowRange columns = problem_.A.A->column_range();
  if (problem_.A.A->row_range().global < columns.global) return;
  if (options_.criterion != LinearCriterion::relative) return;
  MultiVector<T, Space> sums(context_, columns.local, 1);
  if (!problem_.A.A_transposed->absolute_row_sums(context_, sums.view())) return;
  OwnedHostContext host(1);
  MultiVector<T, HostSpace> own(*host, columns.local, 1);
  fetch<T>(context_, sums.view(), own.view());
  RealOf<T> least = std::numeric_limits<RealOf<T>>::max();
  RealOf<T> largest = 0;
  for (Index i = 0; i < columns.local; ++i) {
    RealOf<T> sum = real_part(own.view()(i, 0));
    if (sum < std::numeric_limits<RealOf<T>>::min()) sum = 1;  // as good as empty
    sum += static_cast<RealOf<T>>(options_.damp);
    own.view()(i, 0) = sum;
    least = std::min(least, sum);
    largest = std::max(largest, sum);
  }
  if (!context_.agree(largest > kUneven * least)) return;
  weights_ = {context_, columns.local, 1};
  squares_ = {context_, columns.local, 1};
  scaled_ = {context_, columns.local, problem_.B.cols()};
  send<T>(context_, own.view(), sums.view());
  context_.synchronize();  // the copy reads `own` until then
  reciprocals<T>(context_, sums.view(), weights_.view());
  scale_rows<T>(context_, weights_.view(), weights_.view(), squares_.view());
  problem_.A.A_transposed->apply(context_, problem_.B, scaled_.view());
  scale_rows<T>(context_, weights_.view(), scaled_.view(), scaled_.view());
  scaled_scales_ = column_norms_of(scaled_.view());
  scaled_gradients_ = scaled_norms();
}

/// ‖diag(weights) s‖ for all columns.
template <Scalar T, class Ctx>
std::vector<double> LeastSquaresSolve<T, Ctx>::scaled_norms() {
  scale_rows<T>(context_, weights_.view(), S_.view(), scaled_.view());
  return column_norms_of(scaled_.view());
}

/// X ← X + D with (AᴴA + δ²I) D = S to a residual of at most `tolerance`·‖S‖.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::correct(NormalEquationsOperator<T, Ctx>& F, double tolerance) {
  const EarlierParts earlier{result_.iterations, control_.seconds(), applied(),
                             NormalEquationsOperator<T, Ctx>::kProducts};
  LinearSystem<T, Ctx> system;
  system.A = &F;
  ColumnScaling<T, Ctx> scaling(problem_.A.A->column_range(), squares_.view());
  system.preconditioner = problem_.preconditioner;
  if (system.preconditioner == nullptr && !scaled_scales_.empty()) system.preconditioner = &scaling;
  system.B = S_.view();
  BlockCgOptions options = options_;  // without those of least squares
  options.algorithm = algorithm_;
  options.criterion = LinearCriterion::relative;
  options.tolerance = std::min(tolerance, kMargin);
  options.max_iterations = options_.max_iterations - result_.iterations;
  options.time_limit_s = std::max(0.0, control_.seconds_left());
  const Monitor watched = earlier.watch(monitor_);
  const LinearResult<T, Space>& step =
      block_cg<T, Ctx>(context_, system, options, workspace_, watched);
  earlier.append(step.history, result_.history);
  result_.iterations += step.iterations;
  add(step.solution.view());
  if (step.status == SolveStatus::converged || worst_excess() <= 1) return;
  // Where A is rank deficient or nearly so, rounding makes pᴴAᴴA p vanish for some search
  // directions p that the columns share. CG on each column separately meets such directions later.
  const bool shared = algorithm_ == CgAlgorithm::breakdown_free;
  const bool broke_down = step.status == SolveStatus::breakdown ||
                          step.status == SolveStatus::indefinite ||
                          step.status == SolveStatus::stagnated;
  if (!shared || !broke_down) return control_.end(step.status, step.reason);
  algorithm_ = CgAlgorithm::pseudo_block;
}

/// X ← X + D and the norms of its residuals. A column that D makes worse keeps its old value.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::add(ConstBlockView<T, Space> D) {
  const auto X = result_.solution.view();
  copy<T>(context_, X, before_.view());
  const std::vector<double> gradients = gradients_;
  const std::vector<double> norms = objectives_;
  axpby<T>(context_, 1, D, 1, X);
  measure();
  bool all = true;
  for (std::size_t j = 0; j < norms.size(); ++j) {
    if (gradients_[j] <= gradients[j] || objectives_[j] <= norms[j]) continue;
    const auto column = static_cast<Index>(j);
    copy<T>(context_, before_.view().columns(column, 1), X.columns(column, 1));
    all = false;
  }
  if (!all) measure();
}

/// S ← Aᴴ(B − A X) − δ²X, with the norms of S and of B − A X.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::measure() {
  const PhaseScope phase(context_, Phase::verify);
  problem_.A.A->apply(context_, result_.solution.view(), R_.view());
  axpby<T>(context_, 1, problem_.B, -1, R_.view());
  problem_.A.A_transposed->apply(context_, R_.view(), S_.view());
  objectives_ = result_.residual_norms = column_norms_of(R_.view());
  if (options_.damp > 0) {
    const double damp = options_.damp;
    axpby<T>(context_, -damp * damp, result_.solution.view(), 1, S_.view());
    const std::vector<double> sizes = column_norms_of(result_.solution.view());
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      objectives_[j] = std::hypot(objectives_[j], damp * sizes[j]);
    }
  }
  if (!scaled_scales_.empty()) scaled_gradients_ = scaled_norms();
  gradients_ = column_norms_of(S_.view());
}

template <Scalar T, class Ctx>
std::vector<double> LeastSquaresSolve<T, Ctx>::column_norms_of(ConstBlockView<T, Space> X) {
  std::vector<double> norms(static_cast<std::size_t>(X.cols()));
  column_norms<T>(context_, X, norms_.view(X.cols(), 1));
  fetch(context_, norms_.view(X.cols(), 1),
        SmallView<double, HostSpace>{norms.data(), X.cols(), 1, X.cols()});
  return norms;
}

/// The ratio of the residual of column j to what the criterion allows.
template <Scalar T, class Ctx>
double LeastSquaresSolve<T, Ctx>::excess(std::size_t j) const {
  if (gradients_[j] == 0) return 0;
  if (!roundings_.empty() && gradients_[j] <= roundings_[j]) return 1;
  const bool relative = options_.criterion == LinearCriterion::relative;
  const double given = gradients_[j] / (options_.tolerance * (relative ? scales_[j] : 1));
  if (scaled_scales_.empty()) return given;
  return std::max(given, scaled_gradients_[j] / (options_.tolerance * scaled_scales_[j]));
}

/// The largest excess of a column, NaN if one is NaN.
template <Scalar T, class Ctx>
double LeastSquaresSolve<T, Ctx>::worst_excess() const {
  double worst = 0;
  for (std::size_t j = 0; j < gradients_.size(); ++j) keep_worst(worst, excess(j));
  return worst;
}

template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::write_result() {
  for (std::size_t j = 0; j < gradients_.size(); ++j) {
    result_.residuals.push_back(gradients_[j] == 0 ? 0 : gradients_[j] / scales_[j]);
    result_.converged.push_back(excess(j) <= 1);
  }
  result_.operator_applications = applied();
  result_.status = control_.status();
  result_.reason = control_.reason();
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LeastSquaresSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
