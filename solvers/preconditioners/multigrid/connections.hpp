#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid.hpp>

namespace heddle::detail {

/// An undirected graph without loops: the neighbours of node I are entries offsets[I] …
/// offsets[I+1] − 1, in ascending order.
template <class Space>
struct NodeGraph {
  Buffer<std::int64_t, Space> offsets;
  Buffer<std::int32_t, Space> neighbours;
  Buffer<float, Space> weights;  ///< of the edges, in (0, 1] for a positive definite matrix

  Index size() const noexcept { return static_cast<Index>(offsets.size()) - 1; }
};

/// The strong connections of a grid's nodes. The weight of the connection of nodes I and J is
///
///     w_IJ = ‖A_IJ‖ / (‖A_II‖ ‖A_JJ‖)^(1/2)    (Frobenius norms of the blocks of their unknowns)
///
/// It is strong if w_IJ > threshold·min(max_K w_IK, max_K w_JK), and any connection with w_IJ > 0
/// is if the threshold is 0. Sources: Vaněk, Mandel, Brezina, Computing 56 (1996) 179, section 3
/// (the weights); Ruge & Stüben, in Multigrid Methods, SIAM 1987, section 4.3.2 (why they are
/// compared with the largest weights: those of wide stencils are all small).
NodeGraph<HostSpace> strong_connections(HostContext& context, const Grid<HostSpace>& grid,
                                        double threshold);

/// The same in device memory. Norms of blocks of several rows have other rounding errors, of
/// which single precision leaves no trace in almost all weights.
NodeGraph<DeviceSpace> strong_connections(CudaContext& context, const Grid<DeviceSpace>& grid,
                                          double threshold);

}  // namespace heddle::detail
