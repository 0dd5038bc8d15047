#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid.hpp>
#include <optional>

/// The small steps of the setup of multigrid, with overloads for the host and the GPU. Results have
/// the same bits in every run and for every number of threads, and on both backends unless a
/// comment says otherwise.
namespace heddle::detail {

/// A negative entry of a vector.
struct NegativeEntry {
  Index row = 0;
  double value = 0;
};

/// The first negative entry of d, if there is one.
std::optional<NegativeEntry> first_negative(HostContext& context,
                                            const Buffer<double, HostSpace>& d);
std::optional<NegativeEntry> first_negative(CudaContext& context,
                                            const Buffer<double, DeviceSpace>& d);

/// A diagonal entry, relative to the largest one, that may be rounding only.
inline constexpr double kZeroDiagonal = 1e-12;

/// ‖A‖₁ of a symmetric A, up to rounding. NaN or Inf if A contains one. Processes that share A call
/// it together.
double symmetric_norm(HostContext& context, const DistributedCsrView<double, HostSpace>& A);
double symmetric_norm(CudaContext& context, CsrView<double, DeviceSpace> A);

/// The nodes of `unknowns` rows each.
Buffer<std::int64_t, HostSpace> equal_nodes(HostContext& context, Index rows, Index unknowns);
Buffer<std::int64_t, DeviceSpace> equal_nodes(CudaContext& context, Index rows, Index unknowns);

/// X(i, j) = x(i, j)/s_i. Here x is 1 where i mod m = j and 0 elsewhere if `given` is empty. Else x
/// is `given`, whose columns are multiplied by powers of two that bring their largest entries near
/// 1, so that squares neither overflow nor vanish. X is s.size()×m. Where processes share the rows,
/// all of them call it together, and the largest entries are those of all rows.
MultiVector<double, HostSpace> near_null_vectors(HostContext& context, Index m,
                                                 ConstBlockView<double, HostSpace> given,
                                                 const Buffer<double, HostSpace>& s);
MultiVector<double, DeviceSpace> near_null_vectors(CudaContext& context, Index m,
                                                   ConstBlockView<double, HostSpace> given,
                                                   const Buffer<double, DeviceSpace>& s);

/// d_i ← 1/√d_i. A d_i of at most kZeroDiagonal times the largest one belongs to a null vector and
/// becomes 1. Where processes share the rows, all of them call it together.
void to_unit_scaling(HostContext& context, Buffer<double, HostSpace>& d);
void to_unit_scaling(CudaContext& context, Buffer<double, DeviceSpace>& d);

/// Σ over the entries (i, k) of A of the entries of row k of P, which bounds the entries of A P.
double multiplications(HostContext& context, CsrView<double, HostSpace> A,
                       CsrView<double, HostSpace> P);
double multiplications(CudaContext& context, CsrView<double, DeviceSpace> A,
                       CsrView<double, DeviceSpace> P);

/// P ← P diag(s), Pᵀ ← diag(s) Pᵀ, X ← diag(s)⁻¹ X. Processes that share P and Pᵀ call it together.
void scale_coarse_side(HostContext& context, const Buffer<double, HostSpace>& s,
                       CsrMatrix<double, HostSpace>& P, CsrMatrix<double, HostSpace>& Pt,
                       BlockView<double, HostSpace> X);
void scale_coarse_side(HostContext& context, const Buffer<double, HostSpace>& s,
                       DistributedCsr<double, HostSpace>& P, DistributedCsr<double, HostSpace>& Pt,
                       BlockView<double, HostSpace> X);
void scale_coarse_side(CudaContext& context, const Buffer<double, DeviceSpace>& s,
                       CsrMatrix<double, DeviceSpace>& P, CsrMatrix<double, DeviceSpace>& Pt,
                       BlockView<double, DeviceSpace> X);

/// H = A, n×n, with zeros where A stores nothing.
void fetch_dense(HostContext& context, HostContext& host, CsrView<double, HostSpace> A,
                 SmallView<double, HostSpace> H);
void fetch_dense(CudaContext& context, HostContext& host, CsrView<double, DeviceSpace> A,
                 SmallView<double, HostSpace> H);

}  // namespace heddle::detail
