#pragma once

#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <vector>

namespace heddle {

/// The exponents by which rows of A and columns of B were scaled. Empty lists: not at all.
struct ProductExponents {
  const std::vector<std::int32_t>& rows;
  const std::vector<std::int32_t>& columns;
};

/// How a computed product compares with the exact one.
struct ProductError {
  double largest = 0;    ///< max |c' − c| over all entries
  double bound = 0;      ///< the bound of the entry with the largest error
  double share = 0;      ///< max |c' − c| / bound, at most 1 if every entry keeps its bound
  Index underflows = 0;  ///< entries that underflow may change more than roundoff does
  Index row = 0;         ///< of the entry with the largest share
  Index column = 0;
};

/// Compares C' with the exact product C = A B, entry by entry, and with the a-priori bound
///
///   |c' − c| ≤ Σ_k (δa |b| + |a| δb + δa δb) + γ Σ_k (|a| + δa)(|b| + δb) + n σ
///
/// of a row with n entries. δx = u |x| + η is the error of a stored value with the roundoff u of
/// the precision and η, half the spacing of its subnormal numbers, scaled back. γ = m v/(1 − m v)
/// for m additions with the roundoff v, in any order. σ is the spacing of subnormal sums, scaled
/// back. The bound is infinite for m v ≥ 1. The exact product is replaced by one in twice the
/// working precision (Dot2), and its error is added to the bound.
///
/// Source: Higham, Accuracy and Stability of Numerical Algorithms, section 3.1. Sums of tensor
/// cores: Fasi, Higham, Mikaitis, Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ CS
/// 2021. Dot2: Ogita, Rump, Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005).
///
/// Shapes must fit. An entry whose exact value passes the range of double is not compared.
template <Scalar T>
ProductError product_error(HostContext& context, CsrView<double, HostSpace> A,
                           ConstBlockView<double, HostSpace> B, ConstBlockView<T, HostSpace> C,
                           ProductPrecision precision, const ProductExponents& exponents);

}  // namespace heddle
