#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/iteration/solve_identity.hpp>
#include <heddle/solvers/lanczos/solve.hpp>
#include <limits>
#include <span>
#include <utility>

namespace heddle::detail {
namespace {

/// The factor on the distance of σ from the smallest eigenvalue after fresh products have refuted
/// pairs of (A − σB)⁻¹B.
constexpr double kRetreat = 100;

/// Seconds beyond the time limit within which a step may still be finished.
constexpr double kGrace = 1;

/// The solve ends with this many refuted claims of convergence.
constexpr Index kMostRefuted = 4;

/// Cycles of a search for missed pairs after which a larger basis takes over.
constexpr Index kLongestSearch = 40;

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

/// Whether a basis of twice the size may follow. A checkpoint holds a solve of one size.
bool may_grow(const BlockLanczosOptions& options, const BlockLanczosShape& shape,
              std::size_t scalar_size) {
  if (options.max_basis > 0 || !options.checkpoint.file.empty()) return false;
  BlockLanczosOptions larger = options;
  larger.max_basis = 2 * shape.max_basis;
  return 4 * larger.max_basis <= 3 * shape.n &&
         block_lanczos_memory_bytes(larger, shape.n, shape.pencil, scalar_size) <=
             options.dense_bytes;
}

/// Whether a dense solve may replace one that stands still: up to an order that takes it seconds.
bool may_turn_dense(const BlockLanczosOptions& options, const BlockLanczosShape& shape,
                    std::size_t scalar_size) {
  constexpr Index kLargest = 1024;
  return shape.n <= kLargest && options.checkpoint.file.empty() &&
         std::isinf(options.max_applications) &&
         dense_solve_may_follow(shape.n, options.dense_bytes, scalar_size);
}

/// The null vectors that are locked from the start. The basis of a standard form has other vectors
/// and another inner product, so that such a solve has to find them.
template <Scalar T, class Ctx>
ConstBlockView<T, typename Ctx::Space> known_vectors(const EigenProblem<T, Ctx>& problem) {
  if (has_standard_form(problem)) return {};
  return problem.null_vectors;
}

}  // namespace

template <Scalar T, class Ctx>
BlockLanczosSolve<T, Ctx>::BlockLanczosSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                             const BlockLanczosOptions& options,
                                             const Monitor& monitor, Storage& storage)
    : context_(context),
      problem_(problem),
      options_(options),
      s_(storage),
      basis_(storage.basis),
      F_(storage.F),
      ritz_(storage.ritz),
      pairs_(storage.pairs),
      result_(storage.result),
      engine_(context, options, identity(problem, options, storage.shape), monitor,
              storage.result.history, kMostRefuted),
      choice_(context, problem, options, storage.shape.max_basis, F_, ritz_, pairs_, engine_),
      known_(known_vectors(problem)),
      completeness_(pairs_, F_.map(), ritz_, storage.shape.block, options.nev, options.tolerance,
                    std::min(options.tolerance, kDefaultTolerance<T>),
                    problem.initial_guess.cols() > 0 && !problem.guess_from_random, known_.cols()),
      verification_(context, problem, options, storage) {
  basis_.reset(has_standard_form(problem) ? nullptr : problem.B, options.seed);
  pairs_.reset(options, std::numeric_limits<RealOf<T>>::epsilon(), known_.cols());
  if (problem.initial_guess.cols() > 0) completeness_.note_chosen_block();
}

