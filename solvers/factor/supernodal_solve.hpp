#pragma once

#include <heddle/solvers/factor/dense_pivots.hpp>
#include <heddle/solvers/factor/supernodes.hpp>
#include <vector>

namespace heddle::detail {

/// X ← Pᵀ L⁻ᵀ D⁻¹ L⁻¹ P X for n×`columns` numbers X with one column after the other.
///
/// `L`: the dense blocks of all supernodes, by columns, with a unit diagonal that is not stored.
/// `pivots`: of each supernode those of its blocks of `kPivotBlock` columns, in whose order the
/// columns of L are. Groups of columns are solved side by side, so that the bits do not depend on
/// the number of threads.
void solve_supernodal(const Supernodes& structure, const double* L,
                      const std::vector<std::vector<DensePivots>>& pivots, int threads, double* X,
                      Index columns);

}  // namespace heddle::detail
