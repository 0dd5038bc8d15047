#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/earlier_parts.hpp>
#include <heddle/solvers/rectangular/null_vectors.hpp>
#include <heddle/solvers/rectangular/projected_operator.hpp>
#include <heddle/solvers/rectangular/singular_solve.hpp>
#include <limits>
#include <string_view>
#include <utility>

namespace heddle::detail {
namespace {

constexpr int kMaxRounds = 4;

/// An eigensolver aims at this share of what the criterion allows.
constexpr double kMargin = 0.3;

/// The smallest tolerance that an eigensolver can meet.
template <Scalar T>
constexpr double kLeastTolerance = 4 *
                                   static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

/// The errors of products with AᴴA relative to ‖A‖².
template <Scalar T>
constexpr double kProductErrors = 2 *
                                  static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

/// Triplets are sought behind the larger ones where the last one is this small relative to the
/// first of them: the errors of products shrink by as much.
constexpr double kSmallBeside = 0.1;

constexpr std::string_view kSquaresHide =
    "the normal equations are solved to rounding, which leaves small singular values no digits";

/// Another stream than those of the eigensolvers and of the extraction.
constexpr std::uint64_t kNullStream = 1u << 21;

}  // namespace

template <Scalar T, class Ctx>
SingularSolve<T, Ctx>::SingularSolve(Ctx& context, const AdjointPair<T, Ctx>& pair,
                                     const SingularOptions& options, const Monitor& monitor)
    : context_(context),
      pair_(pair),
      applied_before_(pair.columns_applied()),
      wide_(pair.A->row_range().global < pair.A->column_range().global),
      tall_(wide_ ? pair.transposed() : pair),
      n_(tall_.A->column_range().global),
      route_(singular_route(options, tall_.A->row_range().global, n_)),
      decomposition_{static_cast<double>(tall_.A->row_range().global), static_cast<double>(n_),
                     kComplex<T>},
      options_(options),
      criterion_(options.criterion, options.tolerance),
      monitor_(monitor),
      control_(options.max_iterations, options.time_limit_s),
      U_(context, tall_.A->rows(), options.nev),
      V_(context, tall_.A->cols(), options.nev),
      extraction_(context, tall_, route_ == SingularRoute::dense ? n_ : options.nev, options.seed) {
}

template <Scalar T, class Ctx>
SingularResult<T, typename Ctx::Space> SingularSolve<T, Ctx>::run() {
  route_ == SingularRoute::iterate ? iterate() : solve_dense();
  if (route_ == SingularRoute::iterate && decomposition_may_help()) {
    control_.reopen();
    decompose();
  }
  write_end();
  result_.operator_applications = applied();
  result_.orthogonalization += extraction_.counts();
  result_.left_vectors = std::move(wide_ ? V_ : U_);
  result_.right_vectors = std::move(wide_ ? U_ : V_);
  return std::move(result_);
}

/// The triplets by an eigensolver on AᴴA, and those that are too small relative to ‖A‖₂ for that on
/// A restricted to the vectors orthogonal to the larger ones.
template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::iterate() {
  NormalEquationsOperator<T, Ctx> F(context_, tall_);
  EigenProblem<T, Ctx> problem;
  problem.A = &F;
  double tolerance = kMargin * criterion_.allowed(1, 1);
  if (finds_norm()) {
    F.hide_norm();
  } else {
    const double squared_norm = estimate_squared_norm(problem);
    if (context_.agree(monitor_.stops())) return control_.end(StopControl::kOnRequest);
    if (!std::isfinite(squared_norm)) return (void)end_not_finite();
    result_.norm = std::sqrt(squared_norm);
    tolerance = first_tolerance(F.one_norm(), squared_norm);
  }
  do_rounds(problem, tolerance);
  while (!control_.ended()) deflate();
}

/// Rounds of the eigensolver on `problem`, each with a stricter tolerance and from the vectors of
/// the one before, until the triplets extracted from its vectors pass. Where rounding errors of
/// products with AᴴA keep the last triplets from passing, but not the first ones, `exact_` counts
/// these, and the solve does not end.
template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::do_rounds(EigenProblem<T, Ctx>& problem, double tolerance) {
  const Index wanted = options_.nev - exact_;
  for (int round = 1;; ++round) {
    const double least = kLeastTolerance<T> * noise_ratio();
    tolerance = std::clamp(tolerance, std::min(least, kMargin), kMargin);
    const EigenResult<T, Space>& pairs = solve_eigenproblem(problem, tolerance);
    const Index found = std::ssize(pairs.eigenvalues);
    if (found > 0 && !take_triplets(pairs.eigenvectors.columns(0, found), found)) return;
    // Once all pairs are found, rounding may end a stricter round before its criterion holds, or
    // keep residuals from fresh products from confirming convergence.
    const bool rounding_ended =
        (pairs.status == SolveStatus::stagnated && (round > 1 || exact_ > 0)) ||
        (pairs.status == SolveStatus::verification_failed && found == wanted);
    if (pairs.status != SolveStatus::converged && !rounding_ended) {
      return control_.end(pairs.status, pairs.reason);
    }
    const Index count = resolved_count();
    const bool all_resolved = count == std::ssize(result_.singular_values);
    if (all_resolved && !complete_left_vectors()) return;
    const TripletErrors resolved = errors().leading(count);
    const double value_excess = criterion_.value_excess(resolved);
    // No smaller residual shows values that the squares hide.
    const bool out_of_reach = kMargin * tolerance < least * value_excess;
    const bool last = rounding_ended || out_of_reach || round == kMaxRounds;
    const bool enough = last || value_excess <= 1;
    if (enough && may_deflate()) return;
    if (!all_resolved && !complete_left_vectors()) return;
    if (criterion_.all_pass(errors()) && enough) return end_passed();
    if (rounding_ended || tolerance <= least) {
      return control_.end(SolveStatus::stagnated, kSquaresHide);
    }
    if (round == kMaxRounds) {
      return control_.end(SolveStatus::verification_failed,
                          "the normal equations are solved, the triplets are not");
    }
    tolerance *= kMargin / std::max(value_excess, criterion_.worst_excess(resolved));
    problem.initial_guess = V_.columns(exact_, found);
  }
}

/// The triplets after the first `exact_` ones, by rounds with A (I − VVᴴ), where V holds the right
/// vectors of these. Rounding errors of products with its square are as small as
/// ε‖A‖ ‖A (I − VVᴴ)‖, while those of AᴴA are ε‖A‖².
template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::deflate() {
  const auto V = V_.columns(0, exact_);
  ProjectedOperator<T, Ctx> A(*tall_.A, V, ProjectedSide::argument);
  ProjectedOperator<T, Ctx> At(*tall_.A_transposed, V, ProjectedSide::result);
  NormalEquationsOperator<T, Ctx> F(context_, {&A, &At});
  EigenProblem<T, Ctx> problem;
  problem.A = &F;
  const double squared_norm = estimate_squared_norm(problem);
  if (context_.agree(monitor_.stops())) return control_.end(StopControl::kOnRequest);
  if (!std::isfinite(squared_norm)) return (void)end_not_finite();
  largest_left_ = std::sqrt(squared_norm);
  if (largest_left_ <= criterion_.noise_floor(result_.norm)) {
    bound_values();  // of triplets that are zero to rounding
    return complete_left_vectors() ? end_passed() : void();
  }
  const double digits = criterion_.rounding(result_.norm) / largest_left_;
  problem.initial_guess = V_.columns(exact_, std::ssize(result_.singular_values) - exact_);
  do_rounds(problem, kMargin * std::max(options_.tolerance, digits));
}

/// Ends a solve whose residuals pass.
template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::end_passed() {
  if (!criterion_.all_pass(errors()) || !criterion_.all_have_digits(errors())) {
    return control_.end(SolveStatus::stagnated, kSquaresHide);
  }
  control_.end(SolveStatus::converged, "all triplets converged and passed verification");
}

/// The number of leading triplets next to which AᴴA hides no others.
template <Scalar T, class Ctx>
Index SingularSolve<T, Ctx>::resolved_count() const {
  Index count = 0;
  const TripletErrors all = errors();
  while (count < std::ssize(all.values) && criterion_.resolved(all, count)) ++count;
  return count;
}

/// Whether further triplets are found more exactly behind the leading ones that pass. If so, counts
/// these as `exact_`.
template <Scalar T, class Ctx>
bool SingularSolve<T, Ctx>::may_deflate() {
  const std::vector<double>& sigma = result_.singular_values;
  if (options_.which == Which::smallest || sigma.empty()) return false;
  const Index exact = criterion_.exact(errors());
  if (exact <= exact_ || exact == std::ssize(sigma)) return false;
  const double largest = sigma[static_cast<std::size_t>(exact_)];
  if (sigma.back() > kSmallBeside * largest) return false;
  exact_ = exact;
  return true;
}

/// The errors of products with the square of the operator that is iterated with, relative to its
/// norm, in units of ε.
template <Scalar T, class Ctx>
double SingularSolve<T, Ctx>::noise_ratio() const {
  return exact_ > 0 ? result_.norm / largest_left_ : 1;
}

/// Whether the first cycle of the eigensolver finds ‖AᴴA‖₂, to which its criterion is then
/// relative.
template <Scalar T, class Ctx>
bool SingularSolve<T, Ctx>::finds_norm() const {
  return options_.which == Which::largest && options_.solver != SingularSolver::lobpcg &&
         options_.criterion != Criterion::absolute;
}

/// A lower bound of the largest eigenvalue by one cycle of Lanczos steps. NaN if products are not
/// finite.
template <Scalar T, class Ctx>
double SingularSolve<T, Ctx>::estimate_squared_norm(const EigenProblem<T, Ctx>& problem) {
  BlockLanczosOptions options;
  options.nev = 1;
  options.which = Which::largest;
  options.block_size = 4;
  options.tolerance = kMargin;
  options.max_iterations = 1;
  options.filter = LanczosFilter::none;
  options.seed = options_.seed;
  const auto pairs = block_lanczos(context_, problem, options, monitor_.with_iteration({}));
  if (pairs.eigenvalues.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::max(pairs.eigenvalues.front(), 0.0);
}

/// The tolerance of the first round, from ‖AᴴA‖₁ where it is known and ‖A‖₂². The residual of an
/// eigenpair is σ times that of the triplet. For σ = ‖A‖₂ this tolerance suffices.
template <Scalar T, class Ctx>
double SingularSolve<T, Ctx>::first_tolerance(std::optional<double> one_norm,
                                              double squared_norm) const {
  const double share = one_norm && *one_norm > 0 ? squared_norm / *one_norm : 1;
  const double norm = result_.norm;
  return kMargin * share * (squared_norm > 0 ? criterion_.allowed(norm, norm) / norm : 1);
}

template <Scalar T, class Ctx>
const EigenResult<T, typename Ctx::Space>& SingularSolve<T, Ctx>::solve_eigenproblem(
    const EigenProblem<T, Ctx>& problem, double tolerance) {
  const EarlierParts earlier{result_.iterations, control_.seconds(), applied(),
                             NormalEquationsOperator<T, Ctx>::kProducts};
  const Monitor monitor = earlier.watch(monitor_);
  const auto fill = [&](EigenOptions& options) {
    options = options_;
    options.nev = options_.nev - exact_;
    options.criterion = Criterion::norm;
    options.tolerance = tolerance;
    options.max_iterations = options_.max_iterations - result_.iterations;
    options.time_limit_s = std::max(0.0, control_.seconds_left());
  };
  EigenResult<T, Space>* pairs = nullptr;
  if (options_.solver == SingularSolver::lobpcg) {
    LobpcgOptions options;
    fill(options);
    pairs = &lobpcg(context_, problem, options, lobpcg_workspace_, monitor);
  } else {
    BlockLanczosOptions options;
    fill(options);
    const auto products =
        static_cast<double>(applied()) / NormalEquationsOperator<T, Ctx>::kProducts;
    options.max_applications = std::max(1.0, most_products() - products);
    pairs = &block_lanczos(context_, problem, options, lanczos_workspace_, monitor);
  }
  earlier.append(pairs->history, result_.history);
  result_.iterations += pairs->iterations;
  result_.orthogonalization += pairs->orthogonalization;
  // Squares of small σ may be rounding, so that even all eigenvalues of AᴴA prove nothing of them.
  result_.completeness = {pairs->completeness.method};
  return *pairs;
}

/// Puts the best triplets that the spaces of X and of the first `exact_` vectors hold into the
/// result, `count` in addition to these, with their errors. If they are not finite, ends the solve
/// and returns false.
template <Scalar T, class Ctx>
bool SingularSolve<T, Ctx>::take_triplets(ConstBlockView<T, Space> X, Index count) {
  const Index k = exact_ + count;
  if (exact_ > 0) {
    const auto all = V_.columns(0, k);
    copy<T>(context_, X, V_.columns(exact_, count));
    if (!extraction_.orthonormalize(context_, all, tall_.A->column_range().first)) {
      return end_not_finite();
    }
    X = all;
  }
  if (!extraction_.extract(context_, options_.which, X, U_.columns(0, k), V_.columns(0, k))) {
    return end_not_finite();
  }
  measure();
  return true;
}

template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::measure() {
  const Index count = std::ssize(extraction_.values());
  extraction_.measure(context_, U_.columns(0, count), V_.columns(0, count));
  result_.singular_values = extraction_.values();
  result_.norm = std::max(result_.norm, extraction_.largest());
  result_.orthogonality = extraction_.orthogonality();
  result_.residuals.clear();
  for (const double residual : extraction_.residuals()) {
    result_.residuals.push_back(residual == 0 ? 0 : residual / result_.norm);
  }
  bound_values();
}

/// Bounds the errors of the singular values, which are eigenvalues of [0 A; Aᴴ 0], as −σ are.
template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::bound_values() {
  const std::vector<double>& sigma = result_.singular_values;
  bounds_.clear();
  for (std::size_t j = 0; j < sigma.size(); ++j) bounds_.add(sigma[j], extraction_.residuals()[j]);
  double below = ErrorBounds::kUnknown;
  double above = ErrorBounds::kNoneBeyond;
  if (options_.which == Which::smallest && !sigma.empty()) {
    below = std::max(below, 2 * sigma[0] - extraction_.residuals()[0]);
    above = ErrorBounds::kUnknown;
  }
  bounds_.compute(below, above);
  value_bounds_.clear();
  for (Index j = 0; j < bounds_.size(); ++j) value_bounds_.push_back(bounds_.bound(j));
  // Which of the values that are zero to rounding has which place is open.
  const double noise = criterion_.noise_floor(result_.norm);
  if (exact_ > 0 && largest_left_ <= noise) {
    std::for_each(value_bounds_.begin() + exact_, value_bounds_.end(),
                  [&](double& bound) { bound = std::max(bound, noise); });
  }
  find_resolutions();
}

/// Where the largest are wanted, a missing one may hide in the rounding errors of products with the
/// square of A, or of what is left of A. Those of the exact triplets have been found before.
template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::find_resolutions() {
  const std::vector<double>& sigma = result_.singular_values;
  const bool squared = route_ == SingularRoute::iterate && !decomposed_;
  resolutions_.resize(sigma.size(), 0);
  if (!squared) resolutions_.assign(sigma.size(), 0);
  if (!squared || options_.which == Which::smallest) return;
  const double left = exact_ > 0 ? largest_left_ : result_.norm;
  const double root = std::sqrt(kProductErrors<T>) * std::sqrt(result_.norm) * std::sqrt(left);
  for (std::size_t j = static_cast<std::size_t>(exact_); j < sigma.size(); ++j) {
    resolutions_[j] = hidden_in_squares(sigma[j], root);
  }
}

/// Finds vectors of the longer side for σ near zero where nothing else is missing, from the
/// outermost σ to the last one whose triplet does not pass. If there are none, ends the solve and
/// returns false.
template <Scalar T, class Ctx>
bool SingularSolve<T, Ctx>::complete_left_vectors() {
  if (!criterion_.left_vectors_missing(errors())) return true;
  release_workspaces();
  const Index k = std::ssize(result_.singular_values);
  const bool smallest = options_.which == Which::smallest;
  Index first = 0;
  Index last = k - 1;
  while (smallest && criterion_.passes(errors(), last)) --last;
  while (!smallest && criterion_.passes(errors(), first)) ++first;
  const Index count = last + 1 - first;
  const auto U = U_.columns(first, count);
  const auto known = smallest ? U_.columns(count, k - count) : U_.columns(0, first);
  NullVectorOptions options;
  options.limit = criterion_.allowed(0, result_.norm) / std::sqrt(static_cast<double>(count));
  options.seed = options_.seed;
  options.stream = kNullStream;
  // The search removes the range of A restricted to vectors orthogonal to V. It must not remove the
  // range of A V, which contains the wanted vectors with σ ≠ 0.
  ProjectedOperator<T, Ctx> beside_V(*tall_.A_transposed, V_.columns(0, k));
  const AdjointPair<T, Ctx> others{tall_.A, &beside_V};
  const SolveStatus status = NullVectors<T, Ctx>(context_, others, options, control_, monitor_)
                                 .find(known, U, result_.orthogonalization);
  if (!extraction_.refine(context_, options_.which, first, U, V_.columns(first, count))) {
    return end_not_finite();
  }
  measure();
  if (status == SolveStatus::converged) return true;
  control_.end(status, "vectors of the longer side for singular values near zero were not found");
  return false;
}

/// The errors of the triplets that were measured last.
template <Scalar T, class Ctx>
TripletErrors SingularSolve<T, Ctx>::errors() const {
  return {result_.singular_values, extraction_.residuals(),
          result_.orthogonality,   result_.norm,
          value_bounds_,           resolutions_};
}

/// Columns multiplied by A or Aᴴ since the solve began.
template <Scalar T, class Ctx>
Index SingularSolve<T, Ctx>::applied() const {
  return pair_.columns_applied() - applied_before_;
}

/// Frees the memory of the eigensolver for what follows it.
template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::release_workspaces() {
  lobpcg_workspace_ = {};
  lanczos_workspace_ = {};
}

template <Scalar T, class Ctx>
bool SingularSolve<T, Ctx>::end_not_finite() {
  control_.end(SolveStatus::breakdown, "products with A are not finite");
  return false;
}

template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::write_end() {
  result_.status = control_.status();
  for (std::size_t j = 0; j < value_bounds_.size(); ++j) {
    // Vectors that are orthonormal up to δ change σ by up to δσ.
    const double rounding = TripletCriterion<T>::rounding(result_.norm) +
                            result_.orthogonality * result_.singular_values[j];
    const double bound = value_bounds_[j] + resolutions_[j];
    const double wanted = options_.tolerance * result_.singular_values[j];
    // A solve that has converged has left errors above the tolerance only to rounding.
    const bool rounded =
        result_.status == SolveStatus::converged && options_.criterion == Criterion::eigenvalue;
    result_.error_bounds.push_back(bound + rounding);
    result_.limited_by_rounding.push_back(std::max(bound, rounding) > wanted &&
                                          (rounded || bound <= rounding));
  }
  const std::vector<double>& r = result_.residuals;
  for (Index j = 0; j < std::ssize(r); ++j) {
    result_.converged.push_back(criterion_.passes(errors(), j) &&
                                (decomposed_ || criterion_.has_digits(errors(), j)));
  }
  const double worst =
      r.empty() ? std::numeric_limits<double>::quiet_NaN() : *std::max_element(r.begin(), r.end());
  result_.reason = fmt::format("{}: {} triplets", control_.reason(), r.size());
  write_worst_residual(worst, result_.reason);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class SingularSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
