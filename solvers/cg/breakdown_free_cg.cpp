#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/breakdown_free_cg.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

/// Gram matrices are summed in double in every precision.
constexpr double kGramEpsilon = std::numeric_limits<double>::epsilon();

/// Converged columns stay in the block once all residuals are within this multiple of their limits.
/// Removing them slows the convergence of the others, which costs more products near the end.
constexpr double kStayBelow = 10;

/// If a pᵀAp/pᵀp is below this share of the largest one so far, A may be nearly singular.
constexpr double kCarefulBelow = 1e-10;

/// Directions P whose unit columns have a Cholesky factor R with ‖R⁻¹‖²_F/r up to this value stay
/// as they are. Orthonormal ones are P F then, and rounding of Fᵀ(PᵀAP)F grows by up to r times
/// this.
constexpr double kMostGrowth = 10;

/// The diagonal ratio of the Cholesky factor of a Gram matrix of m unit columns above which the
/// factor holds more than rounding.
template <Scalar T>
double trusted_ratio(Index m) {
  const double columns = static_cast<double>(m);
  return std::max(10 * std::sqrt(columns * kGramEpsilon),
                  10 * columns * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()));
}

}  // namespace

template <Scalar T, class Ctx>
BreakdownFreeCg<T, Ctx>::BreakdownFreeCg(Ctx& context, LinearColumns<T, Ctx>& columns,
                                         Storage& storage)
    : context_(context), columns_(columns), s_(storage), directions_(storage.columns.directions) {
  columns_.stay_together_below(kStayBelow);
}

template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::run() {
  // R = B − A X                                                                n×s
  for (Index k = start(); !columns_.finish_iteration(k); ++k) {
    while (columns_.take_restart()) restart();  // P = orth(M⁻¹R)                n×r, r ≤ s
    step();  // Q = A P, α = (PᵀQ)⁻¹PᵀR;  X ← X + P α, R ← R − Q α        α r×s
    next_directions();  // Z = M⁻¹R, β = −(PᵀQ)⁻¹QᵀZ;  P ← orth(Z + P β)        β r×s
  }
  columns_.finish();
}

/// Computes the factor F of directions from a checkpoint, with the bits that it had.
template <Scalar T, class Ctx>
Index BreakdownFreeCg<T, Ctx>::start() {
  const Index first = columns_.start();
  const Index r = directions_.count;
  if (r == 0 || directions_.orthonormal) return first;
  s_.columns.packet.clear();
  const Small PtP = s_.product.view(r, r);
  gram<T>(context_, P(), P(), PtP);
  cholesky_qr_coefficients(context_, PtP, F(r),
                           s_.columns.packet.add(CholeskyQrStatus::rows, 1).there);
  return first;
}

template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::restart() {
  directions_.count = 0;
  columns_.products().forget_steps();
  s_.columns.packet.clear();
  norms_ = s_.columns.packet.add(columns_.active(), 1);
  column_norms<T>(context_, columns_.R(), norms_.there);
  directions();
  if (directions_.count > 0 || columns_.ended()) return;
  if (columns_.products().raise_preconditioner()) return columns_.request_restart();
  columns_.end(Stop{SolveStatus::breakdown, "no search direction is left"});
}

template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::step() {
  if (columns_.ended()) return;
  for (LinearColumn& column : columns_.columns()) column.steps.begin(column.norm);
  columns_.products().multiply_A(P(), Q());
  factor_energy();
  if (columns_.ended()) return;
  const PhaseScope phase(context_, Phase::update);
  half_step_ = s_.columns.packet.template add<Wide<T>>(kept_, columns_.active());
  const Small alpha = energy_solve(PtR_, half_step_.there);
  multiply<T>(context_, 1, P(), alpha, 1, columns_.X());
  norms_ = s_.columns.packet.add(columns_.active(), 1);
  multiply<T>(context_, -1, Q(), alpha, 1, columns_.R(), norms_.there);
}

