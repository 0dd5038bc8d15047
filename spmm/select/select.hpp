#pragma once

#include <heddle/spmm/features/features.hpp>
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

/// Lanes that `row_split` gives the columns of a row at most: rows that are shorter than two rounds
/// of gathers do better in half as wide slabs (one H200, 7-point stencil, 64 columns: 20 %).
int row_lanes(const MatrixFeatures& A) noexcept;

/// Lane groups a row where there is no choice but rows: one for even rows that are many enough to
/// keep the device busy with N columns, else `row_groups`.
int forced_row_groups(const MatrixFeatures& A, Index N) noexcept;

}  // namespace heddle
