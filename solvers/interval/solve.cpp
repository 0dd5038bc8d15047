#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/interval/memory.hpp>
#include <heddle/solvers/interval/solve.hpp>
#include <utility>

/// The loop and its steps. The plan is in plan.cpp, the end in ending.cpp.
namespace heddle::detail {
namespace {

/// The solve ends with this many refuted claims of convergence.
constexpr Index kMostRefuted = 4;
constexpr double kStricter = 0.1;  // factor on residuals after each

/// After a test, the basis grows by this share before the next one.
constexpr Index kTestShare = 12;

/// The blocks before the first test of a check.
constexpr Index kBlocksOfCheck = 3;

/// The free columns that a round needs at least.
constexpr Index kRoomOfRound = 6;

/// Residuals that shrink by less between two restarts call for a sharper filter.
constexpr double kSlow = 0.3;

/// Where the estimated ends of the spectrum are wrong, it is widened by this share.
constexpr double kWidening = 0.1;

}  // namespace

template <Scalar T, class Ctx>
IntervalSolve<T, Ctx>::IntervalSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                     const IntervalOptions& options, const Monitor& monitor)
    : context_(context),
      problem_(problem),
      options_(options),
      rows_(problem.A->row_range()),
      applications_before_(problem.A->columns_applied()),
      engine_(context, options, {}, monitor, result_.history, kMostRefuted) {}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> IntervalSolve<T, Ctx>::run() {
  plan();  // F, V₊ random                                                 n×b
  while (!engine_.ended()) {
    multiply();  // U = F V₊, S = VᵀU                                      n×b
    if (engine_.ended()) break;
    if (test_is_due()) {
      ritz();  // T Z = Z Θ, X ← [found V Z], XᵀA X = Λ, ‖A x − λ x‖       k×k
      if (engine_.ended()) break;
      engine_.finish_iteration(*this,
                               "all pairs of the interval converged and passed verification");
      if (engine_.ended()) break;
      restart();  // another round, or V ← V Z if V is full                n×l
      if (engine_.ended() || !f_->V.multiplied()) continue;
    }
    expand();  // V ← [V V₊], V₊β ← U − V T₊                               n×b
  }
  finish();
  return std::move(result_);
}

/// U ← F V₊. A product that is stopped ends the solve with the Ritz pairs of the earlier steps. In
/// a dense solve there is none.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::multiply() {
  if (!f_) return;
  f_->V.multiply(context_, f_->F);
  if (!f_->F.stopped()) return;
  f_->V.abandon_product();
  if (f_->V.order() > 0) {
    ritz();
    if (!engine_.ended()) engine_.append_record(*this);
  }
  engine_.end_as_requested();
}

template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::test_is_due() const {
  if (!f_) return true;
  const Index k = f_->V.order();
  return k > 0 && (f_->V.full() || k >= next_test_ || engine_.stop_requested());
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::ritz() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  ++result_.iterations;
  if (f_) {
    KrylovBasis<T, Ctx>& V = f_->V;
    V.fetch_column(context_);
    if (!f_->ritz.solve(V.projected().T(), V.projected().column())) {
      return engine_.end(SolveStatus::breakdown, "products with A are not finite");
    }
    candidates_.take(f_->ritz, f_->F.level(), (V.order() - kept_) / f_->block);
    next_test_ = V.order() + std::max(f_->block, V.order() / kTestShare);
  }
  measure();
}