template <Scalar T, class Ctx>
NextSolve BlockLanczosSolve<T, Ctx>::run() {
  const bool dense = s_.shape.max_basis == 0;
  bool resumed = !dense && start();  // V₊ᵀBV₊ = I                        n×b
  s_.verifier.norms().prepare(context_, problem_);
  if (dense) {
    solve_dense();
    return NextSolve::none;
  }
  for (; !engine_.ended(); resumed = false) {
    multiply(resumed);  // U = F V₊, S = VᵀBU
    if (engine_.ended()) break;
    if (resumed ? cycle_complete_ : cycle_ends()) {
      basis_.fetch_column(context_);
      engine_.capture(*this);  // for a checkpoint
      rayleigh_ritz();  // T Z = Z Θ, ‖F x − θ x‖ = ‖Sᵀz‖                   k×k
      if (finished()) break;
      restart();  // V ← V Z, T ← Θ, S ← ZᵀS                               n×l
      if (engine_.ended() || !basis_.multiplied()) continue;  // V₊ was replaced
    }
    end_if_lost(basis_.expand(context_, F_));  // V ← [V V₊], V₊β ← U − V T₊
  }
  finish();
  if (choice_.dense_pays()) return NextSolve::dense;
  if (!stalled_) return NextSolve::none;
  return may_grow(options_, s_.shape, sizeof(T)) ? NextSolve::larger_basis : NextSolve::dense;
}

/// Starts the solve. True if it resumes from a checkpoint whose state follows a call of `multiply`.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::start() {
  choice_.use_C();
  F_.set_stop([this] { return engine_.stop_requested(kGrace); });
  if (engine_.resume(*this)) return basis_.multiplied();
  const ConstBlockView<T, Space> guess = problem_.initial_guess;
  if (!F_.in_standard_form()) {
    basis_.lock(context_, known_);
    end_if_lost(basis_.draw_front(context_, guess));
    return false;
  }
  end_if_lost(basis_.draw_front(context_));
  if (engine_.ended()) return false;
  set_norms();
  choice_.invert({0, pairs_.norms().C()});
  if (engine_.ended() || guess.cols() == 0) return false;
  end_if_lost(basis_.draw_front(context_, F_.to_standard_form(context_, guess)));
  return false;
}

/// U ← F V₊, unless the checkpoint from which the solve resumed holds it. A product that is stopped
/// ends the solve with the Ritz pairs of the earlier steps. The checkpoint then holds the state
/// before the product, unless V₊ itself comes from a product that `expand` could not finish.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::multiply(bool resumed) {
  if (resumed) return;
  const bool front_is_complete = !F_.stopped();
  basis_.multiply(context_, F_);
  if (!F_.stopped()) return;
  basis_.abandon_product();
  if (front_is_complete) engine_.keep_unfinished(*this);
  engine_.end_as_requested();
  has_pairs_ = basis_.order() > 0 && solve_ritz();
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::cycle_ends() {
  // The test for ending the cycle before the basis is full should cost little compared with a step.
  // Ritz pairs take about 10 k³ operations. A step takes at least 4 n b per product with A.
  const auto k = static_cast<double>(basis_.order());
  const double step =
      F_.effort() * static_cast<double>(s_.shape.n) * static_cast<double>(s_.shape.block);
  const bool early_end_pays = F_.effort() > 1 &&
                              basis_.locked() + basis_.order() >= options_.nev + s_.shape.block &&
                              5 * k * k * k < step;
  cycle_complete_ = basis_.full() || (early_end_pays && solve_ritz() &&
                                      completeness_.nothing_is_left(basis_.full()));
  return cycle_complete_ || (basis_.order() > 0 && engine_.stop_requested());
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::rayleigh_ritz() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  ++result_.iterations;
  if (!solve_ritz()) {
    return engine_.end(SolveStatus::breakdown, "products with A or B are not finite");
  }
  has_pairs_ = true;
  choice_.note_far_end();
  if (choice_.wants_infinite_values()) {
    engine_.end(SolveStatus::breakdown, kTooFewFiniteValues);
  } else if (beyond_interval()) {
    next_ = AfterCycle::start_again;
  } else {
    next_ = choice_.shift_is_too_near() ? AfterCycle::lower_shift : AfterCycle::thick_restart;
  }
}

