#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/one_sided_jacobi.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/lanczos/dense.hpp>
#include <heddle/solvers/lanczos/solve.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// Up to this order, Jacobi rotations take less than a second.
constexpr Index kJacobiOrder = 512;

template <Scalar T>
void convert(ConstBlockView<T, HostSpace> X, SmallView<Wide<T>, HostSpace> M) {
  for (Index i = 0; i < M.rows; ++i) {
    for (Index j = 0; j < M.cols; ++j) M(i, j) = static_cast<Wide<T>>(X(i, j));
  }
}

template <Scalar T>
void convert(ConstSmallView<Wide<T>, HostSpace> M, BlockView<T, HostSpace> X) {
  for (Index i = 0; i < M.rows; ++i) {
    for (Index j = 0; j < M.cols; ++j) X(i, j) = static_cast<T>(M(i, j));
  }
}

}  // namespace

template <Scalar T, class Ctx>
void DenseStandardForm<T, Ctx>::solve() {
  const PencilNorms norms = this->norms();
  s_.pairs.set_norms(norms.A, norms.B);
  choice_.invert({0, norms.C()});
  if (engine_.ended() || !decompose()) return;
  const bool lowered =
      !all_theta_exact() && choice_.separate(s_.verifier.values().front(), last_theta());
  if (lowered && (engine_.ended() || !decompose())) return;
  const std::span<const double> theta = finite_values();
  const auto X = s_.result.eigenvectors.columns(0, std::ssize(theta));
  s_.F.to_eigenvectors(context_, X);
  if (all_theta_exact()) orthonormalize(X.columns(0, options_.nev));
  // Only the sizes of the others count, and the last of them may be rounding errors of the first.
  for (Index j = options_.nev; j < X.cols(); ++j) orthonormalize(X.columns(j, 1));
  std::vector<double> values, errors;
  for (const double each : theta) {
    values.push_back(s_.F.map().lambda_at(each));
    const double error = kInfiniteValue<T> * (all_theta_exact() ? each : theta.front());
    errors.push_back(error / (each * each));  // of λ = σ + 1/θ
  }
  verification_.set_dense_values(std::move(values), std::move(errors));
}

/// X ← X R⁻¹ with XᵀBX = RᵀR, an orthonormalisation in which earlier columns go first: a vector
/// with a large λ has a part along those with small ones, because L⁻ᵀ raises its rounding errors.
template <Scalar T, class Ctx>
void DenseStandardForm<T, Ctx>::orthonormalize(BlockView<T, typename Ctx::Space> X) {
  const Index k = X.cols();
  OwnedHostContext host(1);
  SmallMatrix<Wide<T>, HostSpace> gram_here(*host, k, k), inverse(*host, k, k);
  SmallMatrix<Wide<T>, typename Ctx::Space> there(context_, k, k);
  const auto scratch = s_.F.scratch();
  for (Index first = 0; first < k; first += scratch.cols()) {
    const auto slab = X.columns(first, std::min(scratch.cols(), k - first));
    const auto product = there.view(k, slab.cols());
    const auto BX = scratch.columns(0, slab.cols());
    problem_.B->apply(context_, slab, BX);
    gram<T>(context_, X, BX, product);
    fetch(context_, product, gram_here.view(k, k).block(0, first, k, slab.cols()));
  }
  double numbers[CholeskyQrStatus::rows];
  const SmallView<double, HostSpace> status{numbers, CholeskyQrStatus::rows, 1,
                                            CholeskyQrStatus::rows};
  cholesky_qr_coefficients(*host, gram_here.view(k, k), inverse.view(k, k), status);
  if (!(status(CholeskyQrStatus::diagonal_ratio, 0) > 0)) return;  // the verification will tell
  send(context_, inverse.view(k, k), there.view(k, k));
  multiply<T>(context_, 1.0, X, there.view(k, k), 0.0, X);
  context_.synchronize();  // the copy reads `inverse` until then
}

/// The θ that belong to finite λ, the wanted ones first.
template <Scalar T, class Ctx>
std::span<const double> DenseStandardForm<T, Ctx>::finite_values() const {
  const std::span<const double> theta = s_.verifier.values();
  const double least = kInfiniteValue<T> * (all_theta_exact() ? 0 : theta.front());
  const auto wanted = static_cast<std::size_t>(options_.nev);
  std::size_t count = wanted;
  while (count < theta.size() && theta[count] > least) ++count;
  return theta.first(count);
}

/// ‖A‖₁ and ‖B‖₁, by products with the whole space where the operators do not know them.
template <Scalar T, class Ctx>
PencilNorms DenseStandardForm<T, Ctx>::norms() {
  const std::optional<double> A = problem_.A->one_norm();
  const std::optional<double> B = problem_.B->one_norm();
  if (A && B) return {*A, *B, true};
  const auto V = s_.result.eigenvectors.view();
  set_identity(context_, V, s_.rows.first);
  s_.verifier.rayleigh_ritz(context_, problem_, options_.which, V, s_.basis.scratch(),
                            s_.F.scratch());
  return {A.value_or(s_.verifier.projected_norm_A()), B.value_or(s_.verifier.projected_norm_B()),
          true};
}

