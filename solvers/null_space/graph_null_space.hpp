#pragma once

#include <cstdint>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <span>
#include <vector>

namespace heddle {

/// Null vectors of a positive semidefinite matrix that its graph shows, one per connected
/// component. They have no row in common.
struct GraphNullSpace {
  /// The number of null vectors, k.
  Index dimension = 0;
  /// The null vector 0 … k − 1 to which each row belongs, −1 for rows where all of them are 0.
  /// Empty if k = 0.
  std::vector<std::int32_t> vector{};
  /// The entry of that vector in each row, not normalised.
  std::vector<double> entries{};
  /// Whether the vectors span the null space of A. False if the search ended at `most` of them.
  bool complete = false;
};

/// The null space of a symmetric A that is shown to be positive semidefinite as a graph Laplacian
/// is. `sizes`: n positive numbers d, such as the square roots of the degrees for a normalised
/// Laplacian. Empty: ones and, for an A with ones on its diagonal, the square roots of the numbers
/// of entries per row are tried. With D = diag(d), the condition on all rows is
///
///     a_ii d_i ≥ Σ_{j≠i} |a_ij| d_j                                                  (1)
///
/// Then no eigenvalue of A is negative (Gershgorin's theorem for D⁻¹AD). The graph of A joins rows
/// i and j with a_ij ≠ 0. The submatrix of a connected component is singular if and only if (1)
/// holds with equality in all of its rows, and there are signs s_i = ±1 with a_ij s_i s_j < 0 for
/// all i ≠ j of the component with a_ij ≠ 0. Then s_i d_i spans its null space (Taussky, Amer.
/// Math. Monthly 56 (1949) 672). Laplacians of graphs with positive weights have s = 1, signless
/// ones of bipartite graphs s = ±1, isolated vertices are rows of zeros.
///
/// (1) is tested to rounding, 10 ε√m times the sizes of its terms in a row of m entries, and a null
/// vector z must have ‖A z‖₂ ≤ 5 ε‖A‖₁‖z‖₂, with the ε of T. A component that fails has no null
/// vector in the result. The dimension is 0 if a row violates (1).
///
/// `most`: the number of null vectors after which the search ends. The time is linear in the number
/// of entries. For other matrices than Laplacians it is mostly that of one product.
template <Scalar T>
GraphNullSpace graph_null_space(HostContext& context, CsrView<T, HostSpace> A, Index most,
                                std::span<const double> sizes = {});

}  // namespace heddle
