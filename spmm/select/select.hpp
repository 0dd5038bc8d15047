#pragma once

#include <heddle/linalg/context/device_sizes.hpp>
#include <heddle/spmm/features/features.hpp>
#include <string>
#include <string_view>
#include <vector>

/// Which kernel multiplies a matrix by N columns, from what the matrix is like. Kernels are named
/// as in their table. Needs no GPU.
namespace heddle::detail {

/// A kernel and one sentence why.
struct KernelChoice {
  std::string_view kernel;
  std::string reason;
};

/// The host kernel for every matrix and width.
std::string_view choose_on_host() noexcept;

/// By the features of A, for values of `scalar_bytes` each. Thresholds: measured on one NVIDIA
/// H200; their form follows Huang et al., arXiv:2106.16064 (σ/d for balance, N and d for the
/// reduction) and adds the reuse R(8) for tensor cores. Uses rows, cols, nnz, row lengths and
/// `reuse_8` of the features alone.
KernelChoice choose_by_features(const MatrixFeatures& A, Index N, std::size_t scalar_bytes);

/// By the mean row length alone: `merge` below 9.35 nonzeros, else `row_split`. Source: Yang,
/// Buluç, Owens, Euro-Par 2018, section 5.4.
KernelChoice choose_by_row_mean(const MatrixFeatures& A);

/// The two or three kernels worth timing on A, the choice by features first.
std::vector<std::string_view> kernel_candidates(const MatrixFeatures& A, Index N,
                                                std::size_t scalar_bytes);

/// Lane groups per row where rows must be split, whatever they are like: one for even rows that are
/// many enough to keep the device busy with N columns, else `cuda::row_groups`.
int forced_row_groups(const MatrixFeatures& A, Index N, const DeviceSizes& device) noexcept;

}  // namespace heddle::detail
