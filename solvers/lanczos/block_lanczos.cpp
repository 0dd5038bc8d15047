#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/solve_identity.hpp>
#include <heddle/solvers/lanczos/checks.hpp>
#include <heddle/solvers/lanczos/solve.hpp>
#include <numeric>
#include <utility>

namespace heddle {
namespace {

/// Beyond this degree, products with A that measure residuals cost less than steps that need not
/// be.
constexpr int kDegreeWorthMeasuring = 50;

/// How much further from the smallest eigenvalue σ moves once products refute what an inverse told.
constexpr double kRetreat = 100;

/// Seconds beyond the time limit in which a step may still be finished. Where a checkpoint is kept,
/// it may take as long as it needs: one is written at the end of a step only.
constexpr double kGrace = 1;

/// Distance to the next Ritz value of an inverse, in units of the value, that is allowed for.
constexpr double kLeastGap = 0.01;

template <Scalar T, class Ctx>
std::vector<std::string> identity(const EigenProblem<T, Ctx>& problem,
                                  const BlockLanczosOptions& options,
                                  const BlockLanczosShape& shape) {
  std::vector<std::string> facts = eigen_identity("block_lanczos", problem, options, shape.block);
  if (facts.empty()) return facts;
  facts.push_back(fact("max_basis", shape.max_basis));
  facts.push_back(fact("filter", static_cast<int>(options.filter)));
  facts.push_back(operator_fact("inverse of B", problem.B_inverse));
  facts.push_back(operator_fact<T, Ctx>("shifted inverse", problem.shifted_inverse));
  return facts;
}

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
      ending_(options.max_iterations, options.time_limit_s),
      checkpointer_(options.checkpoint, identity(problem, options, storage.shape)),
      applications_before_(problem.A->columns_applied()),
      inverse_applications_before_(inverse_applications()) {}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::run() {
  if (s_.shape.max_basis == 0) return solve_dense();
  // V₊ᵀBV₊ = I                                                           n×b
  for (bool resumed = start(); !ending_.ended(); resumed = false) {
    if (!resumed) basis_.multiply(context_, s_.F);  // U = F V₊, S = VᵀBU
    if (s_.F.stopped()) {
      abandon_step();
      break;
    }
    if (resumed ? cycle_complete_ : cycle_ends()) {
      note();  // for a checkpoint
      ritz();  // T Z = Z Θ, ‖F x − θ x‖ = ‖Sᵀz‖                            k×k
      if (finished()) break;
      restart();  // V ← V Z, T ← Θ, S ← ZᵀS                  n×l
      if (ending_.ended() || !basis_.multiplied()) continue;  // V₊ is another one
    }
    adopt(basis_.expand(context_, s_.F));  // V ← [V V₊], V₊β ← U − V T₊
  }
  finish();
}

/// Whether it goes on from a checkpoint, where `multiply` has just been done.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::start() {
  basis_.reset(problem_.B, options_.seed);
  s_.F.set_problem(problem_, options_.which);
  s_.F.set_stop([this] {
    return options_.checkpoint.file.empty() && ending_.less_time_left_than(context_, -kGrace);
  });
  if (checkpointer_.resumes()) {
    checkpointer_.resume(
        context_, result_.history, [&](Archive& numbers) { archive(numbers); },
        [&](const auto& visit) { basis_.for_each(visit); });
    return true;
  }
  adopt(basis_.draw_front(context_, problem_.initial_guess));
  const bool divides = problem_.B == nullptr || problem_.B_inverse != nullptr;
  if (divides || ending_.ended()) return false;
  set_norms();
  invert(0, norm_of_C());
  return false;
}

/// Ends for want of time in the midst of a product, with the Ritz pairs of the steps before.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::abandon_step() {
  ending_.end(SolveStatus::time_limit, "the time limit was reached");
  has_pairs_ = basis_.order() > 0 && solve_ritz();
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::note() {
  basis_.look(context_);
  checkpointer_.capture(result_.history, [&](Archive& numbers) { archive(numbers); });
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::cycle_ends() {
  cycle_complete_ = basis_.full() || (look_is_cheap() && nothing_is_left());
  return cycle_complete_ || (basis_.order() > 0 && ending_.out_of_time(context_));
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::look_is_cheap() const {
  // A look at the Ritz pairs takes some 10 k³ operations, a step at least 4 n b for each product.
  const auto k = static_cast<double>(basis_.order());
  const double step =
      s_.F.effort() * static_cast<double>(s_.shape.n) * static_cast<double>(basis_.block());
  return s_.F.effort() > 1 && basis_.locked() + basis_.order() >= options_.nev + basis_.block() &&
         5 * k * k * k < step;
}

/// Whether all wanted pairs have converged and, in a check that has found none, the next one has
/// come to rest.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::nothing_is_left() {
  if (!solve_ritz()) return false;
  if (const Index others = missed(); others > 0) return leading_ == others;
  if (checking_) return next_is_at_rest();
  return basis_.locked() + leading_ >= options_.nev;
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::ritz() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  ++result_.iterations;
  if (!solve_ritz()) {
    return ending_.end(SolveStatus::breakdown, "products with A or B are not finite");
  }
  has_pairs_ = true;
  if (!s_.F.inverts() && s_.F.degree() == 1) far_end_ = std::max(far_end_, upper_end());
  if (measured_ ? beyond_interval() : leads_beyond_interval()) {
    next_ = AfterCycle::start_again;
  } else {
    next_ = shift_is_too_near() ? AfterCycle::lower_shift : AfterCycle::thick_restart;
  }
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::solve_ritz() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  basis_.look(context_);
  measured_ = false;
  if (!ritz_.solve(basis_.T_matrix(), basis_.coupling())) return false;
  for (const Index j : {Index{0}, ritz_.order() - 1}) {
    largest_theta_ = std::max(largest_theta_, std::abs(ritz_.value(j)));
  }
  if (!norms_known_) set_norms();
  count_converged();
  if (worth_measuring()) count_measured();
  return true;
}

/// Where they are not known, ‖A‖₁ and ‖B‖₁ follow from what there is: products with the whole
/// space, Ritz values, or products with the front.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::set_norms() {
  norms_known_ = true;
  const bool dense = s_.shape.max_basis == 0;
  if (problem_.B != nullptr) {
    const std::optional<double> known = problem_.B->one_norm();
    norm_B_ = known   ? *known
              : dense ? s_.verifier.projected_norm_B()
                      : basis_.front_image_norm(context_, *problem_.B);
  }
  if (const std::optional<double> known = problem_.A->one_norm()) {
    norm_A_ = *known;
  } else if (dense) {
    norm_A_ = s_.verifier.projected_norm_A();
  } else {
    norm_A_ = basis_.order() > 0 ? largest_theta_ * norm_B_
                                 : basis_.front_image_norm(context_, *problem_.A);
  }
  convergence_ = EigenConvergence(options_.criterion, options_.tolerance, norm_A_, norm_B_,
                                  std::numeric_limits<T>::epsilon());
}

/// About ‖B⁻¹A‖.
template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::norm_of_C() const {
  return norm_B_ > 0 ? norm_A_ / norm_B_ : norm_A_;
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
  const Index wanted = checking_ ? missed() : options_.nev - basis_.locked();
  for (Index j = 0; j < std::min(ritz_.order(), wanted); ++j) {
    const double lambda = s_.F.eigenvalue(ritz_.value(j));
    const double residual = residual_of(j);
    const bool rests = !s_.F.inverts() || settled(j);
    if (leading_ == j && rests && convergence_.passes(lambda, residual, strictness_)) ++leading_;
    s_.values.push_back(lambda);
    s_.residuals.push_back(residual);
  }
}

/// The wanted value at hand that lies nearest to the wanted end; pairs that were locked early need
/// not be the first.
template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::first_value() const {
  return *std::min_element(s_.values.begin(), s_.values.end(),
                           [&](double a, double b) { return s_.F.turned(a) < s_.F.turned(b); });
}

/// The one that lies farthest from it.
template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::last_value() const {
  return *std::max_element(s_.values.begin(), s_.values.end(),
                           [&](double a, double b) { return s_.F.turned(a) < s_.F.turned(b); });
}

/// Whether the bounds on residuals are too large and to measure them is cheap beside a step. Under
/// a filter of high degree, errors among values that lie close together for A, but not for F,
/// hardly count. Under an inverse, rounding in what lies near the wanted end hardly does.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::worth_measuring() const {
  if (checking_) return false;
  if (!s_.F.inverts()) return s_.F.degree() > kDegreeWorthMeasuring;
  if (!basis_.full()) return false;  // steps may still make the bounds small enough
  const Index active = options_.nev - basis_.locked();
  if (leading_ >= active || active > ritz_.order()) return false;
  Index j = leading_;
  while (j < active && settled(j)) ++j;
  return j == active;
}

