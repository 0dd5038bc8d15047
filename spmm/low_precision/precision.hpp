#pragma once

#include <concepts>
#include <cstdint>
#include <heddle/linalg/data/views.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <optional>
#include <string_view>
#include <vector>

/// The precisions of a product, the powers of two that bring its factors into the range of a short
/// number type, and the bounds of its errors. Scaling by powers of two and back is exact.
namespace heddle {

/// The precisions of a product C = A B: the type that the values of A and B are rounded to. Sums
/// and C are in single precision for `half`, `bf16` and `tf32`, else in the type itself.
enum class ProductPrecision { half, bf16, tf32, single_precision, double_precision };

/// How a product rounds.
struct PrecisionLimits {
  std::string_view name;  ///< as users type it
  double roundoff;        ///< u: a value x is stored with an error of at most u |x| + spacing/2
  double spacing;         ///< of subnormal numbers
  double largest;         ///< finite number
  double sum_roundoff;    ///< of an addition, relative to the largest partial sum of |a||b|
  double sum_spacing;     ///< of subnormal sums
  /// Additions per entry of A that round. Tensor cores add several products and the sum so far at
  /// once and cut each of them off; so entries and, at most as often, sums are rounded.
  double additions_per_entry;
};

/// The limits of a precision.
const PrecisionLimits& limits_of(ProductPrecision precision) noexcept;

/// All precisions, from the shortest type to the longest.
const std::vector<ProductPrecision>& product_precisions();

/// The precision of this name, nothing if there is none.
std::optional<ProductPrecision> find_precision(std::string_view name) noexcept;

/// That of the number type V.
template <class V>
constexpr ProductPrecision precision_of() noexcept {
  if constexpr (std::same_as<V, Half>) return ProductPrecision::half;
  if constexpr (std::same_as<V, Bfloat16>) return ProductPrecision::bf16;
  return ProductPrecision::tf32;
}

/// Calls body(V{}) for the number type V of `half`, `bf16` or `tf32` and returns its result. The
/// precision must be one of these.
template <class Body>
auto with_narrow_float(ProductPrecision precision, const Body& body) {
  switch (precision) {
    case ProductPrecision::half:
      return body(Half{});
    case ProductPrecision::bf16:
      return body(Bfloat16{});
    default:
      return body(Tf32{});
  }
}

/// Where the values of a product may be scaled before they are rounded.
enum class RangeScaling {
  none,           ///< values beyond the range are refused
  powers_of_two,  ///< the largest value of each row of A and column of B gets the exponent 14
};

namespace detail {

/// Throws `InvalidArgument` for a plan with scaling: terms in a short number type are not scaled.
void require_unscaled(RangeScaling scaling);

}  // namespace detail

/// The exponent of the largest values after scaling: the largest of half precision. Sums of 2^96
/// products of such values are in the range of single precision.
inline constexpr int kScaledExponent = 14;

/// Per row of factor·A the exponent e by which its values are scaled, a·2^e. Throws
/// `InvalidArgument` with the place of the first value that is not finite, or that is beyond
/// `largest` and must not be scaled. `type` names the number type in the message. Rows of zeros
/// have the exponent 0.
template <Scalar T>
std::vector<std::int32_t> row_exponents(HostContext& context, const CsrView<T, HostSpace>& A,
                                        RangeScaling scaling, double largest, std::string_view type,
                                        double factor = 1);

/// The same per column of B, into `exponents`, B.cols() numbers. Uses the context's scratch memory.
template <Scalar T>
void column_exponents(HostContext& context, const ConstBlockView<T, HostSpace>& B,
                      RangeScaling scaling, double largest, std::string_view type,
                      std::int32_t* exponents);

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
  Index column = 0;      ///< of the same entry
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
