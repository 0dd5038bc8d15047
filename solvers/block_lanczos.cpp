#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/instantiate.hpp>
#include <heddle/linalg/transfer.hpp>
#include <heddle/solvers/detail/block_lanczos_checks.hpp>
#include <heddle/solvers/detail/block_lanczos_solve.hpp>

namespace heddle {
namespace {

constexpr Index kMaxFailedChecks = 3;
constexpr double kStricter = 0.1;  // what a failed check does to the tolerance

/// ‖F x − θ x‖ relative to the height of θ above what the filter damps, for a Ritz pair at rest.
constexpr double kAtRest = 0.01;

/// Beyond this degree, products with A that measure residuals cost less than steps that need not
/// be.
constexpr int kDegreeWorthMeasuring = 50;

/// max |XᵀBX − I| up to which eigenvectors count as orthonormal.
template <Scalar T>
constexpr double kOrthogonalityLimit = 1e4 * static_cast<double>(std::numeric_limits<T>::epsilon());

}  // namespace

template <Scalar T, class Ctx>
BlockLanczosSolve<T, Ctx>::BlockLanczosSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                             const BlockLanczosOptions& options,
                                             const Monitor& monitor, Storage& storage)
    : context_(context),
      problem_(problem),
      options_(options),
      monitor_(monitor),
      s_(storage),
      basis_(storage.basis),
      ritz_(storage.ritz),
      result_(storage.result),
      applications_before_(problem.A->columns_applied()) {}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::run() {
  if (s_.shape.max_basis == 0) return solve_dense();
  start();  // V₊ᵀBV₊ = I                                                     n×b
  while (!ended_) {
    basis_.multiply(context_, s_.F);  // U = F V₊, S = VᵀBU
    if (cycle_ends()) {
      ritz();  // T Z = Z Θ, ‖F x − θ x‖ = ‖Sᵀz‖                            k×k
      if (finished()) break;
      restart();                           // V ← V Z, T ← Θ, S ← ZᵀS                  n×l
      if (!basis_.multiplied()) continue;  // V₊ is another one
    }
    adopt(basis_.expand(context_, s_.F));  // V ← [V V₊], V₊β ← U − V T₊
  }
  finish();
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::start() {
  basis_.reset(problem_.B, options_.seed);
  s_.F.set_problem(problem_, options_.which);
  adopt(basis_.draw_front(context_, problem_.initial_guess));
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::cycle_ends() {
  return basis_.full() || (basis_.order() > 0 && seconds() >= options_.time_limit_s) ||
         (look_is_cheap() && nothing_is_left());
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::look_is_cheap() const {
  // A look at the Ritz pairs takes some 10 k³ operations, a filtered step at least 4 d n b.
  const auto k = static_cast<double>(basis_.order());
  const double step =
      static_cast<double>(s_.F.degree() * s_.shape.n) * static_cast<double>(basis_.block());
  return s_.F.degree() > 1 && basis_.locked() + basis_.order() >= options_.nev + basis_.block() &&
         5 * k * k * k < step;
}

/// Whether all wanted pairs have converged and, in a check, the next one has come to rest.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::nothing_is_left() {
  if (!solve_ritz()) return false;
  if (checking_) return misses_a_pair() || next_is_at_rest();
  return basis_.locked() + leading_ >= options_.nev;
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::ritz() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  ++result_.iterations;
  if (!solve_ritz()) return end(SolveStatus::breakdown, "products with A or B are not finite");
  has_pairs_ = true;
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::solve_ritz() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  basis_.look(context_);
  if (!ritz_.solve(basis_.T_matrix(), basis_.coupling())) return false;
  for (const Index j : {Index{0}, ritz_.order() - 1}) {
    largest_theta_ = std::max(largest_theta_, std::abs(ritz_.value(j)));
  }
  if (!norms_known_) set_norms();
  count_converged();
  if (s_.F.degree() > kDegreeWorthMeasuring && !checking_) count_measured();
  return true;
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::set_norms() {
  norms_known_ = true;
  if (problem_.B != nullptr) {
    const std::optional<double> known = problem_.B->one_norm();
    norm_B_ = known ? *known : basis_.front_image_norm(context_);
  }
  const std::optional<double> known = problem_.A->one_norm();
  convergence_ = EigenConvergence(options_.criterion, options_.tolerance,
                                  known ? *known : largest_theta_ * norm_B_, norm_B_,
                                  std::numeric_limits<T>::epsilon());
}

template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::residual_of(Index j) const {
  // In the B-inner product ‖x‖ = 1 and ‖C x − λ x‖ = ‖A x − λ B x‖ in that of B⁻¹.
  return norm_B_ * s_.F.residual_bound(ritz_.value(j), ritz_.residual(j));
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::count_converged() {
  s_.values = s_.locked_values;
  s_.residuals = s_.locked_residuals;
  leading_ = 0;
  for (Index j = 0; j < ritz_.order() && std::ssize(s_.values) < options_.nev; ++j) {
    const double lambda = s_.F.eigenvalue(ritz_.value(j));
    const double residual = residual_of(j);
    if (leading_ == j && convergence_.passes(lambda, residual, strictness_)) ++leading_;
    s_.values.push_back(lambda);
    s_.residuals.push_back(residual);
  }
}

/// Takes true residuals for the bounds on them, which a filter of high degree leaves far too large:
/// errors among values that lie close together for A, but not for F, hardly count.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::count_measured() {
  const PhaseScope phase(context_, Phase::verify);
  collect_pairs();
  measure(std::ssize(s_.values));
  if (failure_ != DenseFailure::none) return;
  leading_ = 0;
  for (Index j = 0; j < std::ssize(s_.values); ++j) {
    const auto pair = static_cast<std::size_t>(j);
    s_.values[pair] = s_.verifier.values()[pair];
    s_.residuals[pair] = s_.verifier.residuals()[pair];
    const bool passes = convergence_.passes(s_.values[pair], s_.residuals[pair], strictness_);
    if (basis_.locked() + leading_ >= j && passes) leading_ = j + 1 - basis_.locked();
  }
  leading_ = std::max<Index>(leading_, 0);
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::finished() {
  if (ended_) return true;
  record();
  if (confirmed() && verify()) {
    end(SolveStatus::converged, "all pairs converged and passed verification");
  } else if (failed_checks_ > kMaxFailedChecks) {
    end_unverified();
  } else if (!monitor_agrees()) {
    end(SolveStatus::interrupted, "stopped by the monitor");
  } else if (result_.iterations >= options_.max_iterations) {
    end(SolveStatus::max_iterations, "the iteration limit was reached");
  } else if (seconds() >= options_.time_limit_s) {
    end(SolveStatus::time_limit, "the time limit was reached");
  } else if (stagnation_.stagnated(result_.iterations, worst_residual(),
                                   convergence_.noise_floor())) {
    end(SolveStatus::stagnated, "residuals stopped falling at the level of rounding");
  }
  return ended_.has_value();
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::end_unverified() {
  const std::vector<double>& r = result_.residuals;
  const auto rounding = [&](double residual) { return residual <= convergence_.noise_floor(); };
  if (!r.empty() && std::all_of(r.begin(), r.end(), rounding)) {
    end(SolveStatus::stagnated, "residuals stopped falling at the level of rounding");
  } else {
    end(SolveStatus::verification_failed,
        "the iteration claims convergence, products made afresh do not confirm it");
  }
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::confirmed() {
  if (basis_.locked() + leading_ < options_.nev) return false;
  if (!checking_) {
    check_due_ = true;
    return false;
  }
  check_failed_ = misses_a_pair();
  return !check_failed_ && others_would_show();
}

/// Whether a Ritz value of what is orthogonal to the converged pairs lies among theirs.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::misses_a_pair() const {
  const double worst = s_.values.back();
  const double best = s_.F.eigenvalue(ritz_.value(0));
  return s_.F.turned(best) < s_.F.turned(worst) && !same_value(best, worst);
}

/// Whether two Ritz values differ by no more than their residuals may, or rounding.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::same_value(double a, double b) const {
  const double distance = norm_B_ * std::abs(a - b);
  return convergence_.passes(a, distance) ||
         convergence_.scaled(a, distance) <= convergence_.noise_floor();
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::others_would_show() const {
  // A Krylov space of b random vectors holds b directions of each eigenspace. Where it showed
  // fewer, there are no more; else the random block must have come to rest beyond the wanted pairs.
  Index copies = 1;
  Index most = 1;
  for (std::size_t j = 1; j < s_.values.size(); ++j) {
    copies = same_value(s_.values[j], s_.values[j - 1]) ? copies + 1 : 1;
    most = std::max(most, copies);
  }
  return most < basis_.block() || next_is_at_rest();
}

/// Whether the leading Ritz pair beside the locked ones will not move any more by as much as would
/// count: errors of Ritz values are squares of those of their vectors.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::next_is_at_rest() const {
  if (s_.F.degree() > 1) return ritz_.residual(0) <= kAtRest * (ritz_.value(0) - 1);
  return convergence_.scaled(s_.F.eigenvalue(ritz_.value(0)), residual_of(0)) <=
         std::sqrt(options_.tolerance);
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::restart() {
  has_pairs_ = false;
  if (check_due_) return begin_check();
  if (check_failed_) return give_up_check();
  if (improve_filter()) return;
  const Index k = basis_.order();
  const Index b = basis_.block();
  const Index room = basis_.max_basis() - basis_.locked();
  const Index keep = leading_ + (k - leading_) / 2;
  const Index kept = room - (room - keep + b - 1) / b * b;  // whole blocks fill the rest
  basis_.restart(context_, ritz_.Z(kept), ritz_.theta(kept));
  lock_exact(kept);
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::lock_exact(Index kept) {
  if (checking_) return;
  const double rounding = std::numeric_limits<T>::epsilon() * largest_theta_;
  const Index most = std::min({leading_, kept, options_.nev - basis_.locked()});
  Index j = 0;
  for (; j < most && ritz_.residual(j) <= rounding; ++j) {
    s_.locked_values.push_back(s_.F.eigenvalue(ritz_.value(j)));
    s_.locked_residuals.push_back(residual_of(j));
  }
  if (j > 0) basis_.lock(context_, j);
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::begin_check() {
  check_due_ = false;
  checking_ = true;
  stagnation_.restart(result_.iterations);
  const Index active = options_.nev - basis_.locked();
  basis_.restart(context_, ritz_.Z(active), ritz_.theta(active));
  basis_.lock(context_, active);
  s_.locked_values = s_.values;
  s_.locked_residuals = s_.residuals;
  adopt(basis_.draw_front(context_));
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::give_up_check() {
  check_failed_ = checking_ = false;
  const Index kept = basis_.order() / 2;
  basis_.restart(context_, ritz_.Z(kept), ritz_.theta(kept));
  for (double& value : s_.locked_values) value = s_.F.image(value);
  basis_.unlock(s_.locked_values);
  s_.locked_values.clear();
  s_.locked_residuals.clear();
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::improve_filter() {
  if (options_.filter == LanczosFilter::none || checking_) return false;
  LanczosOperator<T, Ctx>& F = s_.F;
  const Index k = ritz_.order();
  const Index guards = std::max<Index>(2, options_.nev / 4);
  const Index last = std::min(options_.nev - basis_.locked() + guards, k) - 1;
  // Ritz values lie above the eigenvalues of their rank: at least last + 1 of these are below this.
  const double wanted = F.turned(s_.values.front());
  const double upper = F.degree() > 1 ? F.upper() : upper_end();
  if (!F.narrow(wanted, F.position(ritz_.value(last)), upper)) return false;
  largest_theta_ = 0;
  adopt(basis_.combine_front(context_, ritz_.combination(last + 1, basis_.block())));
  return true;
}

/// The far end of the spectrum: the last Ritz value and the largest residual beyond it. Source:
/// Zhou & Li, SIAM J. Matrix Anal. Appl. 32 (2011) 480.
template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::upper_end() const {
  double beyond = 0;
  for (Index j = 0; j < ritz_.order(); ++j) beyond = std::max(beyond, ritz_.residual(j));
  const double end = s_.F.position(ritz_.value(ritz_.order() - 1) - beyond);
  const std::optional<double> norm = problem_.A->one_norm();
  return problem_.B == nullptr && norm ? std::min(end, *norm) : end;
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::collect_pairs() {
  const Index locked = std::min(basis_.locked(), options_.nev);
  const Index active = std::min(options_.nev - locked, basis_.order());
  const Block V = result_.eigenvectors.columns(0, locked + active);
  copy<T>(context_, basis_.locked_vectors().columns(0, locked), V.columns(0, locked));
  const SmallView<Space> Z = s_.coefficients.view(basis_.order(), active);
  send(context_, ritz_.Z(active), Z);
  multiply<T>(context_, 1, basis_.V(), Z, 0, V.columns(locked, active));
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::verify() {
  const PhaseScope phase(context_, Phase::verify);
  collect_pairs();
  const bool passes = measure(std::ssize(s_.values));
  if (!passes) {
    ++failed_checks_;
    check_failed_ = checking_;
    strictness_ *= kStricter;
  }
  return passes;
}

/// A Rayleigh–Ritz step over the first `count` vectors of the result and the residuals of its
/// wanted pairs: whether all pass.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::measure(Index count) {
  const Block V = result_.eigenvectors.columns(0, count);
  const Block AV = s_.F.scratch(context_);
  const Block BV = basis_.scratch();
  result_.eigenvalues.clear();
  result_.residuals.clear();
  measured_ = true;
  failure_ = s_.verifier.rayleigh_ritz(context_, problem_, options_.which, V, AV, BV);
  if (failure_ != DenseFailure::none) return false;
  const Index wanted = std::min(count, options_.nev);
  s_.verifier.measure(context_, problem_, V.columns(0, wanted), AV, BV);
  bool passes = s_.verifier.orthogonality() <= kOrthogonalityLimit<T>;
  for (std::size_t j = 0; j < static_cast<std::size_t>(wanted); ++j) {
    const double lambda = s_.verifier.values()[j];
    const double r = s_.verifier.residuals()[j];
    passes = passes && convergence_.passes(lambda, r);
    result_.eigenvalues.push_back(lambda);
    result_.residuals.push_back(convergence_.scaled(lambda, r));
  }
  result_.orthogonality = s_.verifier.orthogonality();
  return passes;
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::solve_dense() {
  basis_.reset(problem_.B, options_.seed);
  set_identity(context_, result_.eigenvectors.view());
  const auto norm = [](LinearOperator<T, Ctx>* op) {
    return op == nullptr ? 1.0 : op->one_norm().value_or(0.0);
  };
  convergence_ = EigenConvergence(options_.criterion, options_.tolerance, norm(problem_.A),
                                  norm(problem_.B), std::numeric_limits<T>::epsilon());
  const bool passes = measure(s_.shape.n);
  leading_ = passes ? options_.nev : 0;
  record();
  if (passes) {
    end(SolveStatus::converged, "solved as a dense problem");
  } else if (result_.eigenvalues.empty()) {
    end(failure_ == DenseFailure::indefinite ? SolveStatus::indefinite : SolveStatus::breakdown,
        "the dense problem has no solution: B is not positive definite, or A not finite");
  } else {
    end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
  }
  finish();
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::record() {
  IterationRecord now;
  now.iteration = result_.iterations;
  now.converged = std::min(options_.nev, basis_.locked() + leading_);
  now.worst_residual = worst_residual();
  now.seconds = seconds();
  now.active_columns = basis_.block();
  now.operator_applications = problem_.A->columns_applied() - applications_before_;
  result_.history.push_back(now);
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::monitor_agrees() {
  if (!monitor_) return true;
  s_.scaled_residuals.clear();
  for (std::size_t j = 0; j < s_.values.size(); ++j) {
    s_.scaled_residuals.push_back(convergence_.scaled(s_.values[j], s_.residuals[j]));
  }
  return monitor_({result_.history.back(), options_.nev, s_.values, s_.scaled_residuals});
}

template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::worst_residual() const {
  double worst = 0;
  for (std::size_t j = 0; j < s_.values.size(); ++j) {
    worst = std::max(worst, convergence_.scaled(s_.values[j], s_.residuals[j]));
  }
  return worst;
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::adopt(const FrontStatus& status) {
  if (status.indefinite) {
    end(SolveStatus::indefinite, "B is not positive definite: x'Bx < 0 was met");
  } else if (!status.finite) {
    end(SolveStatus::breakdown, "products with A or B are not finite");
  }
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::end(SolveStatus status, std::string_view reason) {
  if (ended_) return;
  ended_ = status;
  reason_ = reason;
}

template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::finish() {
  if (!measured_ && has_pairs_) verify();
  result_.status = *ended_;
  result_.orthogonalization = basis_.counts();
  result_.operator_applications = problem_.A->columns_applied() - applications_before_;
  const Index converged = result_.history.empty() ? 0 : result_.history.back().converged;
  const double worst = result_.residuals.empty()
                           ? std::numeric_limits<double>::quiet_NaN()
                           : *std::max_element(result_.residuals.begin(), result_.residuals.end());
  result_.reason.clear();
  fmt::format_to(std::back_inserter(result_.reason),
                 "{}: {} of {} pairs converged in {} cycles, worst residual {:.2e}", reason_,
                 converged, options_.nev, result_.iterations, worst);
}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space>& block_lanczos(Ctx& context,
                                                   const EigenProblem<T, Ctx>& problem,
                                                   const BlockLanczosOptions& options,
                                                   BlockLanczosWorkspace<T, Ctx>& workspace,
                                                   const Monitor& monitor) {
  using Storage = typename BlockLanczosWorkspace<T, Ctx>::Storage;
  check_block_lanczos(problem, options);
  const BlockLanczosShape shape =
      block_lanczos_shape(options, problem.A->rows(), problem.B != nullptr);
  std::unique_ptr<Storage>& storage = workspace.storage();
  if (!storage || storage->context != &context || storage->shape != shape) {
    storage.reset();
    storage = std::make_unique<Storage>(context, shape);
  }
  storage->reset();
  BlockLanczosOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  BlockLanczosSolve<T, Ctx>(context, problem, complete, monitor, *storage).run();
  return storage->result;
}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> block_lanczos(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                                  const BlockLanczosOptions& options,
                                                  const Monitor& monitor) {
  BlockLanczosWorkspace<T, Ctx> workspace;
  return std::move(block_lanczos(context, problem, options, workspace, monitor));
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                   \
  template EigenResult<T, typename Ctx::Space>& block_lanczos(       \
      Ctx&, const EigenProblem<T, Ctx>&, const BlockLanczosOptions&, \
      BlockLanczosWorkspace<T, Ctx>&, const Monitor&);               \
  template EigenResult<T, typename Ctx::Space> block_lanczos(        \
      Ctx&, const EigenProblem<T, Ctx>&, const BlockLanczosOptions&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
