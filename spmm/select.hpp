#pragma once

#include <heddle/spmm/features.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Which CUDA kernel multiplies a matrix by N columns, from what the matrix is like. Needs no GPU.
namespace heddle {

/// The SpMM kernels of the CUDA backend; each is described at its launcher in spmm/cuda.
enum class CudaKernel {
  row_split,
  row_parallel,
  row_cached,
  row_broadcast,
  merge,
  merge_path,
  nonzero_parallel,
  panel_mma,
  cusparse_alg1,
  cusparse_alg2,
  cusparse_alg3,
};

/// Names as `SpmmOptions::kernel` takes them, in the order of the enumerators.
std::span<const std::string_view> cuda_kernel_names() noexcept;
std::string_view name_of(CudaKernel kernel) noexcept;
std::optional<CudaKernel> cuda_kernel_named(std::string_view name) noexcept;

/// A kernel and one sentence why.
struct KernelChoice {
  CudaKernel kernel;
  std::string reason;
};

/// By the features of A, for values of `scalar_bytes` each. Thresholds: measured on one NVIDIA
/// H200; their form follows Huang et al., arXiv:2106.16064 (σ/d for balance, N and d for the
/// reduction) and adds the reuse R(8) for tensor cores. Uses rows, cols, nnz, row lengths and
/// `reuse_8` of the features alone.
KernelChoice choose_by_features(const MatrixFeatures& A, Index N, std::size_t scalar_bytes);

/// By the mean row length alone: `merge` below 9.35 nonzeros, else `row_split`. Source: Yang,
/// Buluç, Owens, Euro-Par 2018, section 5.4.
KernelChoice choose_by_row_mean(const MatrixFeatures& A);

/// The two or three kernels worth timing on A, the choice by features first.
std::vector<CudaKernel> kernel_candidates(const MatrixFeatures& A, Index N,
                                          std::size_t scalar_bytes);

/// Lane groups that `row_parallel` gives a row: enough that a group has about four nonzeros.
int row_groups(const MatrixFeatures& A) noexcept;

}  // namespace heddle
