#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/low_precision/precision.hpp>

namespace heddle {
namespace {

constexpr Index kLeastRows = 256;

/// Says for what a value is refused.
[[noreturn]] void refuse(char matrix, Index row, Index column, double value, double largest,
                         std::string_view type) {
  const std::string place =
      fmt::format("entry ({}, {}) of {} is {:g}", row + 1, column + 1, matrix, value);
  if (!std::isfinite(value)) throw InvalidArgument(place + ": products need finite numbers");
  throw InvalidArgument(
      fmt::format("{}, beyond the largest number of {}, {:g}: let the product scale its values, or "
                  "choose a precision with a larger range (bf16, tf32)",
                  place, type, largest));
}

/// Whether a value cannot be taken.
bool is_refused(double value, RangeScaling scaling, double largest) {
  return !std::isfinite(value) || (scaling == RangeScaling::none && std::abs(value) > largest);
}

/// Refuses the first value of B that cannot be taken.
template <Scalar T>
void refuse_block(const ConstBlockView<T, HostSpace>& B, RangeScaling scaling, double largest,
                  std::string_view type) {
  for (Index i = 0; i < B.rows(); ++i) {
    for (Index j = 0; j < B.cols(); ++j) {
      const auto value = static_cast<double>(B(i, j));
      if (is_refused(value, scaling, largest)) refuse('B', i, j, value, largest, type);
    }
  }
}

std::int32_t exponent_for(double largest_value, RangeScaling scaling) {
  if (scaling == RangeScaling::none || largest_value == 0) return 0;
  return kScaledExponent - std::ilogb(largest_value);
}

}  // namespace

void detail::require_unscaled(RangeScaling scaling) {
  if (scaling == RangeScaling::none) return;
  throw InvalidArgument(
      "products between blocks in short number types need a plan without scaling "
      "(RangeScaling::none)");
}

template <Scalar T>
std::vector<std::int32_t> row_exponents(HostContext& context, const CsrView<T, HostSpace>& A,
                                        RangeScaling scaling, double largest, std::string_view type,
                                        double factor) {
  std::vector<std::int32_t> exponents(static_cast<std::size_t>(A.rows));
  const Slabs slabs = make_slabs(A.rows, kLeastRows);
  std::vector<Index> refused(static_cast<std::size_t>(slabs.count()), -1);
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index row = slabs.begin(slab); row < slabs.end(slab); ++row) {
      double most = 0;
      for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
        const double value = factor * static_cast<double>(A.values[k]);
        if (is_refused(value, scaling, largest)) {
          refused[static_cast<std::size_t>(slab)] = row;
          return;
        }
        most = std::max(most, std::abs(value));
      }
      exponents[static_cast<std::size_t>(row)] = exponent_for(most, scaling);
    }
  });
  for (const Index row : refused) {
    if (row < 0) continue;
    for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      const double value = factor * static_cast<double>(A.values[k]);
      if (is_refused(value, scaling, largest)) {
        refuse('A', row, A.columns[k], value, largest, type);
      }
    }
  }
  return exponents;
}

template <Scalar T>
void column_exponents(HostContext& context, const ConstBlockView<T, HostSpace>& B,
                      RangeScaling scaling, double largest, std::string_view type,
                      std::int32_t* exponents) {
  const Index columns = B.cols();
  const Slabs slabs = make_slabs(B.rows(), kLeastRows);
  // Per slab the largest magnitude of each column. A negative one: a value is refused.
  const Index pitch = columns + kThreadGap<double>;
  auto* const most = static_cast<double*>(
      context.scratch(static_cast<std::size_t>(slabs.count() * pitch) * sizeof(double)));
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    double* const mine = most + slab * pitch;
    std::fill_n(mine, columns, 0.0);
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) {
      for (Index j = 0; j < columns; ++j) {
        const auto value = static_cast<double>(B(i, j));
        const bool refused = is_refused(value, scaling, largest);
        if (refused || mine[j] < 0) {
          mine[j] = -1;
        } else {
          mine[j] = std::max(mine[j], std::abs(value));
        }
      }
    }
  });
  std::fill_n(exponents, columns, 0);
  for (Index j = 0; j < columns; ++j) {
    double of_column = 0;
    for (Index slab = 0; slab < slabs.count(); ++slab) {
      const double of_slab = most[slab * pitch + j];
      if (of_slab < 0) refuse_block(B, scaling, largest, type);
      of_column = std::max(of_column, of_slab);
    }
    exponents[j] = exponent_for(of_column, scaling);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template std::vector<std::int32_t> row_exponents(                                                \
      HostContext&, const CsrView<T, HostSpace>&, RangeScaling, double, std::string_view, double); \
  template void column_exponents(HostContext&, const ConstBlockView<T, HostSpace>&, RangeScaling,  \
                                 double, std::string_view, std::int32_t*);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
