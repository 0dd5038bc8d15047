#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/linalg/small/small_factor.hpp>

namespace heddle {
namespace {

constexpr int kFactorThreads = 512;

/// The leading dimension of the matrix in shared memory. It is odd, so that the entries of a row or
/// column lie in different banks.
__host__ __device__ int staged_ld(int order) { return order | 1; }

/// The smallest and the largest entry of diag(R). `least` is 0 if there is no R.
struct DiagonalRange {
  double least;
  double most;
};

/// G = RᵀR in shared memory, computed row by row of R. After each row, the remaining rows are
/// updated. All threads of the block call it and get the same result.
__device__ DiagonalRange factor_staged(int order, double* R) {
  const int lda = staged_ld(order);
  const int thread = static_cast<int>(threadIdx.x);
  DiagonalRange range{INFINITY, 0};
  for (int k = 0; k < order; ++k) {
    const double pivot = R[k + k * lda];
    if (!(pivot > 0 && pivot < INFINITY)) return {0, INFINITY};
    const double diagonal = sqrt(pivot);
    range = {fmin(range.least, diagonal), fmax(range.most, diagonal)};
    __syncthreads();
    for (int j = k + thread; j < order; j += kFactorThreads) {
      R[k + j * lda] = j == k ? diagonal : R[k + j * lda] / diagonal;
    }
    __syncthreads();
    const int rest = order - k - 1;
    for (int e = thread; e < rest * rest; e += kFactorThreads) {
      const int i = k + 1 + e % rest;
      const int j = k + 1 + e / rest;
      if (i <= j) R[i + j * lda] -= R[k + i * lda] * R[k + j * lda];
    }
    __syncthreads();
  }
  return range;
}

/// R ← R⁻¹ in shared memory from the last row up: row i of the inverse is scaled and then
/// subtracted from the rows above. The memory after R must have room for one more column.
__device__ void invert_staged(int order, double* R) {
  const int lda = staged_ld(order);
  double* column = R + lda * order;  // the entries of column i of R above the diagonal
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = order - 1; i >= 0; --i) {
    const double inverse = 1 / R[i + i * lda];
    for (int p = thread; p < i; p += kFactorThreads) column[p] = R[p + i * lda];
    __syncthreads();
    for (int j = i + thread; j < order; j += kFactorThreads) {
      R[i + j * lda] = j == i ? inverse : R[i + j * lda] * inverse;
    }
    __syncthreads();
    const int width = order - i;
    for (int e = thread; e < i * width; e += kFactorThreads) {
      const int p = e % i;
      const int j = i + e / i;
      const double before = j == i ? 0 : R[p + j * lda];
      R[p + j * lda] = before - column[p] * R[i + j * lda];
    }
    __syncthreads();
  }
}

/// The upper triangle of H = G − CᵀC in shared memory, where T = [C; G] and C has `basis` rows.
__device__ void stage_remainder(int basis, int order, const double* T, Index ld, double* H) {
  const double* G = T + basis;
  for (int e = static_cast<int>(threadIdx.x); e < order * order; e += kFactorThreads) {
    const int i = e % order;
    const int j = e / order;
    double h = 0;
    if (i <= j) {
      h = G[i + j * ld];
      for (int k = 0; k < basis; ++k) h -= T[k + i * ld] * T[k + j * ld];
    }
    H[i + j * staged_ld(order)] = h;
  }
  __syncthreads();
}

/// The smallest of one value per thread, NaN if any is NaN. Every thread gets the same result.
__device__ double least_of_threads(double value, double* values) {
  __syncthreads();
  values[threadIdx.x] = value;
  for (int half = kFactorThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) {
      const double other = values[threadIdx.x + half];
      if (!(other >= values[threadIdx.x])) values[threadIdx.x] = other;
    }
  }
  __syncthreads();
  return values[0];
}

