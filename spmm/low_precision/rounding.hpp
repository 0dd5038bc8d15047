#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/low_precision/precision.hpp>

/// How the factors of a product are rounded on a GPU.
namespace heddle::detail {

/// The values of a matrix in V, in device memory.
template <class V>
struct RoundedValues {
  Buffer<V, DeviceSpace> values;
  Buffer<std::int32_t, DeviceSpace> row_exponents;  ///< by which rows were scaled
  bool refused = false;  ///< an entry is not finite, or out of the range of V and not scaled
};

/// factor·A, scaled and rounded.
template <class V, Scalar T>
RoundedValues<V> round_values(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                              RangeScaling scaling, double factor);

/// How B is rounded, in device memory.
template <class V, class T>
struct Rounding {
  const T* B = nullptr;
  Index B_rows = 0;
  Index N = 0;                          ///< columns of B
  Index row_step = 0;                   ///< from an entry of B to the next of its column
  const std::int32_t* order = nullptr;  ///< row k of the result is row order[k] of B
  std::int32_t* exponents = nullptr;    ///< N numbers; null: no scaling
  const double* factors = nullptr;      ///< N numbers that scale instead; null: none
  std::int32_t* largest = nullptr;      ///< room for `kExponentBlocks` numbers per column
  unsigned* arrived = nullptr;          ///< one number per 32 columns, 0 before and after
  V* result = nullptr;
  Index rows = 0;     ///< of the result: whole blocks
  Index columns = 0;  ///< of the result: whole 16 bytes
  Index pitch = 0;    ///< from a row of the result to the next: whole 16 bytes
};

/// Thread blocks that look for the largest exponents of the same columns.
inline constexpr Index kExponentBlocks = 128;

/// exponents[j] = the exponent by which column j of B is scaled.
template <class V, class T>
void find_column_exponents(CudaContext& context, const Rounding<V, T>& rounding);

/// The scaled B, rounded to V and padded with zeros.
template <class V, class T>
void round_block(CudaContext& context, const Rounding<V, T>& rounding);

}  // namespace heddle::detail
