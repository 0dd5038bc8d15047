#include <heddle/solvers/preconditioners/multigrid/coarse_inverse.hpp>
#include <heddle/solvers/preconditioners/multigrid/device_steps.cuh>
#include <utility>

namespace heddle::detail {
namespace {

/// H = A by rows, n×n, which holds zeros at first. One warp per row.
__global__ void spread_kernel(CsrView<double, DeviceSpace> A, double* H) {
  for (Index i = thread_index() / kWarp; i < A.rows; i += thread_count() / kWarp) {
    for (Index e = A.row_offsets[i] + lane_index(); e < A.row_offsets[i + 1]; e += kWarp) {
      H[i * A.rows + A.columns[e]] = A.values[e];
    }
  }
}

/// Step k of Gauss–Jordan elimination without an exchange of rows: `next` is `H` with unknown k and
/// right-hand side k exchanged. *small is set if the pivot is too small or NaN.
__global__ void exchange_kernel(Index n, Index k, const double* H, double* next, int* small) {
  const double pivot = H[k * n + k];
  for (Index place = thread_index(); place < n * n; place += thread_count()) {
    const Index i = place / n;
    const Index j = place % n;
    if (i == k) {
      next[place] = j == k ? 1 / pivot : H[place] / pivot;
    } else {
      const double factor = H[i * n + k] / pivot;
      next[place] = j == k ? -factor : H[place] - factor * H[k * n + j];
    }
  }
  if (thread_index() == 0 && !(pivot > kLeastPivot)) *small = 1;
}

/// All entries of the upper triangle of H, and the same below.
__global__ void store_kernel(Index n, const double* H, std::int64_t* offsets, std::int32_t* columns,
                             double* values) {
  for (Index place = thread_index(); place < n * n; place += thread_count()) {
    const Index i = place / n;
    const Index j = place % n;
    columns[place] = static_cast<std::int32_t>(j);
    values[place] = H[min(i, j) * n + max(i, j)];
  }
  for (Index i = thread_index(); i <= n; i += thread_count()) offsets[i] = i * n;
}

}  // namespace

std::optional<CsrMatrix<double, DeviceSpace>> definite_inverse(CudaContext& context,
                                                               CsrView<double, DeviceSpace> A) {
  const Index n = A.rows;
  Buffer<double, DeviceSpace> H = zeros<double>(context, n * n);
  Buffer<double, DeviceSpace> next(context, H.size());
  Buffer<int, DeviceSpace> small = zeros<int>(context, 1);
  launch(context, grid_for(context, n * kWarp), spread_kernel, A, H.data());
  for (Index k = 0; k < n; ++k) {
    launch(context, grid_for(context, n * n), exchange_kernel, n, k, H.data(), next.data(),
           small.data());
    H.swap(next);
  }
  if (fetch_number(context, small.data()) != 0) return {};
  CsrMatrix<double, DeviceSpace> inverse(context, n, n, n * n);
  launch(context, grid_for(context, n * n), store_kernel, n, H.data(), inverse.row_offsets(),
         inverse.columns(), inverse.values());
  return inverse;
}

}  // namespace heddle::detail