template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::next_directions() {
  if (columns_.ended()) return;
  if (!columns_.have_converged(norms_.there)) return directions();
  s_.columns.packet.fetch(context_);
  note_steps();
  read_energy_status();
}

template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::directions() {
  if (columns_.ended()) return;
  columns_.products().precondition(norms_.there, s_.Z,
                                   [this](const auto& MR) { this->add_directions(MR); });
  const Part status = s_.columns.packet.add(CholeskyQrStatus::rows, 1);
  cholesky_qr_coefficients(context_, ZtZ(), F(columns_.active()), status.there);
  s_.columns.packet.fetch(context_);
  if (directions_.count > 0) note_steps();
  if (!columns_.measure(norms_.here)) return;
  if (directions_.count > 0) read_energy_status();
  if (directions_.count == 1) {
    columns_.products().note_step(directions_.least_square * real_part(energy_.here(0, 0)));
  }
  take_directions(status.here);
}

/// Z = M⁻¹R + P β in the memory of P, or Z = M⁻¹R if P is empty, and ZᵀZ.
template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::add_directions(const auto& MR) {
  if (directions_.count == 0) {
    const PhaseScope phase(context_, Phase::orthogonalize);
    copy(context_, MR, Z());
    return gram<T>(context_, Z(), Z(), ZtZ());
  }
  const Small QtMR = s_.product.view(directions_.count, MR.cols());
  gram(context_, Q(), MR, QtMR);
  const Small beta = energy_solve(QtMR, s_.half.view(kept_, QtMR.cols));
  const PhaseScope phase(context_, Phase::orthogonalize);
  multiply_gram(context_, -1, P(), beta, 1, MR, Z(), Z(), ZtZ());
}

/// Computes PᵀQ, r×r, and PᵀR, r×s, in one pass over P, G = Fᵀ(PᵀQ)F, and W = F E with E Eᵀ = G⁻¹.
/// W = 0 if G is not positive definite. So PᵀQ itself, which is badly scaled, is not factored.
template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::factor_energy() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  const Index r = directions_.count;
  s_.columns.packet.clear();
  energy_ = s_.columns.packet.template add<Wide<T>>(r, r);
  energy_status_ = s_.columns.packet.add(CholeskyQrStatus::rows, 1);
  PtR_ = s_.product.view(r, columns_.active());
  const Small G = energy_.there, W = s_.W.view(r, r);
  kept_ = r;
  if (directions_.orthonormal) {
    gram<T>(context_, P(), Q(), G, columns_.R(), PtR_);
    if (!directions_.careful) {
      return cholesky_qr_coefficients(context_, G, W, energy_status_.there);
    }
    s_.columns.packet.fetch(context_);
    invert_by_eigenvectors();
  } else {
    const Small PtQ = s_.coefficient.view(r, r), half = s_.half.view(r, r);
    gram<T>(context_, P(), Q(), PtQ, columns_.R(), PtR_);
    small_multiply(context_, 1, PtQ, false, F(r), false, 0, half);
    small_multiply(context_, 1, F(r), true, half, false, 0, G);
    cholesky_qr_coefficients(context_, G, half, energy_status_.there);
    small_multiply(context_, 1, F(r), false, half, false, 0, W);
  }
}

