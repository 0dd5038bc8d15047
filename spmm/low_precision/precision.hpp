#pragma once

#include <heddle/linalg/precision/narrow_float.hpp>
#include <optional>
#include <string_view>
#include <vector>

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

const PrecisionLimits& limits_of(ProductPrecision precision) noexcept;

/// All precisions, from the shortest type to the longest.
const std::vector<ProductPrecision>& product_precisions();

/// The precision of this name, nothing if there is none.
std::optional<ProductPrecision> find_precision(std::string_view name) noexcept;

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

}  // namespace heddle
