#pragma once

#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <limits>

namespace heddle::detail {

/// The outcome of a probe of an operator that should be symmetric positive definite.
enum class SpdProbe { passed, asymmetric, indefinite, not_finite };

/// How far from symmetric an operator in lower precision may be. Bfloat16 has errors of 1/250 per
/// product, of which such an operator has some dozens.
inline constexpr double kLoweredAsymmetry = 0.1;

/// Computes G = YᵀM Y for random Y (n×k) with a few columns. Tests whether its diagonal is positive
/// and whether G is symmetric to half of the digits, or, if M is `lowered`, to `kLoweredAsymmetry`.
/// The probe detects clear violations, and proves nothing if it passes. Y and MY, n×k, are scratch
/// memory. The packet must have room for k² numbers of the kind of M.
template <Scalar T, class Ctx>
SpdProbe probe_spd(Ctx& context, LinearOperator<T, Ctx>& M, bool lowered, Packet<Ctx>& packet,
                   BlockView<T, typename Ctx::Space> Y, BlockView<T, typename Ctx::Space> MY) {
  const Index k = Y.cols();
  fill_random<T>(context, 0, 0, Y, M.row_range().first);
  M.apply(context, Y, MY);
  packet.clear();
  const auto products = packet.template add<Wide<T>>(k, k);
  gram<T>(context, Y, MY, products.there);
  packet.fetch(context);
  const SmallView<Wide<T>, HostSpace> G = products.here;
  for (Index j = 0; j < k; ++j) {
    if (!is_finite(G(j, j))) return SpdProbe::not_finite;
    if (!(real_part(G(j, j)) > 0)) return SpdProbe::indefinite;
  }
  const double rounding =
      lowered ? kLoweredAsymmetry
              : std::sqrt(static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()));
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double size = std::sqrt(real_part(G(i, i))) * std::sqrt(real_part(G(j, j)));
      if (!(std::abs(G(i, j) - conjugate(G(j, i))) <= rounding * size)) return SpdProbe::asymmetric;
    }
  }
  return SpdProbe::passed;
}

}  // namespace heddle::detail