/// Whether the value of a pair of an inverse will not move by more than the tolerance or rounding,
/// relative to its distance from σ: the error of a Ritz value is ρ²/gap for a residual ρ, and gaps
/// down to kLeastGap θ are allowed for.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::settled(Index j) const {
  const double theta = ritz_.value(j);
  const double rounding = convergence_.noise_floor() * s_.F.condition(theta);
  const double fine = std::sqrt(kLeastGap * options_.tolerance);
  return ritz_.residual(j) <= std::max(fine, rounding) * theta;
}

/// Takes true residuals for the bounds on them.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::count_measured() {
  const PhaseScope phase(context_, Phase::verify);
  collect_pairs();
  measure(std::ssize(s_.values));
  if (failure_ != DenseFailure::none) return;
  leading_ = 0;
  for (Index j = 0; j < std::ssize(s_.values); ++j) {
    const auto pair = static_cast<std::size_t>(j);
    if (!s_.F.inverts()) s_.values[pair] = s_.verifier.values()[pair];  // else θ is more accurate
    s_.residuals[pair] = s_.verifier.residuals()[pair];
    const bool passes = convergence_.passes(s_.values[pair], s_.residuals[pair], strictness_);
    if (basis_.locked() + leading_ >= j && passes) leading_ = j + 1 - basis_.locked();
  }
  leading_ = std::max<Index>(leading_, 0);
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::restart() {
  has_pairs_ = false;
  switch (std::exchange(next_, AfterCycle::thick_restart)) {
    case AfterCycle::start_again:
      return start_again();
    case AfterCycle::lower_shift:
      return lower_shift(1);
    case AfterCycle::retreat:
      return lower_shift(kRetreat);
    case AfterCycle::begin_check:
      return begin_check();
    case AfterCycle::reopen:
      return reopen();
    case AfterCycle::thick_restart:
      break;
  }
  if (improve_operator()) return;
  const Index k = basis_.order();
  const Index b = basis_.block();
  const Index room = basis_.max_basis() - basis_.locked();
  const Index keep = leading_ + (k - leading_) / 2;
  const Index kept = room - (room - keep + b - 1) / b * b;  // whole blocks fill the rest
  basis_.restart(context_, ritz_.Z(kept), ritz_.theta(kept));
  lock_exact(kept);
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::adopt(const FrontStatus& status) {
  if (status.indefinite) {
    ending_.end(SolveStatus::indefinite, "B is not positive definite: x'Bx < 0 was met");
  } else if (!status.finite) {
    ending_.end(SolveStatus::breakdown, "products with A or B are not finite");
  }
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

/// Locks the leading pairs, all that were still wanted or that the last check found.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::begin_check() {
  const Index found = std::ssize(s_.values) - basis_.locked();
  checking_ = true;
  stagnation_.restart(result_.iterations);
  basis_.restart(context_, ritz_.Z(found), ritz_.theta(found));
  basis_.lock(context_, found);
  s_.locked_values = s_.values;
  s_.locked_residuals = s_.residuals;
  keep_best_locked();
  adopt(basis_.draw_front(context_));
}

/// Sorts the locked pairs and drops those that are not wanted.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::keep_best_locked() {
  std::vector<double>& values = s_.locked_values;
  const auto better = [&](double a, double b) { return s_.F.turned(a) < s_.F.turned(b); };
  const bool sorted = std::is_sorted(values.begin(), values.end(), better);
  if (sorted && std::ssize(values) == options_.nev) return;
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto value = [&](Index j) { return values[static_cast<std::size_t>(j)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return better(value(i), value(j)); });
  order.resize(static_cast<std::size_t>(options_.nev));
  basis_.keep_locked(context_, order);
  for (std::vector<double>* list : {&values, &s_.locked_residuals}) {
    const std::vector<double> all = *list;
    list->clear();
    for (const Index j : order) list->push_back(all[static_cast<std::size_t>(j)]);
  }
}

