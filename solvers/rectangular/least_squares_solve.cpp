#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/earlier_parts.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/rectangular/least_squares_solve.hpp>
#include <utility>

namespace heddle::detail {
namespace {

constexpr int kMaxRounds = 4;

/// A correction aims at this share of what the criterion allows.
constexpr double kMargin = 0.5;

}  // namespace

template <Scalar T, class Ctx>
LeastSquaresSolve<T, Ctx>::LeastSquaresSolve(Ctx& context,
                                             const LeastSquaresProblem<T, Ctx>& problem,
                                             const BlockCgOptions& options, const Monitor& monitor)
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
  NormalEquationsOperator<T, Ctx> F(context_, problem_.A);
  start();
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
  write_result();
  return std::move(result_);
}

/// Columns multiplied by A or Aᵀ since the solve began.
template <Scalar T, class Ctx>
Index LeastSquaresSolve<T, Ctx>::applied() const {
  return problem_.A.columns_applied() - applied_before_;
}

/// X ← X₀, or 0 where Aᵀb = 0, S ← Aᵀ(B − A X), and the norms ‖Aᵀb‖.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::start() {
  problem_.A.A_transposed->apply(context_, problem_.B, S_.view());
  scales_ = gradients_ = column_norms_of(S_.view());
  result_.residual_norms = column_norms_of(problem_.B);
  set_zero(context_, result_.solution.view());
  if (problem_.initial_guess.cols() == 0) return;
  copy(context_, problem_.initial_guess, result_.solution.view());
  for (std::size_t j = 0; j < scales_.size(); ++j) {  // x = 0 is the solution where Aᵀb = 0
    if (scales_[j] == 0) set_zero(context_, result_.solution.columns(static_cast<Index>(j), 1));
  }
  measure();
}

/// X ← X + D with AᵀA D = S to a residual of at most `tolerance`·‖S‖.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::correct(NormalEquationsOperator<T, Ctx>& F, double tolerance) {
  const EarlierParts earlier{result_.iterations, control_.seconds(), applied(),
                             NormalEquationsOperator<T, Ctx>::kProducts};
  LinearSystem<T, Ctx> system;
  system.A = &F;
  system.preconditioner = problem_.preconditioner;
  system.B = S_.view();
  BlockCgOptions options = options_;
  options.algorithm = algorithm_;
  options.criterion = LinearCriterion::relative;
  options.tolerance = std::min(tolerance, kMargin);
  options.max_iterations = options_.max_iterations - result_.iterations;
  options.time_limit_s = std::max(0.0, control_.seconds_left());
  const Monitor watched = earlier.watch(monitor_);
  const LinearResult<T, Space>& step = block_cg(context_, system, options, workspace_, watched);
  earlier.append(step.history, result_.history);
  result_.iterations += step.iterations;
  add(step.solution.view());
  if (step.status == SolveStatus::converged || worst_excess() <= 1) return;
  // Where A is rank deficient or nearly so, rounding makes pᵀAᵀA p vanish for some search
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
  const std::vector<double> norms = result_.residual_norms;
  axpby<T>(context_, 1, D, 1, X);
  measure();
  bool all = true;
  for (std::size_t j = 0; j < norms.size(); ++j) {
    if (gradients_[j] <= gradients[j] || result_.residual_norms[j] <= norms[j]) continue;
    const auto column = static_cast<Index>(j);
    copy<T>(context_, before_.view().columns(column, 1), X.columns(column, 1));
    all = false;
  }
  if (!all) measure();
}

/// S ← Aᵀ(B − A X), with the norms of S and of B − A X.
template <Scalar T, class Ctx>
void LeastSquaresSolve<T, Ctx>::measure() {
  const PhaseScope phase(context_, Phase::verify);
  problem_.A.A->apply(context_, result_.solution.view(), R_.view());
  axpby<T>(context_, 1, problem_.B, -1, R_.view());
  problem_.A.A_transposed->apply(context_, R_.view(), S_.view());
  result_.residual_norms = column_norms_of(R_.view());
  gradients_ = column_norms_of(S_.view());
}

template <Scalar T, class Ctx>
std::vector<double> LeastSquaresSolve<T, Ctx>::column_norms_of(ConstBlockView<T, Space> X) {
  std::vector<double> norms(static_cast<std::size_t>(X.cols()));
  column_norms(context_, X, norms_.view(X.cols(), 1));
  fetch(context_, norms_.view(X.cols(), 1),
        SmallView<double, HostSpace>{norms.data(), X.cols(), 1, X.cols()});
  return norms;
}

/// The ratio of ‖Aᵀ(b − A x)‖ of column j to what the criterion allows.
template <Scalar T, class Ctx>
double LeastSquaresSolve<T, Ctx>::excess(std::size_t j) const {
  if (gradients_[j] == 0) return 0;
  const bool relative = options_.criterion == LinearCriterion::relative;
  return gradients_[j] / (options_.tolerance * (relative ? scales_[j] : 1));
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
