#pragma once

#include <cstdint>
#include <heddle/linalg/data/views.hpp>
#include <string_view>
#include <vector>

/// Powers of two that bring the rows of A and the columns of B into the range of a short number
/// type. Scaling by them and back is exact.
namespace heddle {

/// Where the values of a product may be scaled before they are rounded.
enum class RangeScaling {
  none,           ///< values beyond the range are refused
  powers_of_two,  ///< the largest value of each row of A and column of B gets the exponent 14
};

/// The exponent of the largest values after scaling: the largest of half precision. Sums of 2^96
/// products of such values are in the range of single precision.
inline constexpr int kScaledExponent = 14;

/// Per row of A the exponent e by which its values are scaled, a·2^e. Throws `InvalidArgument` with
/// the place of the first value that is not finite, or that is beyond `largest` and must not be
/// scaled. `type` names the number type in the message. Rows of zeros have the exponent 0.
template <Scalar T>
std::vector<std::int32_t> row_exponents(HostContext& context, const CsrView<T, HostSpace>& A,
                                        RangeScaling scaling, double largest,
                                        std::string_view type);

/// The same per column of B, into `exponents`, B.cols() numbers. Uses the context's scratch memory.
template <Scalar T>
void column_exponents(HostContext& context, const ConstBlockView<T, HostSpace>& B,
                      RangeScaling scaling, double largest, std::string_view type,
                      std::int32_t* exponents);

}  // namespace heddle