/// Solves T Z = Z Θ and determines which wanted pairs have converged.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::solve_ritz() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  basis_.fetch_column(context_);
  verification_.outdate();
  if (!ritz_.solve(basis_.projected().T(), basis_.projected().column())) return false;
  for (const Index j : {Index{0}, ritz_.order() - 1}) F_.raise_norm(ritz_.value(j));
  if (!pairs_.norms().known) set_norms();
  pairs_.take_bounds();
  if (pairs_.worth_measuring(basis_.full())) verification_.measure_ritz_pairs();
  pairs_.judge_roundings([&] { return verification_.roundings(); });
  return true;
}

/// Sets ‖A‖₁ and ‖B‖₁ if the operators provide them. Otherwise they are estimated from products
/// with the whole space, from Ritz values, or from products with the front.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::set_norms() {
  const bool dense = s_.shape.max_basis == 0;
  double norm_B = 1;
  if (problem_.B != nullptr) {
    const std::optional<double> known = problem_.B->one_norm();
    norm_B = known   ? *known
             : dense ? s_.verifier.projected_norm_B()
                     : basis_.estimate_norm(context_, *problem_.B);
  }
  double norm_A = 0;
  if (const std::optional<double> known = problem_.A->one_norm()) {
    norm_A = *known;
  } else if (dense) {
    norm_A = s_.verifier.projected_norm_A();
  } else {
    norm_A = basis_.order() > 0 ? F_.norm() * norm_B : basis_.estimate_norm(context_, *problem_.A);
  }
  pairs_.set_norms(norm_A, norm_B);
}

/// Whether the current pairs prove that an eigenvalue lies above the interval that the polynomial
/// damps. Costs a product with A if the pairs have not been measured.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::beyond_interval() {
  if (!F_.map().filters()) return false;
  if (!verification_.measured()) verification_.rayleigh_ritz_of_leading();
  const std::optional<double> farthest = verification_.farthest_value();
  return farthest && choice_.corrects_far_end(*farthest);
}

/// Also where residuals have stopped falling above the level of rounding, as where more eigenvalues
/// lie next to the wanted ones than the basis holds, and the caller leaves its size open.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::finished() {
  if (engine_.ended()) return true;
  engine_.finish_iteration(*this, "all pairs converged and passed verification");
  if (engine_.ended() || choice_.too_many_applications(F_.map().degree())) return true;
  if (pairs_.converged() > most_converged_) {
    most_converged_ = pairs_.converged();
    last_converged_ = result_.iterations;
  }
  const bool stands = stagnation_.stalled(result_.iterations, last_converged_) &&
                      completeness_.awaited_residual() > pairs_.convergence().noise_floor();
  // The next value of a group that is larger than the basis never settles.
  const bool searches =
      completeness_.none_missed() && result_.iterations - last_converged_ >= kLongestSearch;
  stalled_ =
      next_ == AfterCycle::thick_restart && (stands || searches) &&
      (may_grow(options_, s_.shape, sizeof(T)) || may_turn_dense(options_, s_.shape, sizeof(T)));
  if (stalled_) engine_.end(SolveStatus::max_iterations, "residuals do not fall any more");
  return stalled_;
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::end_if_lost(const FrontStatus& status) {
  if (status.indefinite) {
    engine_.end(SolveStatus::indefinite, "B is not positive definite: x'Bx < 0 was met");
  } else if (!status.finite) {
    engine_.end(SolveStatus::breakdown, "products with A or B are not finite");
  }
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::restart() {
  has_pairs_ = false;
  switch (std::exchange(next_, AfterCycle::thick_restart)) {
    case AfterCycle::start_again:
      return start_again(false);
    case AfterCycle::lower_shift:
      return invert(choice_.lower_shift(1));
    case AfterCycle::retreat:
      return invert(choice_.lower_shift(kRetreat));
    case AfterCycle::invert:
      return invert(choice_.shift_below(pairs_.first_value(), choice_.far_end()));
    case AfterCycle::begin_check:
      return begin_check();
    case AfterCycle::reopen:
      return reopen();
    case AfterCycle::thick_restart:
      return thick_restart();
  }
}

/// Continues with a better operator, if there is one. Else keeps the converged Ritz vectors and the
/// leading half of the others, and locks pairs that are exact to rounding.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::thick_restart() {
  if (const std::optional<Index> vectors = choice_.improve()) {
    if (F_.in_standard_form()) return start_again(true);  // vectors change with the factor
    return end_if_lost(basis_.combine_front(context_, ritz_.combination(*vectors, s_.shape.block)));
  }
  has_pairs_ = engine_.ended();  // a limit does not allow a better one; the basis was not changed
  if (has_pairs_) return;
  const Index k = basis_.order();
  const Index b = s_.shape.block;
  const Index room = s_.shape.max_basis - basis_.locked();
  const Index keep = pairs_.leading() + (k - pairs_.leading()) / 2;
  const Index kept = room - (room - keep + b - 1) / b * b;  // so that whole blocks fill the rest
  basis_.restart(context_, ritz_.Z(kept), ritz_.theta(kept));
  const Index exact =
      pairs_.lock_exact(kept, std::numeric_limits<RealOf<T>>::epsilon() * F_.norm());
  if (exact > 0) basis_.lock(context_, exact);
}

