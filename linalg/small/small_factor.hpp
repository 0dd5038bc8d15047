#pragma once

#include <cuda_runtime_api.h>

#include <heddle/linalg/context/context.hpp>

/// Kernels for one small matrix in device memory (column-major doubles). Each is a single thread
/// block that works in shared memory, where cuSOLVER would need several launches. None waits for
/// the device.
namespace heddle {

/// The largest order that one thread block can factor.
inline constexpr int kMaxFactorOrder = 128;

/// Whether one thread block can factor a matrix of this order: the matrix must fit in the
/// `shared_bytes` of shared memory that the device has per block. On an H100 or H200, matrices of
/// order up to kMaxFactorOrder fit.
bool fits_one_block(Index order, std::size_t shared_bytes) noexcept;

/// `cholesky_qr_coefficients` (small_dense.hpp) for an order that fits in one thread block, with c
/// = `basis`.
void launch_cholesky_qr(cudaStream_t stream, int basis, int order, const double* T, Index ldt,
                        double* N, Index ldn, double* status);

/// The first and the last step of `cholesky_qr_coefficients` for any order. The first scales the
/// upper triangle of H to unit diagonal in place and writes `scale` = diag(H)^(-1/2). The last,
/// given R⁻¹ in M, computes M ← diag(scale) M. Together they write `status`. `factor` is the status
/// that `launch_finish_factor` writes.
void launch_scale_remainder(cudaStream_t stream, int order, double* H, Index ldh, const double* G,
                            Index ldg, double* scale, double* status);
void launch_finish_cholesky_qr(cudaStream_t stream, int order, const double* factor,
                               const double* scale, double* M, Index ldm, double* status);

/// The step after a factorisation of any order by cuSOLVER: writes zeros below the diagonal of R,
/// and status = {1, min/max of diag(R)}, or {0, 0} if `info` or the diagonal shows that there is no
/// R.
void launch_finish_factor(cudaStream_t stream, int order, double* R, Index ld, const int* info,
                          double* status);

/// A = I, packed.
void launch_identity(cudaStream_t stream, int order, double* A);

}  // namespace heddle
