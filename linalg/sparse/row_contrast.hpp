#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>

/// How the rows of a symmetric matrix differ in size. The matrices are valid and not distributed.
namespace heddle {

/// The ratio of the largest to the smallest a_i/b_i over the rows where it is positive and finite,
/// 1 if there are none, with
///
///     a_i = max(|a_ii|, max_j |a_ij| min(1, |a_ij|/|a_jj|)),  b_i = |b_ii|
///
/// A B without rows is the identity. A constant that is added to all a_i/b_i, as a shift of the
/// eigenvalues does, makes the ratio smaller.
template <Scalar T>
double row_span(HostContext& context, CsrView<T, HostSpace> A, CsrView<T, HostSpace> B);
template <Scalar T>
double row_span(CudaContext& context, CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B);

/// marks(i, 0) = 1 (marks A.rows×1) where |a_ii| > 0 and |a_ii| ≥ factor Σ_{j≠i} |a_ij|, else 0.
template <Scalar T>
void mark_dominant_rows(HostContext& context, CsrView<T, HostSpace> A, double factor,
                        BlockView<T, HostSpace> marks);
template <Scalar T>
void mark_dominant_rows(CudaContext& context, CsrView<T, DeviceSpace> A, double factor,
                        BlockView<T, DeviceSpace> marks);

/// left(i, 0) = marks(i, 0) (both A.rows×1, not overlapping) where |a_ii| ≥ factor |a_jj| for all
/// neighbours j with marks(j, 0) = 0, else 0.
template <Scalar T>
void leave_out_like_neighbours(HostContext& context, CsrView<T, HostSpace> A, double factor,
                               ConstBlockView<T, HostSpace> marks, BlockView<T, HostSpace> left);
template <Scalar T>
void leave_out_like_neighbours(CudaContext& context, CsrView<T, DeviceSpace> A, double factor,
                               ConstBlockView<T, DeviceSpace> marks,
                               BlockView<T, DeviceSpace> left);

}  // namespace heddle
