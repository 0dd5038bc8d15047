#include <heddle/linalg/cuda/check.hpp>
#include <heddle/linalg/cuda/kernel.cuh>
#include <heddle/linalg/cuda/small_factor.hpp>
#include <heddle/linalg/small_dense.hpp>

namespace heddle {
namespace {

constexpr int kFactorThreads = 512;

/// Doubles from one column of the staged matrix to the next; odd, so that neither a row nor a
/// column falls on few banks of shared memory.
__host__ __device__ int staged_ld(int order) { return order | 1; }

/// Copies the upper triangle of A into shared memory, or back out with zeros below.
__device__ void stage_upper(const double* A, Index ld, int order, double* staged) {
  for (int e = static_cast<int>(threadIdx.x); e < order * order; e += kFactorThreads) {
    const int i = e % order;
    const int j = e / order;
    staged[i + j * staged_ld(order)] = i <= j ? A[i + j * ld] : 0;
  }
  __syncthreads();
}

__device__ void unstage(const double* staged, int order, double* A, Index ld) {
  __syncthreads();
  for (int e = static_cast<int>(threadIdx.x); e < order * order; e += kFactorThreads) {
    A[e % order + e / order * ld] = staged[e % order + e / order * staged_ld(order)];
  }
}

/// The least and the largest of diag(R); `least` is 0 where there is no R.
struct DiagonalRange {
  double least;
  double most;
};

/// G = RᵀR in shared memory, row by row of R, each followed by its update of what lies below. All
/// threads of the block call it and get the same.
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

/// R ← R⁻¹ in shared memory from the last row up: row i of the inverse is scaled, then taken out of
/// the rows above. Behind R there is room for one more column.
__device__ void invert_staged(int order, double* R) {
  const int lda = staged_ld(order);
  double* column = R + lda * order;  // column i of R above its diagonal
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

/// One block. Writes status = {1 if all pivots were positive, else 0; min/max of diag(R)}.
__global__ void __launch_bounds__(kFactorThreads)
    cholesky_kernel(int order, double* G, Index ld, double* status) {
  extern __shared__ double R[];
  stage_upper(G, ld, order, R);
  const DiagonalRange range = factor_staged(order, R);
  if (range.least > 0) unstage(R, order, G, ld);
  if (threadIdx.x == 0) {
    status[0] = range.least > 0;
    status[1] = range.least > 0 ? range.least / range.most : 0;
  }
}

/// One block.
__global__ void __launch_bounds__(kFactorThreads)
    invert_upper_kernel(int order, double* A, Index ld) {
  extern __shared__ double R[];
  stage_upper(A, ld, order, R);
  invert_staged(order, R);
  unstage(R, order, A, ld);
}

/// The least of diag(G), NaN if there is one; in every thread.
__device__ double least_diagonal(int order, const double* G, Index ld) {
  double least = INFINITY;
  for (int j = 0; j < order; ++j) {
    const double square = G[j + j * ld];
    if (!(square >= least)) least = square;
  }
  return least;
}

/// M ← diag(G)^(-1/2) M for M = R⁻¹, or 0 where R does not exist; `sums` has room for a number a
/// thread. Returns ‖R⁻¹‖²_F/b in thread 0. One block.
__device__ double scale_inverse(int order, bool exists, const double* G, Index ldg, double* M,
                                Index ldm, double* sums) {
  const int thread = static_cast<int>(threadIdx.x);
  double sum = 0;
  for (int e = thread; e < order * order; e += kFactorThreads) {
    const int i = e % order;
    const Index at = i + e / order * ldm;
    const double inverse = exists ? M[at] : 0;
    sum += inverse * inverse;
    M[at] = exists ? inverse / sqrt(G[i + i * ldg]) : 0;
  }
  sums[thread] = sum;
  for (int half = kFactorThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  return sums[0] / order;
}

/// M = R⁻¹ of the Cholesky factor of G scaled to unit diagonal, rows scaled back, and its status.
/// One block.
__global__ void __launch_bounds__(kFactorThreads)
    cholesky_qr_kernel(int order, const double* G, Index ldg, double* M, Index ldm,
                       double* status) {
  extern __shared__ double R[];
  __shared__ double sums[kFactorThreads];
  const int lda = staged_ld(order);
  stage_upper(G, ldg, order, R);
  for (int e = static_cast<int>(threadIdx.x); e < order * order; e += kFactorThreads) {
    const int i = e % order;
    const int j = e / order;
    R[i + j * lda] *= rsqrt(G[i + i * ldg]) * rsqrt(G[j + j * ldg]);
  }
  __syncthreads();
  const DiagonalRange range = factor_staged(order, R);
  const bool exists = range.least > 0;
  if (exists) invert_staged(order, R);
  unstage(R, order, M, ldm);
  __syncthreads();
  const double growth = scale_inverse(order, exists, G, ldg, M, ldm, sums);
  const double least = least_diagonal(order, G, ldg);
  if (threadIdx.x == 0) {
    status[CholeskyQrStatus::diagonal_ratio] = exists ? range.least / range.most : 0;
    status[CholeskyQrStatus::growth] = exists ? growth : INFINITY;
    status[CholeskyQrStatus::least_square] = least;
  }
}

/// M = G scaled to unit diagonal, its upper triangle.
__global__ void scale_gram_kernel(int order, const double* G, Index ldg, double* M, Index ldm) {
  const int j = static_cast<int>(blockIdx.x);
  for (int i = static_cast<int>(threadIdx.x); i <= j; i += kThreads) {
    M[i + j * ldm] = G[i + j * ldg] * rsqrt(G[i + i * ldg]) * rsqrt(G[j + j * ldg]);
  }
}

/// What `cholesky_qr_kernel` does after it has R⁻¹, for one that came from elsewhere:
/// factor = {1 if there is one, min/max of diag(R)}. One block.
__global__ void __launch_bounds__(kFactorThreads)
    finish_cholesky_qr_kernel(int order, const double* G, Index ldg, const double* factor,
                              double* M, Index ldm, double* status) {
  __shared__ double sums[kFactorThreads];
  const bool exists = factor[0] != 0;
  const double growth = scale_inverse(order, exists, G, ldg, M, ldm, sums);
  const double least = least_diagonal(order, G, ldg);
  if (threadIdx.x == 0) {
    status[CholeskyQrStatus::diagonal_ratio] = factor[1];
    status[CholeskyQrStatus::growth] = exists ? growth : INFINITY;
    status[CholeskyQrStatus::least_square] = least;
  }
}

/// Zeros below the diagonal.
__global__ void clear_lower_kernel(int order, double* A, Index ld) {
  const int j = static_cast<int>(blockIdx.x);
  for (int i = j + 1 + static_cast<int>(threadIdx.x); i < order; i += kThreads) A[i + j * ld] = 0;
}

/// status = {info is 0; min/max of diag(R)}, in one thread.
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

template <class Kernel>
std::size_t raise_shared_limit(Kernel* kernel, int order, int columns) {
  const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(staged_ld(order)) *
                            static_cast<std::size_t>(columns);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)));
  return bytes;
}

}  // namespace