/// X ← the locked candidates and those of the basis, Ritz pairs of A in their span, and their
/// residuals from fresh products. Eigenvectors on both sides of the interval, which F hardly tells
/// apart, are separated by A.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::measure() {
  IntervalPairs<T, Ctx>& pairs = *s_;
  if (f_) {
    pairs.count = 0;
    for (const auto& [first, count] : found_) {
      copy<T>(context_, f_->V.locked_vectors().columns(first, count),
              pairs.X.columns(pairs.count, count));
      pairs.count += count;
    }
    const Index active = std::min(candidates_.count(), pairs.X.cols() - pairs.count);
    measured_all_ = active == candidates_.count();
    if (active > 0) {
      const auto Z = f_->coefficients.view(f_->V.order(), active);
      send(context_, f_->ritz.Z(active), Z);
      heddle::multiply<T>(context_, 1, f_->V.V(), Z, 0, pairs.X.columns(pairs.count, active));
    }
    pairs.count += active;
  }
  pairs.inside.clear();
  if (pairs.count == 0) return;
  const Block X = pairs.X.columns(0, pairs.count);
  EigenVerifier<T, Ctx>& verifier = pairs.verifier;
  if (verifier.rayleigh_ritz(context_, problem_, Which::smallest, X, pairs.product.view(), {}) !=
      DenseFailure::none) {
    return engine_.end(SolveStatus::breakdown, "products with A are not finite");
  }
  verifier.measure(context_, problem_, X, pairs.product.view(), {});
  result_.orthogonality = verifier.orthogonality();
  const double beyond = f_ ? ErrorBounds::kUnknown : ErrorBounds::kNoneBeyond;
  verifier.judge(convergence_, {.below = beyond, .above = beyond, .dense = !f_});
  for (Index j = 0; j < pairs.count; ++j) {
    if (contains(value(j))) pairs.inside.push_back(j);
  }
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::restart() {
  if (candidates_.beyond_spectrum()) return widen_spectrum();
  switch (std::exchange(next_, AfterTest::expand)) {
    case AfterTest::check:
      return begin_check();
    case AfterTest::search:
      return begin_search(kBlocksOfCheck * f_->block);
    case AfterTest::start_again:
      return start_again();
    case AfterTest::make_room:
      return make_room();
    case AfterTest::expand:
      if (f_->V.full()) thick_restart();
  }
}

/// Locks the candidates and, as far as half of the columns stay free, other leading Ritz vectors.
/// The Krylov space of a random block then grows fastest towards missed eigenvectors.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::begin_check() {
  KrylovBasis<T, Ctx>& V = f_->V;
  const Index active = candidates_.count();
  const Index locked = std::clamp(f_->size / 2 - V.locked(), active, candidates_.lockable());
  found_.emplace_back(V.locked(), active);
  V.restart(context_, f_->ritz.Z(locked), f_->ritz.theta(locked));
  V.lock(context_, locked);
  candidates_.begin_check();
  begin_round(kBlocksOfCheck * f_->block);
}

/// Unlocks what is no candidate, and starts from a random block.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::begin_search(Index first_test) {
  std::vector<Index> kept;
  for (const auto& [first, count] : found_) {
    for (Index j = first; j < first + count; ++j) kept.push_back(j);
  }
  f_->V.discard();
  if (!kept.empty()) {
    f_->V.keep_locked(context_, kept);
    found_.assign({{0, std::ssize(kept)}});
  }
  candidates_.begin_search();
  begin_round(first_test);
}

/// Starts a round with a random block.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::begin_round(Index first_test) {
  if (f_->room() < kRoomOfRound * f_->block) return make_room();
  stagnation_.restart(result_.iterations);
  kept_ = 0;
  worst_at_restart_ = 0;
  next_test_ = first_test;
  end_if_lost(f_->V.draw_front(context_));
}

