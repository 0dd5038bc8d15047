#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/solvers/preconditioners/multigrid/aggregates.hpp>

namespace heddle::detail {

/// A prolongator T with orthonormal columns, and what the coarser level inherits.
template <class Space>
struct TentativeProlongator {
  CsrMatrix<double, Space> T;
  Buffer<std::int64_t, Space> nodes;     ///< as `Grid::nodes`, of the coarser level
  MultiVector<double, Space> near_null;  ///< X_c with T X_c = X in all aggregates
};

/// The prolongator whose columns are the near null vectors X cut off at the borders of the
/// aggregates: in each aggregate X = Q R, Q is its part of T and R its part of X_c. Columns of X
/// that depend linearly on others in an aggregate give no column of T there.
TentativeProlongator<HostSpace> tentative_prolongator(HostContext& context,
                                                      const Grid<HostSpace>& grid,
                                                      const Aggregates<HostSpace>& aggregates);

/// The same in device memory, up to rounding.
TentativeProlongator<DeviceSpace> tentative_prolongator(CudaContext& context,
                                                        const Grid<DeviceSpace>& grid,
                                                        const Aggregates<DeviceSpace>& aggregates);

/// P = (I − ω D⁻¹ Ā) T with ω = 4/(3 λ) and λ ≥ λ_max(D⁻¹Ā). Ā is A without the entries of
/// connections that are not strong. These are added to the diagonal, so that Ā has the row sums
/// of A, except for rows in which they would leave less than a tenth of the diagonal. D is the
/// diagonal of Ā. `upper_bound` bounds the spectrum of D⁻¹A. Source: Vaněk, Mandel, Brezina,
/// Computing 56 (1996) 179, section 2.
HostCsrMatrix<double> smoothed_prolongator(HostContext& context, const Grid<HostSpace>& grid,
                                           const NodeGraph<HostSpace>& strong,
                                           CsrView<double, HostSpace> tentative,
                                           double upper_bound);

/// I − ω D⁻¹ Ā as above, for the matrix A of `grid`. Processes that share it give its rows to the
/// grid, and call this together. Connections to nodes of other processes then count as strong, and
/// λ bounds the spectrum of the whole D⁻¹Ā.
DistributedCsr<double, HostSpace> prolongation_smoother(
    HostContext& context, const Grid<HostSpace>& grid,
    const DistributedCsrView<double, HostSpace>& A, const NodeGraph<HostSpace>& strong,
    double upper_bound);

/// P in device memory, up to rounding.
CsrMatrix<double, DeviceSpace> smoothed_prolongator(CudaContext& context,
                                                    const Grid<DeviceSpace>& grid,
                                                    const NodeGraph<DeviceSpace>& strong,
                                                    CsrView<double, DeviceSpace> tentative,
                                                    double upper_bound);

/// Where the weak entries of a row outweigh its diagonal entry, Ā keeps the diagonal of A. A
/// diagonal entry is 1, or rounding in the row of a null vector.
inline constexpr double kLeastDiagonal = 0.1;

/// A column of X that has this part of its norm outside of the columns before, or less, depends on
/// them.
inline constexpr double kDependent = 1e-8;

}  // namespace heddle::detail