/// Deletes the basis and, unless `keeps_F`, the polynomial or inverse that produced it. The
/// estimate of the far end is kept.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::start_again(bool keeps_F) {
  stagnation_.restart(result_.iterations);
  if (!keeps_F) choice_.use_C();
  pairs_.unlock();
  basis_.clear();
  basis_.lock(context_, known_);
  end_if_lost(basis_.draw_front(context_));
}

/// Starts again with the inverse for another σ, or with the first one. The old basis is deleted:
/// rounding errors of a large inverse spoil it, and products with A leave errors in stiff rows.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::invert(const typename OperatorChoice<T, Ctx>::Shift& shift) {
  has_pairs_ = !choice_.time_to_factor();
  if (engine_.ended()) return;
  start_again(false);
  choice_.invert(shift);
}

/// Locks all wanted pairs, or those that the last check found, and searches for missed pairs from a
/// random block.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::begin_check() {
  stagnation_.restart(result_.iterations);
  const std::span<const double> roundings =
      pairs_.checking() ? std::span<const double>() : verification_.roundings();
  const Index found = pairs_.wanted().size() - pairs_.locked();
  basis_.restart(context_, ritz_.Z(found), ritz_.theta(found));
  basis_.lock(context_, found);
  const std::vector<Index> order = pairs_.begin_check(roundings);
  if (!order.empty()) basis_.keep_locked(context_, order);
  end_if_lost(basis_.draw_front(context_));
}

/// Pairs that fresh products refuted become the next front. Confirmed pairs stay locked. The
/// vectors cannot become part of the Krylov basis, because their coupling to the front is not
/// known.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::reopen() {
  stagnation_.restart(result_.iterations);
  completeness_.note_chosen_block();
  basis_.clear();
  const Block X = result_.eigenvectors.columns(0, options_.nev);
  const auto list = [](const auto& numbers) {
    return std::vector<double>(numbers.begin(), numbers.end());
  };
  const EigenVerifier<T, Ctx>& measured = s_.verifier;
  PairList pairs{list(measured.values()), list(measured.residuals()), list(measured.errors())};
  // A check would take better values for copies of a pair that is not in its place.
  for (std::size_t j = 0; j < pairs.errors.size(); ++j) {
    pairs.errors[j] -= measured.displacements()[j];
  }
  const std::vector<Index> refuted = pairs_.reopen(pairs, measured.passed());
  Index place = 0;
  for (Index j = 0; j < options_.nev; ++j) {
    if (place == std::ssize(refuted) || refuted[static_cast<std::size_t>(place)] != j) {
      basis_.lock(context_, X.columns(j, 1));
    } else if (const Index to = place++; to != j) {
      copy<T>(context_, X.columns(j, 1), X.columns(to, 1));
    }
  }
  end_if_lost(basis_.draw_front(context_, X.columns(0, place)));
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BlockLanczosSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