/// Keeps the candidates and the leading half of the other Ritz vectors. If residuals shrink slowly,
/// the candidates start a basis for a filter of twice the degree instead.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::thick_restart() {
  KrylovBasis<T, Ctx>& V = f_->V;
  const Index b = f_->block;
  const Index active = candidates_.count();
  if (active + 3 * b > f_->room()) return make_room();
  const double worst = worst_residual();
  const bool slow = worst_at_restart_ > 0 &&
                    worst > std::max(kSlow * worst_at_restart_, convergence_.noise_floor());
  worst_at_restart_ = worst;
  if (slow && active > 0 && 2 * f_->F.degree() <= kMaxFilterDegree) {
    candidates_.restart();
    kept_ = 0;
    set_filter(2 * f_->F.degree());
    return end_if_lost(V.combine_front(context_, f_->ritz.combination(std::max(active, b), b)));
  }
  const Index keep = active + (V.order() - active) / 2;
  kept_ = f_->room() - (f_->room() - keep + b - 1) / b * b;  // so that whole blocks fill the rest
  candidates_.restart();
  V.restart(context_, f_->ritz.Z(kept_), f_->ritz.theta(kept_));
  next_test_ = kept_ + std::max(b, (f_->size - kept_) / 3);
}

/// Starts again with a larger basis, or a sharper filter, because candidates fill the basis.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::make_room() {
  const Index most = max_interval_basis(options_, n());
  const Index degree = f_->F.degree();
  if (f_->size < most) {
    plan_basis(most);
    set_filter(degree);
  } else if (2 * degree <= kMaxFilterDegree) {
    set_filter(2 * degree);
  } else {
    return end_crowded(fmt::format(
        "more than nev = {} eigenvalues lie in the interval or very near to it", options_.nev));
  }
  start_again();
}

/// Deletes the basis and what it has found.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::start_again() {
  f_->V.clear();
  found_.clear();
  next_ = AfterTest::expand;
  begin_search(f_->size / 2);
}

/// Starts again with a filter for a wider spectrum.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::widen_spectrum() {
  const double beyond = kWidening * (spectrum_.upper - spectrum_.lower);
  spectrum_ = {spectrum_.lower - beyond, spectrum_.upper + beyond};
  set_range();
  set_filter(f_->F.degree());
  start_again();
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::set_range() {
  range_ = {spectrum_.angle(options_.upper), spectrum_.angle(options_.lower)};
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::set_filter(Index degree) {
  f_->F.set(spectrum_, range_, degree);
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::expand() {
  end_if_lost(f_->V.expand(context_, f_->F));
  if (f_->F.stopped()) engine_.end_as_requested();
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::end_if_lost(const FrontStatus& status) {
  if (!status.finite) engine_.end(SolveStatus::breakdown, "products with A are not finite");
}

/// Whether the current pairs are those of the interval, as far as this round shows.
template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::settled() const {
  if (f_ && !(candidates_.converged(strictness_) && candidates_.others_rest())) return false;
  // A pair in the interval must pass. Any other must lie outside by more than its error.
  for (Index j = 0; j < s_->count; ++j) {
    const double beyond = std::max(options_.lower - value(j), value(j) - options_.upper);
    const double error = s_->verifier.errors()[static_cast<std::size_t>(j)];
    if (contains(value(j)) ? !passes(j) : f_ && !(beyond > error)) return false;
  }
  return result_.orthogonality <= kOrthogonalityLimit<T>;
}

/// Claims convergence if all candidates have converged and a round has found no further ones.
template <Scalar T, class Ctx>
Claim IntervalSolve<T, Ctx>::claim() {
  const bool settled = this->settled();
  if (settled && std::ssize(s_->inside) > options_.nev) {
    end_crowded(fmt::format("the interval holds {} eigenvalues, more than nev = {}",
                            s_->inside.size(), options_.nev));
    return Claim::none;
  }
  if (!f_) {
    if (settled) return Claim::confirmed;
    engine_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
    return Claim::none;
  }
  if (candidates_.count() > 0) {
    if (candidates_.checking()) {
      next_ = AfterTest::search;
    } else if (settled) {
      next_ = measured_all_ ? AfterTest::check : AfterTest::make_room;
    }
    return Claim::none;
  }
  if (!candidates_.none_missed(n())) return Claim::none;
  if (settled) return Claim::confirmed;
  next_ = AfterTest::start_again;
  strictness_ *= kStricter;
  return Claim::refuted;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IntervalSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
