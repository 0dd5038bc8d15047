#pragma once

#include <heddle/linalg/context/device_sizes.hpp>
#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/spmm.hpp>
#include <string_view>
#include <vector>

/// Which kernel multiplies a matrix by N columns, from what the matrix is like. Kernels are named
/// as in their table. Needs no GPU.
namespace heddle::detail {

/// The host kernel for every matrix and width.
std::string_view choose_on_host() noexcept;

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