/// The sum of one value per thread, computed in shared memory. Every thread gets the same bits.
__device__ double sum_of_threads(double value, double* sums) {
  __syncthreads();
  sums[threadIdx.x] = value;
  for (int half = kFactorThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  __syncthreads();
  return sums[0];
}

/// N = [−C M; M] for M in shared memory.
__device__ void write_coefficients(int basis, int order, const double* T, Index ldt,
                                   const double* M, double* N, Index ldn) {
  const int rows = basis + order;
  for (int e = static_cast<int>(threadIdx.x); e < rows * order; e += kFactorThreads) {
    const int i = e % rows;
    const double* column = M + e / rows * staged_ld(order);
    double entry = 0;
    if (i >= basis) {
      entry = column[i - basis];
    } else {
      for (int k = 0; k <= e / rows; ++k) entry -= T[i + k * ldt] * column[k];
    }
    N[i + e / rows * ldn] = entry;
  }
}

/// The two rows of the status that depend on the diagonal of H = G − CᵀC.
struct Remainder {
  double least_square;
  double remaining;
};

/// scale[j] = H_jj^(-1/2). H_jj is at H[j·(ldh + 1)], G_jj at G[j·(ldg + 1)]. `values` must have
/// room for one number per thread. All threads of the block call it and get the same result.
__device__ Remainder read_diagonal(int order, const double* H, Index ldh, const double* G,
                                   Index ldg, double* scale, double* values) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int j = thread; j < order; j += kFactorThreads) scale[j] = 1 / sqrt(H[j * (ldh + 1)]);
  Remainder least{INFINITY, INFINITY};
  for (int j = thread; j < order; j += kFactorThreads) {
    const double left = H[j * (ldh + 1)];
    const double part = left / G[j * (ldg + 1)];
    if (!(left >= least.least_square)) least.least_square = left;
    if (!(part >= least.remaining)) least.remaining = part;
  }
  return {least_of_threads(least.least_square, values), least_of_threads(least.remaining, values)};
}

/// `cholesky_qr_coefficients` (small_dense.hpp) in one thread block.
__global__ void __launch_bounds__(kFactorThreads)
    cholesky_qr_kernel(int basis, int order, const double* T, Index ldt, double* N, Index ldn,
                       double* status) {
  extern __shared__ double R[];
  __shared__ double scale[kMaxFactorOrder];
  __shared__ double values[kFactorThreads];
  const int lda = staged_ld(order);
  const int thread = static_cast<int>(threadIdx.x);
  stage_remainder(basis, order, T, ldt, R);
  const Remainder remainder = read_diagonal(order, R, lda, T + basis, ldt, scale, values);
  for (int e = thread; e < order * order; e += kFactorThreads) {
    R[e % order + e / order * lda] *= scale[e % order] * scale[e / order];
  }
  __syncthreads();
  const DiagonalRange range = factor_staged(order, R);
  const bool exists = range.least > 0;
  __syncthreads();
  if (exists) invert_staged(order, R);
  double squares = 0;
  for (int e = thread; e < order * order; e += kFactorThreads) {
    double& entry = R[e % order + e / order * lda];
    squares += entry * entry;
    entry = exists ? entry * scale[e % order] : 0;
  }
  const double growth = sum_of_threads(squares, values) / order;
  write_coefficients(basis, order, T, ldt, R, N, ldn);
  if (thread == 0) {
    status[CholeskyQrStatus::diagonal_ratio] = exists ? range.least / range.most : 0;
    status[CholeskyQrStatus::growth] = exists ? growth : INFINITY;
    status[CholeskyQrStatus::least_square] = remainder.least_square;
    status[CholeskyQrStatus::remaining] = remainder.remaining;
  }
}

/// Scales the upper triangle of H to unit diagonal in place, writes diag(H)^(-1/2) to `scale`, and
/// writes the last two rows of the status. One thread block, any order.
__global__ void __launch_bounds__(kFactorThreads)
    scale_remainder_kernel(int order, double* H, Index ldh, const double* G, Index ldg,
                           double* scale, double* status) {
  __shared__ double values[kFactorThreads];
  const Remainder remainder = read_diagonal(order, H, ldh, G, ldg, scale, values);
  for (Index e = threadIdx.x; e < Index{order} * order; e += kFactorThreads) {
    const Index i = e % order;
    const Index j = e / order;
    if (i <= j) H[i + j * ldh] *= scale[i] * scale[j];
  }
  if (threadIdx.x == 0) {
    status[CholeskyQrStatus::least_square] = remainder.least_square;
    status[CholeskyQrStatus::remaining] = remainder.remaining;
  }
}