/// What fresh products refuted is the next front, what they confirmed stays locked. The basis that
/// told of them is gone; so would be what it misses of them if they joined another one.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::reopen() {
  const Block X = result_.eigenvectors.columns(0, options_.nev);
  s_.locked_values.clear();
  s_.locked_residuals.clear();
  basis_.clear();
  Index refuted = 0;
  for (Index j = 0; j < options_.nev; ++j) {
    const double lambda = s_.verifier.values()[static_cast<std::size_t>(j)];
    const double residual = s_.verifier.residuals()[static_cast<std::size_t>(j)];
    const ConstBlockView<T, Space> x = X.columns(j, 1);
    if (convergence_.passes(lambda, residual)) {
      basis_.lock(context_, x);
      s_.locked_values.push_back(lambda);
      s_.locked_residuals.push_back(residual);
    } else if (const Index place = refuted++; place != j) {
      copy<T>(context_, x, X.columns(place, 1));
    }
  }
  checking_ = refuted == 0;  // else nothing is left to iterate on
  stagnation_.restart(result_.iterations);
  adopt(basis_.draw_front(context_, X.columns(0, refuted)));
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
  template class BlockLanczosSolve<T, Ctx>;                          \
  template EigenResult<T, typename Ctx::Space>& block_lanczos(       \
      Ctx&, const EigenProblem<T, Ctx>&, const BlockLanczosOptions&, \
      BlockLanczosWorkspace<T, Ctx>&, const Monitor&);               \
  template EigenResult<T, typename Ctx::Space> block_lanczos(        \
      Ctx&, const EigenProblem<T, Ctx>&, const BlockLanczosOptions&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
