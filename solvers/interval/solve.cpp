#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/interval/memory.hpp>
#include <heddle/solvers/interval/solve.hpp>
#include <utility>

/// The loop and its steps. The plan is in plan.cpp, the end in ending.cpp.
namespace heddle::detail {
namespace {

/// Claims of convergence are based on fresh products and cannot be refuted.
constexpr Index kMostRefuted = 1;

/// Residuals that shrink by less between two restarts call for a sharper filter.
constexpr double kSlow = 0.3;

/// Where the estimated ends of the spectrum are wrong, it is widened by this share.
constexpr double kWidening = 0.1;

/// Why a solve ends with more pairs than wanted.
template <Scalar T, class Ctx>
std::string describe_crowd(const IntervalPairs<T, Ctx>& pairs, const IntervalOptions& options) {
  const auto open = std::count_if(pairs.inside.begin(), pairs.inside.end(),
                                  [&](Index j) { return pairs.straddles(j, options); });
  const std::string further =
      open > 0 ? fmt::format(" and {} that may lie beyond its ends, by their error bounds", open)
               : "";
  return fmt::format("the interval holds {} eigenvalues{}, more than nev = {}: raise nev",
                     std::ssize(pairs.inside) - open, further, options.nev);
}

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
    if (!search_ || search_->test_is_due() || (!search_->empty() && engine_.stop_requested())) {
      ritz();  // T Z = Z Θ, X ← [found V Z], XᵀA X = Λ, ‖A x − λ x‖       k×k
      if (engine_.ended()) break;
      engine_.finish_iteration(*this,
                               "all pairs of the interval converged and passed verification");
      if (engine_.ended()) break;
      restart();  // another round, V ← V Z if V is full, or a dense solve n×l
      if (engine_.ended() || !search_ || !search_->multiplied()) continue;
    }
    end_if_lost(search_->expand(context_));  // V ← [V V₊], V₊β ← U − V T₊ n×b
  }
  finish();
  return std::move(result_);
}

/// U ← F V₊. A product that is stopped ends the solve with the Ritz pairs of the earlier steps. In
/// a dense solve there is none.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::multiply() {
  if (!search_ || search_->multiply(context_)) return;
  if (!search_->empty()) {
    ritz();
    if (!engine_.ended()) engine_.append_record(*this);
  }
  engine_.end_as_requested();
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::ritz() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  ++result_.iterations;
  if (search_) {
    if (!search_->take_ritz_pairs(context_)) {
      return engine_.end(SolveStatus::breakdown, "products with A are not finite");
    }
    // Without candidates in the basis, X holds those that are locked.
    const Candidates& candidates = search_->candidates();
    if (candidates.checking() || (candidates.count() == 0 && !in_basis_)) return;
    const Index all = search_->collect(context_, s_->X.view());
    s_->count = std::min(all, s_->X.cols());
    measured_all_ = all == s_->count;
    in_basis_ = candidates.count() > 0;
  }
  measure();
}

/// Ritz pairs of A in the span of X, and their residuals from fresh products. Eigenvectors on both
/// sides of the interval, which F hardly tells apart, are separated by A.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::measure() {
  IntervalPairs<T, Ctx>& pairs = *s_;
  pairs.inside.clear();
  if (pairs.count == 0) return;
  const Block X = pairs.X.columns(0, pairs.count);
  EigenVerifier<T, Ctx>& verifier = pairs.verifier;
  if (verifier.rayleigh_ritz(context_, problem_, Which::smallest, X, pairs.product.view(), {}) !=
      DenseFailure::none) {
    return engine_.end(SolveStatus::breakdown, "products with A are not finite");
  }
  verifier.measure(context_, problem_, X, pairs.product.view(), {});
  verifier.measure_accurately(context_, problem_, convergence_, X, pairs.product.view(), {});
  result_.orthogonality = verifier.orthogonality();
  const double beyond = search_ ? ErrorBounds::kUnknown : ErrorBounds::kNoneBeyond;
  verifier.judge(convergence_, {.below = beyond, .above = beyond, .dense = !search_});
  for (Index j = 0; j < pairs.count; ++j) {
    if (contains(j)) pairs.inside.push_back(j);
  }
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::restart() {
  const AfterTest next = std::exchange(next_, AfterTest::expand);
  const Index products = problem_.A->columns_applied() - applications_before_;
  if (dense_pays(kPerProduct * static_cast<double>(products) * static_cast<double>(n()))) {
    return plan_dense();
  }
  if (search_->candidates().beyond_spectrum()) return widen_spectrum();
  switch (next) {
    case AfterTest::lock:
      end_if_lost(search_->lock_candidates(context_));
      in_basis_ = false;
      break;
    case AfterTest::search:
      end_if_lost(search_->search_on(context_));
      break;
    case AfterTest::make_room:
      return make_room();
    case AfterTest::expand:
      if (search_->full()) refill();
      return;
  }
  worst_at_restart_ = 0;
  stagnation_.restart(result_.iterations);
  if (!search_->has_room()) make_room();
}

