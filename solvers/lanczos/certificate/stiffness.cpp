#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/row_maxima.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/solvers/lanczos/certificate/stiffness.hpp>

namespace heddle::detail {
namespace {

/// Products with random vectors from which the size of each row is taken.
constexpr Index kProbes = 6;

}  // namespace

template <Scalar T, class Ctx>
double stiffness(Ctx& context, LinearOperator<T, Ctx>& A, ConstBlockView<T, typename Ctx::Space> X,
                 double last) {
  using Space = typename Ctx::Space;
  const Index n = A.rows();
  const Index k = X.cols();
  MultiVector<T, Space> probes(context, n, kProbes), products(context, n, kProbes);
  fill_random(context, 1, 0, probes.view(), 0);
  A.apply(context, std::as_const(probes).view(), products.view());
  const BlockView<T, Space> inverse = probes.columns(0, 1);
  row_maxima<T>(context, std::as_const(products).view(), -1, inverse);  // D⁻¹, 0 in rows of zeros
  MultiVector<T, Space> scaled(context, n, k);
  scale_rows<T>(context, inverse, X, scaled.view());
  Packet<Ctx> packet(context, 2 * k + 1);
  const auto rows = packet.add(1, 1), before = packet.add(k, 1), after = packet.add(k, 1);
  column_norms<T>(context, inverse, rows.there);
  column_norms<T>(context, X, before.there);
  column_norms<T>(context, std::as_const(scaled).view(), after.there);
  packet.fetch(context);
  double largest = rows.here(0, 0) / std::sqrt(static_cast<double>(n));
  if (last > 0) largest = std::min(largest, 1 / last);
  for (Index j = 0; j < k; ++j) {
    largest = std::max(largest, after.here(j, 0) / before.here(j, 0));
  }
  return A.one_norm().value_or(1) * largest;
}

#define HEDDLE_INSTANTIATE(T, Ctx) \
  template double stiffness(Ctx&, LinearOperator<T, Ctx>&, ConstBlockView<T, Ctx::Space>, double);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
