#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/model/model.hpp>
#include <heddle/spmm/spmm.hpp>
#include <string_view>
#include <vector>

/// Chooses the kernel that multiplies a matrix by N columns, from the matrix's features. Kernels
/// have the names of their table. Needs no GPU.
namespace heddle::detail {

/// The host kernel for every matrix and width.
std::string_view choose_on_host() noexcept;

/// Chooses by the mean row length alone: `merge` below 9.35 nonzeros per row, else `row_split`.
/// Source: Yang, Buluç, Owens, Euro-Par 2018, section 5.4.
KernelChoice choose_by_row_mean(const MatrixFeatures& A);

/// The predictions for the kernels of the GPU table that give the same bits in every run and take
/// matrices of such values, the fastest first. Empty if the model says nothing of A.
std::vector<KernelPrediction> predicted_kernels(const MatrixFeatures& A, Index N,
                                                std::size_t scalar_bytes,
                                                const DeviceSpeed& device);

/// The names of those of `predicted_kernels` that may be the fastest, as far as the model's error
/// allows to say. The choice by the model is the first.
std::vector<std::string_view> contenders(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                                         const DeviceSpeed& device);

/// The number of lane groups per row if the kernel must be a row split. It is one for rows of
/// similar length that are enough to occupy the device with N columns, else `cuda::row_groups`.
int forced_row_groups(const MatrixFeatures& A, Index N, const DeviceSizes& device) noexcept;

}  // namespace heddle::detail
