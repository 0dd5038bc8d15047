#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/iteration/worst.hpp>

namespace heddle::detail {
namespace {

/// Calls body(first, count) for successive groups of at most `width` columns out of `cols`.
template <class Body>
void for_each_slab(Index cols, Index width, const Body& body) {
  for (Index first = 0; first < cols; first += width) body(first, std::min(width, cols - first));
}

/// B V: V itself where B = I, else a fresh product in `scratch`.
template <Scalar T, class Ctx>
ConstBlockView<T, typename Ctx::Space> image(Ctx& context, LinearOperator<T, Ctx>* B,
                                             ConstBlockView<T, typename Ctx::Space> V,
                                             BlockView<T, typename Ctx::Space> scratch) {
  if (B == nullptr) return V;
  const auto BV = scratch.columns(0, V.cols());
  B->apply(context, V, BV);
  return BV;
}

void symmetrize(SmallView<double, HostSpace> M) {
  for (Index j = 0; j < M.cols; ++j) {
    for (Index i = 0; i < j; ++i) M(i, j) = M(j, i) = 0.5 * (M(i, j) + M(j, i));
  }
}

double one_norm(ConstSmallView<double, HostSpace> M) {
  double largest = 0;
  for (Index j = 0; j < M.cols; ++j) {
    double sum = 0;
    for (Index i = 0; i < M.rows; ++i) sum += std::abs(M(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace

template <Scalar T, class Ctx>
EigenVerifier<T, Ctx>::EigenVerifier(Ctx& context, Index max_pairs)
    : dense_(max_pairs),
      host_(std::make_unique<HostContext>(1)),
      H_(*host_, max_pairs, max_pairs),
      G_(*host_, max_pairs, max_pairs),
      Z_(*host_, max_pairs, max_pairs),
      theta_host_(*host_, max_pairs, 1),
      product_(context, max_pairs, max_pairs),
      Z_device_(context, max_pairs, max_pairs),
      theta_(context, max_pairs, 1),
      residual_norms_(context, max_pairs, 1),
      norms_(context, max_pairs, 1) {
  values_.reserve(static_cast<std::size_t>(max_pairs));
  residuals_.reserve(static_cast<std::size_t>(max_pairs));
}

template <Scalar T, class Ctx>
DenseFailure EigenVerifier<T, Ctx>::rayleigh_ritz(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                                  Which which, BlockView<T, Space> V,
                                                  BlockView<T, Space> AV, BlockView<T, Space> BV) {
  const PhaseScope phase(context, Phase::verify);
  const Index k = V.cols();
  const SmallView<double, HostSpace> H = H_.view(k, k);
  const SmallView<double, HostSpace> G = G_.view(k, k);
  for_each_slab(k, AV.cols(), [&](Index first, Index count) {
    const auto V_slab = V.columns(first, count);
    const auto AV_slab = AV.columns(0, count);
    const auto product = product_.view(k, count);
    problem.A->apply(context, V_slab, AV_slab);
    gram(context, V, AV_slab, product);  // Vᵀ A V   k×slab
    fetch(context, product, H.block(0, first, k, count));
    gram(context, V, image(context, problem.B, V_slab, BV), product);  // Vᵀ B V   k×slab
    fetch(context, product, G.block(0, first, k, count));
  });
  symmetrize(H);
  symmetrize(G);
  projected_norm_A_ = one_norm(H);
  projected_norm_B_ = one_norm(G);
  const SmallView<double, HostSpace> theta = theta_host_.view(k, 1);
  const SmallView<double, HostSpace> Z = Z_.view(k, k);
  const DenseFailure failure = dense_.solve(H, G, theta, Z);
  if (failure != DenseFailure::none) return failure;
  if (which == Which::largest) {
    std::reverse(theta.data, theta.data + k);
    for (Index j = 0; j < k / 2; ++j) {
      std::swap_ranges(&Z(0, j), &Z(0, j) + k, &Z(0, k - 1 - j));
    }
  }
  values_.assign(theta.data, theta.data + k);
  send(context, Z, Z_device_.view(k, k));
  multiply(context, 1.0, V, Z_device_.view(k, k), 0.0, V);  // V ← V Z   n×k
  return DenseFailure::none;
}

template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::measure(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                    ConstBlockView<T, Space> V, BlockView<T, Space> AV,
                                    BlockView<T, Space> BV) {
  const PhaseScope phase(context, Phase::verify);
  const Index k = V.cols();
  const SmallView<double, HostSpace> G = G_.view(k, k);
  const SmallView<double, HostSpace> host = theta_host_.view(k, 1);
  std::copy(values_.begin(), values_.end(), host.data);
  send(context, host, theta_.view(k, 1));
  for_each_slab(k, AV.cols(), [&](Index first, Index count) {
    const auto V_slab = V.columns(first, count);
    const auto R = AV.columns(0, count);
    const auto product = product_.view(k, count);
    problem.A->apply(context, V_slab, R);
    const auto BV_slab = image(context, problem.B, V_slab, BV);
    gram(context, V, BV_slab, product);  // Vᵀ B V   k×slab
    fetch(context, product, G.block(0, first, k, count));
    residual(context, R, BV_slab, theta_.view(k, 1).block(first, 0, count, 1), R,
             residual_norms_.view(k, 1).block(first, 0, count, 1));  // A V − B V Θ   n×slab
  });
  column_norms(context, V, norms_.view(k, 1));
  fetch(context, residual_norms_.view(k, 1), host);
  residuals_.assign(host.data, host.data + k);
  fetch(context, norms_.view(k, 1), host);
  const double norm_B = problem.B == nullptr ? 1 : problem.B->one_norm().value_or(0);
  orthogonality_ = orthogonality_excess_ = 0;
  for (Index j = 0; j < k; ++j) {
    residuals_[static_cast<std::size_t>(j)] /= host(j, 0);
    for (Index i = 0; i < k; ++i) {
      const double deviation = std::abs(G(i, j) - (i == j ? 1 : 0));
      keep_worst(orthogonality_, deviation);
      keep_worst(orthogonality_excess_,
                 deviation / orthogonality_limit<T>(norm_B * host(i, 0) * host(j, 0)));
    }
  }
}

template <Scalar T, class Ctx>
std::string EigenVerifier<T, Ctx>::refutation(const EigenConvergence& convergence) const {
  for (std::size_t j = 0; j < residuals_.size(); ++j) {
    if (convergence.passes(values_[j], residuals_[j])) continue;
    return fmt::format("the residual of pair {} is {:.1e}, {:.1e} is allowed", j + 1,
                       convergence.scaled(values_[j], residuals_[j]),
                       convergence.scaled(values_[j], convergence.allowed(values_[j])));
  }
  if (!orthonormal()) {
    return fmt::format("|X'BX - I| is {:.1e}, {:.1e} is allowed: the vectors are not orthonormal",
                       orthogonality_, orthogonality_ / orthogonality_excess_);
  }
  return "the values of the pairs moved";
}

template <Scalar T, class Ctx>
bool EigenVerifier<T, Ctx>::report(const EigenConvergence& convergence,
                                   EigenResult<T, Space>& result) const {
  bool passes = orthonormal();
  result.eigenvalues.clear();
  result.residuals.clear();
  for (std::size_t j = 0; j < residuals_.size(); ++j) {
    passes = passes && convergence.passes(values_[j], residuals_[j]);
    result.eigenvalues.push_back(values_[j]);
    result.residuals.push_back(convergence.scaled(values_[j], residuals_[j]));
  }
  result.orthogonality = orthogonality_;
  return passes;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class EigenVerifier<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
