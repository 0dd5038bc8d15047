#include <algorithm>
#include <cmath>
#include <concepts>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/constraint_basis.hpp>
#include <heddle/solvers/lobpcg/nested_start.hpp>
#include <heddle/solvers/lobpcg/solve.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// The ratio of residuals to the noise floor below which the preconditioner computes in T. Near
/// rounding, r has a part along X that is not small relative to the rest. A preconditioner in lower
/// precision turns its rounding errors into a part of W that no projection removes.
constexpr double kNearRounding = 100;

/// The largest ‖SᵀBS − I‖_F at which no second round on W follows the first one. The Rayleigh–Ritz
/// step can correct more, but then leaves errors in stiff problems that keep values from
/// converging: parts of stiffness 1 and 10⁶ together ended as stagnated. On meshes it is not
/// reached.
constexpr double kOneRoundIsEnough = 1e-6;

/// A guess tells something of eigenvectors if its residual is below this share of that of a random
/// vector. Of random numbers between 0 and 1, the part along the null vector of a Laplacian leaves
/// a half.
constexpr double kTelling = 0.3;

/// Rounds of Gram–Schmidt on W before the host looks at it. In single precision, 17 of 72 solves to
/// the default tolerance stagnated with one, 5 with two (7-point Laplacian on 12³, Jacobi).
template <Scalar T>
constexpr Index kRoundsUnseen = std::same_as<RealOf<T>, double> ? 1 : 2;

template <class Ctx>
void end_if_lost(Engine<Ctx>& engine, const OrthonormalBlock& made) {
  if (made.indefinite)
    engine.end(SolveStatus::indefinite, "B is not positive definite: x'Bx < 0 was met");
  if (!made.finite) {
    engine.end(SolveStatus::breakdown, "start vectors, or products with A, B or T, are not finite");
  }
}

}  // namespace

template <Scalar T, class Ctx>
Index LobpcgSolve<T, Ctx>::start() {
  const bool resumed = engine_.resume(*this);
  s_.verifier.norms().prepare(context_, problem_);
  if (resumed) return std::ssize(result_.history);
  blocks_.reset();
  if (const Index c = problem_.constraints.cols(); c > 0) {
    const OrthonormalBlock made = orthonormal_constraints<T, Ctx>(
        context_, s_.orthogonalizer, problem_.B, problem_.constraints, blocks_.Y(0, c),
        blocks_.BY(0, c), result_.orthogonalization);
    end_if_lost(engine_, made);
    constraints_ = made.rank;
    blocks_.set_locked(constraints_);
    constrained_A_.set_rank(constraints_);
  }
  lock_null_vectors();
  start_X();
  if (!engine_.ended()) set_norms();
  return 0;
}