/// Starts a search from nothing.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::start(Index first_test) {
  s_->count = 0;
  s_->inside.clear();
  in_basis_ = false;
  worst_at_restart_ = 0;
  stagnation_.restart(result_.iterations);
  end_if_lost(search_->start(context_, first_test));
}

/// Restarts a full basis. If residuals shrink slowly, the candidates start a basis for a filter of
/// twice the degree instead.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::refill() {
  const double worst = worst_residual();
  const bool slow = worst_at_restart_ > 0 &&
                    worst > std::max(kSlow * worst_at_restart_, convergence_.noise_floor());
  worst_at_restart_ = worst;
  const Index sharper = 2 * search_->degree();
  if (slow && search_->candidates().count() > 0 && sharper <= kMaxFilterDegree) {
    return end_if_lost(search_->sharpen(context_, spectrum_, range_, sharper));
  }
  if (!search_->thick_restart(context_)) make_room();
}

/// Starts again with a larger basis, or a sharper filter, because candidates fill the basis.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::make_room() {
  const Index most = max_interval_basis(options_, n());
  const Index degree = search_->degree();
  if (search_->size() < most) {
    plan_basis(most);
    set_filter(degree);
  } else if (2 * degree <= kMaxFilterDegree) {
    set_filter(2 * degree);
  } else {
    return end_crowded(fmt::format(
        "the eigenvalues in the interval and those just beyond its ends, which no filter tells "
        "apart, need more room than nev = {} gives the basis; {} were found in the interval",
        options_.nev, s_->inside.size()));
  }
  start(search_->size() / 2);
}

/// Starts again with a filter for a wider spectrum.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::widen_spectrum() {
  const double beyond = kWidening * (spectrum_.upper - spectrum_.lower);
  spectrum_ = {spectrum_.lower - beyond, spectrum_.upper + beyond};
  set_filter(search_->degree());
  start(search_->size() / 2);
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::set_filter(Index degree) {
  range_ = {spectrum_.angle(options_.upper), spectrum_.angle(options_.lower)};
  search_->set_filter(spectrum_, range_, degree);
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::end_if_lost(const FrontStatus& status) {
  if (!status.finite) engine_.end(SolveStatus::breakdown, "products with A are not finite");
}

/// Whether the current pairs are those of the interval, as far as this round shows.
template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::settled() const {
  if (search_) {
    const Candidates& candidates = search_->candidates();
    if (!candidates.converged() || !candidates.others_rest()) return false;
  }
  // A pair in the interval must pass. Any other must lie outside by more than its error.
  for (Index j = 0; j < s_->count; ++j) {
    if (contains(j) ? !s_->passes(j) : search_ && !(s_->beyond(j, options_) > s_->error(j)))
      return false;
  }
  return result_.orthogonality <= kOrthogonalityLimit<T>;
}

/// Claims convergence if all candidates have converged and a round has found no further ones.
template <Scalar T, class Ctx>
Claim IntervalSolve<T, Ctx>::claim() {
  const bool settled = this->settled();
  if (settled && std::ssize(s_->inside) > options_.nev) {
    end_crowded(describe_crowd(*s_, options_));
    return Claim::none;
  }
  if (!search_) {
    if (settled) return Claim::confirmed;
    engine_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
    return Claim::none;
  }
  const Candidates& candidates = search_->candidates();
  if (!measured_all_ && candidates.converged()) {
    next_ = AfterTest::make_room;
    return Claim::none;
  }
  if (candidates.count() > 0) {
    if (candidates.checking()) {
      next_ = AfterTest::search;
    } else if (settled) {
      next_ = AfterTest::lock;
    }
    return Claim::none;
  }
  return settled && candidates.none_missed(n()) ? Claim::confirmed : Claim::none;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IntervalSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