/// Computes W from the eigenvectors of G with positive eigenvalues. Ends the solve if A is
/// indefinite.
template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::invert_by_eigenvectors() {
  const SmallView<Wide<T>, HostSpace> G = energy_.here;
  const SmallView<Wide<T>, HostSpace> V =
      s_.eigenvectors.view(directions_.count, directions_.count);
  const SmallView<double, HostSpace> theta = s_.eigenvalues.view(directions_.count, 1);
  for (Index j = 0; j < directions_.count; ++j) {
    for (Index i = 0; i < j; ++i) {
      G(i, j) = 0.5 * (G(i, j) + conjugate(G(j, i)));
      G(j, i) = conjugate(G(i, j));
    }
  }
  kept_ = 0;
  if (!s_.eigensolver.compute(*s_.host, G, theta, V)) {
    return columns_.end(Stop{SolveStatus::breakdown, "products with A are not finite"});
  }
  columns_.norm_A().add_rayleigh_quotient(theta(directions_.count - 1, 0));
  columns_.end(columns_.norm_A().check_least_rayleigh_quotient(theta(0, 0), directions_.count));
  if (columns_.ended()) return;
  const double size = std::max(-theta(0, 0), columns_.norm_A().largest_rayleigh_quotient());
  for (Index j = 0; j < directions_.count; ++j) {
    if (!(theta(j, 0) > kGramEpsilon * size)) continue;
    const double scale = 1 / std::sqrt(theta(j, 0));
    for (Index i = 0; i < directions_.count; ++i) V(i, kept_) = scale * V(i, j);
    ++kept_;
  }
  if (kept_ == 0) return columns_.end_without_energy();
  send(context_, s_.eigenvectors.view(directions_.count, kept_),
       s_.W.view(directions_.count, kept_));
}

/// (PᵀQ)⁻¹C for a small matrix C, r×s, and half = WᵀC.
template <Scalar T, class Ctx>
auto BreakdownFreeCg<T, Ctx>::energy_solve(Small C, Small half) -> Small {
  const Small result = s_.coefficient.view(C.rows, C.cols);
  const Small W = s_.W.view(C.rows, kept_);
  small_multiply(context_, 1, W, true, C, false, 0, half);
  small_multiply(context_, 1, W, false, half, false, 0, result);
  return result;
}

/// Reads from the packet by how much the last step has reduced the energy norm of each error:
/// (PᵀR)ᵀ(PᵀQ)⁻¹PᵀR has the reductions on its diagonal.
template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::note_steps() {
  for (Index j = 0; j < columns_.active(); ++j) {
    double reduction = 0;
    for (Index i = 0; i < half_step_.here.rows; ++i) {
      reduction += squared(half_step_.here(i, j));
    }
    columns_.columns()[static_cast<std::size_t>(j)].steps.add(reduction);
  }
}

/// Reads from the packet whether the last step had a factor of G.
template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::read_energy_status() {
  if (directions_.careful) return;
  for (Index j = 0; j < directions_.count; ++j)
    columns_.norm_A().add_rayleigh_quotient(real_part(energy_.here(j, j)));
  const SmallView<double, HostSpace> status = energy_status_.here;
  const bool factored = status(CholeskyQrStatus::diagonal_ratio, 0) > 0;
  directions_.careful =
      !factored || status(CholeskyQrStatus::least_square, 0) <
                       kCarefulBelow * columns_.norm_A().largest_rayleigh_quotient();
  if (!factored) columns_.request_restart();  // because the step had no effect
}

/// P ← Z, made orthonormal unless its columns are nearly so: by Cholesky QR, or by the ladder where
/// that is not stable. `status` is that of F.
template <Scalar T, class Ctx>
void BreakdownFreeCg<T, Ctx>::take_directions(ConstSmallView<double, HostSpace> status) {
  const PhaseScope phase(context_, Phase::orthogonalize);
  const Index s = columns_.active();
  const Block P = Z();
  directions_.least_square = status(CholeskyQrStatus::least_square, 0);
  const bool factored = status(CholeskyQrStatus::diagonal_ratio, 0) > trusted_ratio<T>(s);
  const bool nearly = status(CholeskyQrStatus::growth, 0) <= kMostGrowth;
  directions_.orthonormal = directions_.careful || !factored || !nearly;
  OrthoReport report;
  report.rank = s;
  if (!factored) {
    report = s_.orthogonalizer.orthonormalize(context_, P, P);
  } else if (directions_.orthonormal) {
    multiply<T>(context_, 1, P, F(s), 0, P);
  }
  s_.columns.result.orthogonalization.add(report, s);
  const bool restarted = std::exchange(directions_.count, report.rank) == 0;
  if (!report.finite) {
    columns_.end(Stop{SolveStatus::breakdown, "search directions are not finite"});
  } else if (directions_.count == 0 && !restarted) {
    columns_.request_restart();
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BreakdownFreeCg<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
