#include <heddle/spmm/low_precision/precision.hpp>
#include <limits>

namespace heddle {
namespace {

/// Tensor cores cut the terms of a sum off at the last place of the largest.
constexpr double kTruncated = 0x1p-23;

template <class V>
constexpr PrecisionLimits on_tensor_cores(std::string_view name) {
  return {name, V::kRoundoff, V::kSpacing, V::kLargest, kTruncated, 0x1p-149, 2};
}

constexpr PrecisionLimits kLimits[] = {
    on_tensor_cores<Half>("half"),
    on_tensor_cores<Bfloat16>("bf16"),
    on_tensor_cores<Tf32>("tf32"),
    {"single", 0x1p-24, 0x1p-149, std::numeric_limits<float>::max(), 0x1p-24, 0x1p-149, 1},
    {"double", 0, 0, std::numeric_limits<double>::max(), 0x1p-53, 0x1p-1074, 1},
};

}  // namespace

const PrecisionLimits& limits_of(ProductPrecision precision) noexcept {
  return kLimits[static_cast<std::size_t>(precision)];
}

const std::vector<ProductPrecision>& product_precisions() {
  static const std::vector<ProductPrecision> all = {
      ProductPrecision::half, ProductPrecision::bf16, ProductPrecision::tf32,
      ProductPrecision::single_precision, ProductPrecision::double_precision};
  return all;
}

std::optional<ProductPrecision> find_precision(std::string_view name) noexcept {
  for (const ProductPrecision precision : product_precisions()) {
    if (limits_of(precision).name == name) return precision;
  }
  return std::nullopt;
}

}  // namespace heddle
