#pragma once

#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <type_traits>
#include <vector>

/// Values rounded to a short number type, for the plans of all backends.
namespace heddle::detail {

template <class V>
constexpr ProductPrecision precision_of() {
  if constexpr (std::is_same_v<V, Half>) return ProductPrecision::half;
  if constexpr (std::is_same_v<V, Bfloat16>) return ProductPrecision::bf16;
  return ProductPrecision::tf32;
}

template <class V>
inline float rounded(double value, std::int32_t exponent) noexcept {
  return V::round(std::ldexp(value, exponent)).value();
}

/// A with its rows scaled and its values rounded to V.
template <class V, Scalar T>
HostCsrMatrix<float> rounded_matrix(HostContext& context, const CsrView<T, HostSpace>& A,
                                    const std::vector<std::int32_t>& exponents) {
  HostCsrMatrix<float> result(context, A.rows, A.cols, A.nnz);
  std::copy_n(A.row_offsets, A.rows + 1, result.row_offsets());
  constexpr Index kLeastRows = 256;
  const Slabs slabs = make_slabs(A.rows, kLeastRows);
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index row = slabs.begin(slab); row < slabs.end(slab); ++row) {
      for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
        result.columns()[k] = A.columns[k];
        result.values()[k] =
            rounded<V>(static_cast<double>(A.values[k]), exponents[static_cast<std::size_t>(row)]);
      }
    }
  });
  return result;
}

}  // namespace heddle::detail
