#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/factor_kernel.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_factor.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/triangular/row_levels.hpp>
#include <optional>
#include <utility>

namespace heddle::detail {
namespace {

template <class T>
__global__ void roots_kernel(Index count, const T* numbers, double* roots) {
  for (Index i = thread_index(); i < count; i += thread_count()) {
    roots[i] = sqrt(static_cast<double>(real_part(numbers[i])));
  }
}

/// lengths[i] = 1 + the number of entries of row i before the first that is not left of the
/// diagonal; lengths[rows] = 0. One warp per row.
template <class T>
__global__ void lower_lengths_kernel(CsrView<T, DeviceSpace> A, std::int64_t* lengths) {
  for (Index i = thread_index() / kWarp; i <= A.rows; i += thread_count() / kWarp) {
    Index length = 0;
    if (i < A.rows) {
      const std::int64_t end = A.row_offsets[i + 1];
      unsigned others = 0;  // the lanes whose entries are not left of the diagonal
      for (std::int64_t e = A.row_offsets[i]; others == 0; e += kWarp) {
        const std::int64_t own = e + lane_index();
        others = __ballot_sync(0xffffffffu, own >= end || A.columns[own] >= i);
        length += others == 0 ? kWarp : __ffs(static_cast<int>(others)) - 1;
      }
      ++length;
    }
    if (lane_index() == 0) lengths[i] = length;
  }
}

/// The entries of the lower triangle of S A S below the diagonal, S = diag(scale), and 1 on the
/// diagonal. One warp per row.
template <class T>
__global__ void scaled_triangle_kernel(CsrView<T, DeviceSpace> A, const double* scale,
                                       const std::int64_t* offsets, std::int32_t* columns,
                                       Wide<T>* values) {
  for (Index i = thread_index() / kWarp; i < A.rows; i += thread_count() / kWarp) {
    const std::int64_t diagonal = offsets[i + 1] - 1;
    const std::int64_t ahead = A.row_offsets[i] - offsets[i];
    for (std::int64_t e = offsets[i] + lane_index(); e < diagonal; e += kWarp) {
      const std::int32_t j = A.columns[e + ahead];
      columns[e] = j;
      const auto scaled = [&](auto part) {
        return scale[i] * static_cast<double>(part) * scale[j];
      };
      const T value = A.values[e + ahead];
      if constexpr (kComplex<T>) {
        values[e] = cuda::by_parts(value, scaled);
      } else {
        values[e] = scaled(value);  // in double for every T
      }
    }
    if (lane_index() == 0) {
      columns[diagonal] = static_cast<std::int32_t>(i);
      values[diagonal] = Wide<T>(1);
    }
  }
}

/// L ← I. One warp per row.
template <class W>
__global__ void keep_diagonal_kernel(Index rows, const std::int64_t* offsets, W* values) {
  for (Index i = thread_index() / kWarp; i < rows; i += thread_count() / kWarp) {
    const std::int64_t diagonal = offsets[i + 1] - 1;
    for (std::int64_t e = offsets[i] + lane_index(); e <= diagonal; e += kWarp) {
      values[e] = W(e == diagonal ? 1 : 0);
    }
  }
}

/// L ← S⁻¹ L. One warp per row.
template <class W>
__global__ void unscale_kernel(Index rows, const std::int64_t* offsets, const double* scale,
                               W* values) {
  for (Index i = thread_index() / kWarp; i < rows; i += thread_count() / kWarp) {
    for (std::int64_t e = offsets[i] + lane_index(); e < offsets[i + 1]; e += kWarp) {
      values[e] = cuda::by_parts(values[e], [&](auto part) { return part / scale[i]; });
    }
  }
}

/// diag|A|^(-1/2).
template <class T>
Buffer<double, DeviceSpace> scale_of(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  const Buffer<T, DeviceSpace> inverse = inverse_diagonal<T>(context, A);
  Buffer<double, DeviceSpace> scale(context, inverse.size());
  roots_kernel<<<grid_for(context, A.rows), kThreads, 0, context.stream()>>>(A.rows, inverse.data(),
                                                                             scale.data());
  check_launch();
  return scale;
}

/// A matrix for the lower triangle of A. Its offsets are set, its entries are not.
template <class T>
CsrMatrix<Wide<T>, DeviceSpace> lower_triangle(CudaContext& context,
                                               const CsrView<T, DeviceSpace>& A) {
  Buffer<std::int64_t, DeviceSpace> offsets(context, static_cast<std::size_t>(A.rows + 1));
  lower_lengths_kernel<<<grid_for(context, (A.rows + 1) * kWarp), kThreads, 0, context.stream()>>>(
      A, offsets.data());
  check_launch();
  const Index nnz = exclusive_sum(context, offsets.data(), A.rows + 1);
  CsrMatrix<Wide<T>, DeviceSpace> L(context, A.rows, A.cols, nnz);
  check(cudaMemcpyAsync(L.row_offsets(), offsets.data(), offsets.size() * sizeof(std::int64_t),
                        cudaMemcpyDeviceToDevice, context.stream()));
  return L;
}

}  // namespace

template <Scalar T>
IncompleteFactor<T, DeviceSpace> incomplete_cholesky(CudaContext& context,
                                                     CsrView<T, DeviceSpace> A) {
  const Buffer<double, DeviceSpace> scale = scale_of(context, A);
  CsrMatrix<Wide<T>, DeviceSpace> L = lower_triangle(context, A);
  const unsigned grid = grid_for(context, A.rows * kWarp);
  const auto restart = [&] {
    scaled_triangle_kernel<<<grid, kThreads, 0, context.stream()>>>(
        A, scale.data(), L.row_offsets(), L.columns(), L.values());
    check_launch();
  };
  restart();
  const std::optional<cuda::RowLevels> levels =
      cuda::row_levels(context, L.view(), Triangle::lower);
  if (!levels) {
    HostContext host;
    auto there = incomplete_cholesky(host, fetch(context, host, A).view());
    return {place(context, std::move(there.L)), there.shift, there.attempts};
  }
  cuda::RowFlags flags(context, A.rows);
  IncompleteFactor<T, DeviceSpace> result;
  const bool found = find_shift(result, [&](double shift) {
    if (shift > 0) restart();
    return cuda::factor_in_place(context, L, levels->rows, shift, flags);
  });
  if (!found) {
    keep_diagonal_kernel<<<grid, kThreads, 0, context.stream()>>>(A.rows, L.row_offsets(),
                                                                  L.values());
    check_launch();
  }
  unscale_kernel<<<grid, kThreads, 0, context.stream()>>>(A.rows, L.row_offsets(), scale.data(),
                                                          L.values());
  check_launch();
  result.L = rounded<T>(context, std::move(L));
  return result;
}

#define HEDDLE_INSTANTIATE(T)                                                 \
  template IncompleteFactor<T, DeviceSpace> incomplete_cholesky(CudaContext&, \
                                                                CsrView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