void launch_cholesky(cudaStream_t stream, int order, double* G, Index ld, double* status) {
  const std::size_t shared = raise_shared_limit(cholesky_kernel, order, order);
  cholesky_kernel<<<1, kFactorThreads, shared, stream>>>(order, G, ld, status);
  check_launch();
}

void launch_invert_upper(cudaStream_t stream, int order, double* R, Index ld) {
  const std::size_t shared = raise_shared_limit(invert_upper_kernel, order, order + 1);
  invert_upper_kernel<<<1, kFactorThreads, shared, stream>>>(order, R, ld);
  check_launch();
}

void launch_cholesky_qr(cudaStream_t stream, int order, const double* G, Index ldg, double* M,
                        Index ldm, double* status) {
  const std::size_t shared = raise_shared_limit(cholesky_qr_kernel, order, order + 1);
  cholesky_qr_kernel<<<1, kFactorThreads, shared, stream>>>(order, G, ldg, M, ldm, status);
  check_launch();
}

void launch_scale_gram(cudaStream_t stream, int order, const double* G, Index ldg, double* M,
                       Index ldm) {
  scale_gram_kernel<<<static_cast<unsigned>(order), kThreads, 0, stream>>>(order, G, ldg, M, ldm);
  check_launch();
}

void launch_finish_cholesky_qr(cudaStream_t stream, int order, const double* G, Index ldg,
                               const double* factor, double* M, Index ldm, double* status) {
  finish_cholesky_qr_kernel<<<1, kFactorThreads, 0, stream>>>(order, G, ldg, factor, M, ldm,
                                                              status);
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