template <Scalar T, class Ctx>
bool DenseStandardForm<T, Ctx>::all_theta_exact() const {
  return !kComplex<T> && s_.shape.n <= kJacobiOrder;  // Jacobi rotations take real matrices
}

/// V ← the eigenvectors of F, for the wanted eigenvalues first. False if this has ended the solve.
template <Scalar T, class Ctx>
bool DenseStandardForm<T, Ctx>::decompose() {
  EigenProblem<T, Ctx> standard;
  standard.A = &s_.F;
  const auto V = s_.result.eigenvectors.view();
  set_identity(context_, V, s_.rows.first);
  const bool done = [&] {
    if constexpr (RealScalar<T>) {
      if (all_theta_exact()) return decompose_factored();
    }
    return s_.verifier.rayleigh_ritz(context_, standard, Which::largest, V, s_.basis.scratch(),
                                     {}) == DenseFailure::none;
  }();
  const double least = all_theta_exact() ? 0 : kInfiniteValue<T>;
  if (!done) {
    engine_.end(SolveStatus::breakdown, "products with A or B are not finite");
  } else if (last_theta() <= least * s_.verifier.values().front()) {
    engine_.end(SolveStatus::breakdown, kTooFewFiniteValues);
  }
  return !engine_.ended();
}

/// Does so for V = I by the singular values of G = L⁻¹P M, where B = M Mᵀ and so F = G Gᵀ. False if
/// numbers are not finite.
template <Scalar T, class Ctx>
bool DenseStandardForm<T, Ctx>::decompose_factored() {
  if constexpr (kComplex<T>) {
    return false;  // never called: Jacobi's rotations are those of real matrices
  } else {
    const auto V = s_.result.eigenvectors.view();
    const Index n = V.cols();
    OwnedHostContext host(1);
    MultiVector<T, HostSpace> block(*host, n, n);
    SmallMatrix<double, HostSpace> matrix(*host, n, n);
    const SmallView<double, HostSpace> G = matrix.view(n, n);
    const auto scratch = s_.F.scratch();
    for (Index first = 0; first < n; first += scratch.cols()) {
      const Index count = std::min(scratch.cols(), n - first);
      problem_.B->apply(context_, V.columns(first, count), scratch.columns(0, count));
      fetch<T>(context_, scratch.columns(0, count), block.columns(first, count));
    }
    convert<T>(block.view(), G);
    if (!factor_semidefinite(G)) return false;
    convert<T>(G, block.view());
    send<T>(context_, block.view(), V);
    for (Index first = 0; first < n; first += scratch.cols()) {
      const auto slab = V.columns(first, std::min(scratch.cols(), n - first));
      problem_.shifted_inverse->apply_lower(context_, slab, slab);
    }
    fetch<T>(context_, V, block.view());
    convert<T>(block.view(), G);
    const std::vector<double> theta = one_sided_jacobi(G);
    if (theta.empty()) return false;
    convert<T>(G, block.view());
    send<T>(context_, block.view(), V);
    context_.synchronize();  // the copy reads `block` until then
    s_.verifier.set_values(theta);
    return true;
  }
}

/// The θ of the last wanted pair.
template <Scalar T, class Ctx>
double DenseStandardForm<T, Ctx>::last_theta() const {
  return s_.verifier.values()[static_cast<std::size_t>(options_.nev - 1)];
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::solve_dense() {
  set_identity(context_, result_.eigenvectors.view(), s_.rows.first);
  const bool transforms = has_standard_form(problem_);
  DenseStandardForm<T, Ctx> form(context_, problem_, options_, s_, choice_, verification_, engine_);
  if (transforms) {
    choice_.use_C();
    form.solve();
    if (engine_.ended()) return finish();
  }
  const Index count = transforms ? options_.nev : s_.shape.n;
  // A Rayleigh–Ritz step over values of very different sizes would mix vectors that are exact.
  const bool exact = transforms && form.all_theta_exact();
  if (exact ? verification_.take_dense_vectors() : verification_.rayleigh_ritz(count)) {
    set_norms();
    verification_.measure(count, pairs_.convergence());
  }
  engine_.append_record(*this);
  if (verification_.verdict().confirmed()) {
    engine_.end(SolveStatus::converged, "solved as a dense problem");
  } else if (result_.eigenvalues.empty()) {
    const bool indefinite = verification_.failure() == DenseFailure::indefinite;
    engine_.end(indefinite ? SolveStatus::indefinite : SolveStatus::breakdown,
                "the dense problem has no solution: B is not positive definite, or A not finite");
  } else {
    engine_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
  }
  finish();
}

#define HEDDLE_INSTANTIATE(T, Ctx)          \
  template class DenseStandardForm<T, Ctx>; \
  template class BlockLanczosSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