/// Y ← Z, the vectors of the pairs that are known before the solve.
template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::lock_null_vectors() {
  const Index k = problem_.null_vectors.cols();
  if (k == 0) return;
  const Index first = blocks_.locked();
  copy(context_, problem_.null_vectors, blocks_.Y(first, k));
  if (blocks_.pencil()) problem_.B->apply(context_, blocks_.Y(first, k), blocks_.BY(first, k));
  blocks_.set_locked(first + k);
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::start_X() {
  const Index b = std::min(s_.shape.block, s_.shape.n() - blocks_.locked());
  // Two guard columns stay random, see GuardEvidence. Without them, a guess that is
  // exact for other pairs would be taken for the wanted ones.
  const Index places = refining_ ? b : std::max<Index>(0, b - 2);
  const Index guesses = streams_ == 0 ? std::min(places, problem_.initial_guess.cols()) : 0;
  blocks_.restart(b);
  if (b == s_.shape.n()) {  // not with constraints, which may span unit vectors
    set_identity(context_, blocks_.S().X.columns(0, b), s_.shape.rows.first);
  } else {
    const bool first = streams_ == 0;
    fill_random(context_, options_.seed, streams_++, blocks_.S().X, s_.shape.rows.first);
    if (guesses == 0 && first && preconditioner_ != nullptr) {
      streams_ += begin_on_levels(context_, problem_, *preconditioner_, options_, streams_, s_);
    }
    if (guesses > 0) {
      guessed_ = !problem_.guess_from_random;
      copy(context_, problem_.initial_guess.columns(0, guesses), blocks_.S().X.columns(0, guesses));
    }
  }
  const Index columns = blocks_.x();  // more than b from coarse levels
  Index rank = make_orthonormal(blocks_.S().X, blocks_.BS().X, {blocks_.locked_basis()});
  if (rank < columns && !engine_.ended()) {  // dependent guesses, or in the span of constraints
    fill_random(context_, options_.seed, streams_++, blocks_.S().X.columns(rank, columns - rank),
                s_.shape.rows.first);
    rank = make_orthonormal(blocks_.S().X, blocks_.BS().X, {blocks_.locked_basis()});
  }
  blocks_.set_x(rank);
  pairs_.set_leading(rank);  // because there is no P yet
  if (rank == 0 && problem_.B != nullptr && constraints_ == 0) {
    engine_.end(SolveStatus::indefinite,
                "B is not positive definite: x'Bx = 0 for all start vectors");
  } else if (rank == 0) {
    engine_.end(SolveStatus::breakdown, "no start vector is independent of the constraints");
  }
  if (engine_.ended()) return;
  problem_.A->apply(context_, blocks_.S().X, blocks_.AS().X);
  if (guesses > 0 && guessed_ && !tells(guesses)) {
    guessed_ = false;
    return start_X();  // with random columns only, which need no evidence
  }
  rayleigh_ritz_afresh();
}

/// Whether one of the first `guesses` columns of X is nearer to an eigenvector than the random
/// columns behind them, by ‖A x − ρ B x‖ with ρ = xᵀA x. Overwrites the residuals.
template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::tells(Index guesses) {
  const Block X = blocks_.S().X, AX = blocks_.AS().X;
  s_.packet.clear();
  const Part quotients = s_.packet.add(X.cols(), 1), norms = s_.packet.add(X.cols(), 1);
  column_dots<T>(context_, X, AX, quotients.there);
  residual<T>(context_, AX, blocks_.BS().X, quotients.there, blocks_.R(), norms.there);
  s_.packet.fetch(context_);
  double random = std::numeric_limits<double>::infinity();
  for (Index j = guesses; j < X.cols(); ++j) random = std::min(random, norms.here(j, 0));
  for (Index j = 0; j < std::min(guesses, X.cols()); ++j) {
    if (!(norms.here(j, 0) >= kTelling * random)) return true;
  }
  return false;
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::set_norms() {
  // If the 1-norm of an operator is not available, it is estimated by max ‖A x‖/‖x‖ over the
  // columns x of X.
  s_.packet.clear();
  const auto norms_of = [&](Block V) {
    const auto part = s_.packet.add(V.cols(), 1);
    column_norms<T>(context_, V, part.there);
    return part.here;
  };
  const SmallView<double, HostSpace> x = norms_of(blocks_.S().X);
  const SmallView<double, HostSpace> ax = norms_of(blocks_.AS().X);
  const SmallView<double, HostSpace> bx = norms_of(blocks_.BS().X);
  s_.packet.fetch(context_);
  const auto norm = [&](LinearOperator<T, Ctx>* op, SmallView<double, HostSpace> image) {
    if (op == nullptr) return 1.0;
    if (const std::optional<double> known = op->one_norm()) return *known;
    double estimate = 0;
    for (Index j = 0; j < x.rows; ++j) estimate = std::max(estimate, image(j, 0) / x(j, 0));
    return estimate;
  };
  pairs_.set_convergence(EigenConvergence(options_.criterion, options_.tolerance,
                                          norm(problem_.A, ax), norm(problem_.B, bx),
                                          std::numeric_limits<RealOf<T>>::epsilon()));
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::residuals() {
  step_residuals_.queue(context_);
  residuals_known_ = finished_ = false;
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::read_residuals() {
  s_.packet.fetch(context_);
  if (residuals_known_) return;
  residuals_known_ = true;
  const LobpcgPairs::Numbers numbers = pairs_.next_numbers();
  step_residuals_.list(numbers);
  if (pairs_.bound_errors(ritz_.values(), s_.spans_space())) {  // only in the last steps of a solve
    const std::span<const double> roundings =
        s_.verifier.roundings(context_, pairs_.convergence(), blocks_.S().X, ritz_.theta());
    std::copy(roundings.begin(), roundings.end(), numbers.roundings.begin());
  }
  pairs_.count(ritz_.values(), s_.spans_space(), result_.iterations);
}

/// Finishes the iteration, for which its residuals must be known. True if the step is to be
/// completed.
template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::finish_iteration(Index iteration) {
  if (!residuals_known_) read_residuals();
  if (!engine_.ended() && !std::exchange(finished_, true)) {
    result_.iterations = iteration;
    engine_.finish_iteration(*this, "all pairs converged and passed verification");
    const double near_rounding = kNearRounding * pairs_.convergence().noise_floor();
    if (pairs_.worst_residual(ritz_.values()) <= near_rounding) directions_.raise_precision();
  }
  return !engine_.ended() && !refresh_due_ && !missed_pairs_.due();
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::lock_converged() {
  const Index k = pairs_.lockable(ritz_.values(), guessed_, s_.spans_space(), result_.iterations);
  if (k == 0) return;
  if (pairs_.more_to_come()) {
    missed_pairs_.reset();  // because X begins again
    while (pairs_.locked() > options_.nev - pairs_.wanted_in_X()) {
      release(pairs_.locked_pairs().worst());
    }
  }
  pairs_.lock(ritz_.values(), k, result_.iterations);
  blocks_.lock(context_, k);
  ritz_.drop_leading(k);
  stagnation_.restart(result_.iterations);
  fresh_directions_ = k;
  if (blocks_.x() == 0) {  // all of X was locked, so that a new X starts from random columns
    fresh_directions_ = 0;
    start_X();
    if (engine_.ended()) return;
    residuals();
    read_residuals();
    finished_ = true;
  }
}

/// Removes a locked pair, and its column of Y. The last one takes its place.
template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::release(Index pair) {
  const Index column = blocks_.locked() - pairs_.locked() + pair;
  const Index last = blocks_.locked() - 1;
  if (column < last) {
    copy(context_, blocks_.Y(last, 1), blocks_.Y(column, 1));
    if (blocks_.pencil()) copy(context_, blocks_.BY(last, 1), blocks_.BY(column, 1));
  }
  blocks_.set_locked(last);
  pairs_.locked_pairs().remove(pair);
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::search_directions() {
  if (engine_.ended()) return;
  const Index wanted = std::min(std::max<Index>(options_.nev - pairs_.locked(), 1), blocks_.x());
  // At the largest end there is nothing to suit: T approximates A at the smallest end only.
  if (preconditioner_ != nullptr && options_.which == Which::smallest) {
    preconditioner_->suit(context_, blocks_.S().X.columns(0, wanted),
                          ritz_.values().theta.first(static_cast<std::size_t>(wanted)));
  }
  const Index room = s_.shape.n() - blocks_.locked() - blocks_.x() - blocks_.p();
  const Index first =
      resting_columns(pairs_.at_rest(ritz_.values(), guessed_), blocks_.x(), blocks_.kWidthUnit);
  const Index active = std::min(blocks_.x() - first, room);
  // The block Krylov space of b start vectors holds at most b directions of an eigenspace. Random
  // directions replace the locked ones, so that further copies of a multiple eigenvalue are found.
  const Index fresh = std::min(std::exchange(fresh_directions_, 0), room - active);
  const DirectionColumns columns{first, active, fresh};
  if (orthonormal_by_rounds(columns)) return;
  if (blocks_.w() > 0) directions_.raise_precision();  // which may have overflowed
  step_residuals_.queue(context_);                     // because A W has overwritten the residuals
  directions_.fill(columns, streams_);
  orthonormalize_W();
  if (engine_.ended()) return;
  problem_.A->apply(context_, blocks_.S().W, blocks_.AS().W);
  ritz_.project(context_, blocks_.S().all, blocks_.BS().all, blocks_.AS().all, s_.packet);
  read_residuals();
}

/// Makes W, from `columns`, nearly orthonormal by rounds of Gram–Schmidt with Cholesky QR: first
/// `kRoundsUnseen`, queued together with the projection of A. Only then are the results read. A
/// second round follows where one was not enough. If W is not nearly orthonormal then, it returns
/// false, and the contents of W are invalid. The Rayleigh–Ritz step corrects what is left.
template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::orthonormal_by_rounds(const DirectionColumns& columns) {
  constexpr Index kRounds = 2;
  constexpr Index kNumbers = CholeskyQrStatus::rows;
  if (columns.active + columns.fresh == 0) {
    blocks_.set_w(0);
    return false;
  }
  Index batch = kRoundsUnseen<T>;
  for (Index done = 0; done < kRounds; done += batch, batch = 1) {
    const Part status = s_.packet.add(kNumbers, batch);
    for (Index round = 0; round < batch; ++round) {
      const SmallView<double, Space> numbers = status.there.block(0, round, kNumbers, 1);
      if (done + round == 0) {
        directions_.first_round(columns, streams_, numbers);
      } else {
        directions_.next_round(numbers);
      }
    }
    problem_.A->apply(context_, blocks_.S().W, blocks_.AS().W);
    ritz_.project(context_, blocks_.S().all, blocks_.BS().all, blocks_.AS().all, s_.packet);
    read_residuals();
    if (!kept_digits<T>(status.here.block(0, 0, kNumbers, 1), blocks_.w())) return false;
    const double most = done + batch < kRounds ? kOneRoundIsEnough : ritz_.kNearlyOrthonormal;
    if (ritz_.deviation() <= most) {
      ++result_.orthogonalization.cholqr2;
      return true;
    }
    s_.packet.clear();
  }
  return false;
}

/// Orthonormalises a W of any rank by the orthonormalisation ladder. Waits for the results of each
/// rung.
template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::orthonormalize_W() {
  const auto orthonormal = [&] {
    return make_orthonormal(blocks_.S().W, blocks_.BS().W,
                            {blocks_.locked_basis(), blocks_.XP_basis()});
  };
  Index rank = orthonormal();
  if (rank == 0 && blocks_.w() > 0 && !engine_.ended()) {
    // All residuals lie in the span of [Y X P]. Random directions may have a part outside of it.
    fill_random(context_, options_.seed, streams_++, blocks_.S().W, s_.shape.rows.first);
    rank = orthonormal();
  }
  blocks_.set_w(rank);
  if (rank == 0) {  // [Y X P] spans the whole space, so that no pair is missed
    engine_.end(
        verification_.stop_at_rounding("no search direction is left: rounding is all there is"));
  }
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::rayleigh_ritz(std::span<const double> errors) {
  constexpr Index kUnit = LobpcgBlocks<T, Ctx>::kWidthUnit;
  const bool alone = blocks_.p() + blocks_.w() == 0;  // of X, which may be wider than the block
  const Index most = std::max(s_.shape.block, alone ? blocks_.x() : 0);
  const Index wanted = block_wanted(pairs_, options_.nev, most) + kUnit - 1;
  const Index x = std::min(most, wanted - wanted % kUnit);
  const Index resting =
      resting_columns(pairs_.at_rest(ritz_.values(), guessed_), blocks_.x(), kUnit);
  if (!ritz_.solve(context_, blocks_.x(), x, resting, options_.which, errors)) {
    return engine_.end(SolveStatus::breakdown, "products with A are not finite");
  }
  blocks_.update(context_, ritz_.coefficients(), ritz_.block(), ritz_.directions());
  ritz_.carry_over();
  if (++steps_since_refresh_ >= options_.refresh_interval) refresh_due_ = true;
}

/// A Rayleigh–Ritz step for an S of which no part of SᵀAS is known. Waits for all of SᵀAS.
template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::rayleigh_ritz_afresh() {
  pairs_.forget_order();
  ritz_.forget();
  s_.packet.clear();
  ritz_.project(context_, blocks_.S().all, blocks_.BS().all, blocks_.AS().all, s_.packet);
  s_.packet.fetch(context_);
  rayleigh_ritz({});
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::refresh() {
  verification_.set_outdated();
  const Index x = make_orthonormal(blocks_.S().X, blocks_.BS().X, {blocks_.locked_basis()});
  if (x < blocks_.x()) {
    blocks_.set_x(x);
  } else {
    blocks_.set_p(make_orthonormal(blocks_.S().P, blocks_.BS().P,
                                   {blocks_.locked_basis(), blocks_.X_basis()}));
  }
  if (x == 0) engine_.end(SolveStatus::breakdown, "the block lost all of its directions");
  if (engine_.ended()) return;
  problem_.A->apply(context_, blocks_.S().all, blocks_.AS().all);
  rayleigh_ritz_afresh();
  refresh_due_ = false;
  steps_since_refresh_ = 0;
}

/// Expands X by what a search for missed pairs finds. If that changes a wanted pair, the search is
/// repeated once the pairs have converged again. Locked pairs that the found ones refute have to
/// converge again, too.
template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::search_missed() {
  end_if_lost(engine_, missed_pairs_.fill_P(streams_, constraints_));
  streams_ += missed_pairs_.kStreams;
  if (engine_.ended()) return;
  rayleigh_ritz_afresh();
  pairs_.locked_pairs().note_found(ritz_.all_values(), options_.nev);
  if (missed_pairs_.conclude()) {
    // The change of X is rounding. A P made of it, in rows where A is large, lets residuals grow.
    blocks_.set_p(0);
    refresh_due_ = true;
    return;
  }
  // W ← the vectors of refuted pairs. They may be mixtures of pairs that the search has found: a
  // Rayleigh–Ritz step over all of them tells these apart.
  while (!engine_.ended()) {
    for (Index w = 0; blocks_.columns_left() > w;) {
      const auto pair = pairs_.locked_pairs().refuted(ritz_.all_values(), pairs_.convergence());
      if (!pair) break;
      const Index column = blocks_.locked() - pairs_.locked() + *pair;
      blocks_.set_w(++w);
      copy(context_, blocks_.Y(column, 1), blocks_.S().W.columns(w - 1, 1));
      if (blocks_.pencil()) {
        copy(context_, blocks_.BY(column, 1), blocks_.BS().W.columns(w - 1, 1));
      }
      release(*pair);
    }
    if (blocks_.w() == 0) return;
    problem_.A->apply(context_, blocks_.S().W, blocks_.AS().W);
    rayleigh_ritz_afresh();
  }
}

template <Scalar T, class Ctx>
Index LobpcgSolve<T, Ctx>::make_orthonormal(Block V, Block BV,
                                            std::initializer_list<Basis<T, Space>> bases) {
  const OrthonormalBlock made = detail::make_orthonormal(context_, s_.orthogonalizer, problem_.B,
                                                         bases, V, BV, result_.orthogonalization);
  end_if_lost(engine_, made);
  return made.rank;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LobpcgSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