/// M ← diag(scale) M for M = R⁻¹, or 0 if there is no R. Writes the first two rows of the status.
/// `factor` = {1 if there is an R, else 0; min/max of diag(R)}. One thread block, any order.
__global__ void __launch_bounds__(kFactorThreads)
    finish_cholesky_qr_kernel(int order, const double* factor, const double* scale, double* M,
                              Index ldm, double* status) {
  __shared__ double values[kFactorThreads];
  const bool exists = factor[0] != 0;
  double squares = 0;
  for (Index e = threadIdx.x; e < Index{order} * order; e += kFactorThreads) {
    double& entry = M[e % order + e / order * ldm];
    squares += exists ? entry * entry : 0;
    entry = exists ? entry * scale[e % order] : 0;
  }
  const double growth = sum_of_threads(squares, values) / order;
  if (threadIdx.x == 0) {
    status[CholeskyQrStatus::diagonal_ratio] = factor[1];
    status[CholeskyQrStatus::growth] = exists ? growth : INFINITY;
  }
}

/// Zeros below the diagonal.
__global__ void clear_lower_kernel(int order, double* A, Index ld) {
  const int j = static_cast<int>(blockIdx.x);
  for (int i = j + 1 + static_cast<int>(threadIdx.x); i < order; i += kThreads) A[i + j * ld] = 0;
}

/// status = {1 if info is 0, else 0; min/max of diag(R)}, computed by one thread.
__global__ void factor_status_kernel(int order, const double* R, Index ld, const int* info,
                                     double* status) {
  double least = INFINITY;
  double most = 0;
  bool good = *info == 0;
  for (int i = 0; i < order; ++i) {
    const double diagonal = R[i + i * ld];
    good = good && diagonal > 0 && diagonal < INFINITY;  // cuSOLVER lets NaN pass
    least = fmin(least, diagonal);
    most = fmax(most, diagonal);
  }
  status[0] = good;
  status[1] = good ? least / most : 0;
}

__global__ void identity_kernel(int order, double* A) {
  const int j = static_cast<int>(blockIdx.x);
  for (int i = static_cast<int>(threadIdx.x); i < order; i += kThreads) {
    A[i + static_cast<Index>(j) * order] = i == j;
  }
}

/// Bytes of shared memory for the matrix and one more column.
std::size_t staged_bytes(int order) {
  return sizeof(double) * static_cast<std::size_t>(staged_ld(order)) *
         static_cast<std::size_t>(order + 1);
}

}  // namespace

bool fits_one_block(Index order, std::size_t shared_bytes) noexcept {
  constexpr std::size_t kFixed = sizeof(double) * (kMaxFactorOrder + kFactorThreads);
  return order <= kMaxFactorOrder && staged_bytes(static_cast<int>(order)) + kFixed <= shared_bytes;
}

void launch_cholesky_qr(cudaStream_t stream, int basis, int order, const double* T, Index ldt,
                        double* N, Index ldn, double* status) {
  const std::size_t shared = staged_bytes(order);
  check(cudaFuncSetAttribute(cholesky_qr_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared)));
  cholesky_qr_kernel<<<1, kFactorThreads, shared, stream>>>(basis, order, T, ldt, N, ldn, status);
  check_launch();
}

void launch_scale_remainder(cudaStream_t stream, int order, double* H, Index ldh, const double* G,
                            Index ldg, double* scale, double* status) {
  scale_remainder_kernel<<<1, kFactorThreads, 0, stream>>>(order, H, ldh, G, ldg, scale, status);
  check_launch();
}

void launch_finish_cholesky_qr(cudaStream_t stream, int order, const double* factor,
                               const double* scale, double* M, Index ldm, double* status) {
  finish_cholesky_qr_kernel<<<1, kFactorThreads, 0, stream>>>(order, factor, scale, M, ldm, status);
  check_launch();
}

void launch_finish_factor(cudaStream_t stream, int order, double* R, Index ld, const int* info,
                          double* status) {
  factor_status_kernel<<<1, 1, 0, stream>>>(order, R, ld, info, status);
  check_launch();
  clear_lower_kernel<<<static_cast<unsigned>(order), kThreads, 0, stream>>>(order, R, ld);
  check_launch();
}

void launch_identity(cudaStream_t stream, int order, double* A) {
  identity_kernel<<<static_cast<unsigned>(order), kThreads, 0, stream>>>(order, A);
  check_launch();
}

}  // namespace heddle
