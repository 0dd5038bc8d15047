#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// The size of a sparse Cholesky factor L and the work of the factorisation.
struct FactorCost {
  double entries = 0;     ///< entries of L
  double operations = 0;  ///< multiplications: Σ c² over the lengths c of the columns of L
};

/// An estimate of the cost of the Cholesky factor of A − σB in a good order, without ordering the
/// matrix. It takes time O(nnz). A and B are square, of the same order, with symmetric patterns.
/// The values are not read. A B without rows is the identity.
///
/// The estimate follows one branch of a nested dissection. The graph is split by a level of a
/// breadth-first search from a vertex far from the others. The elimination of the separator's s
/// vertices makes a dense front, in which the b vertices of earlier separators that neighbour the
/// part take part: its columns have b + 1, …, b + s entries. The split goes on in the largest part
/// only, so that the visited graphs shrink geometrically. All parts of m vertices are taken to cost
/// (m/m')^p times as much as the visited one of m'. Sources: George, SIAM J. Numer. Anal. 10 (1973)
/// 345 (nested dissection); George & Liu, SIAM J. Numer. Anal. 15 (1978) 1053 (separators from
/// levels).
FactorCost estimate_factor_cost(const CsrView<double, HostSpace>& A,
                                const CsrView<double, HostSpace>& B);

}  // namespace heddle::detail
