#pragma once

#include <heddle/linalg/data/packet.hpp>
#include <heddle/solvers/cg/column_ledger.hpp>
#include <heddle/solvers/cg/loose_rows.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <vector>

namespace heddle::detail {

/// The search directions that a method carries from one iteration to the next, in addition to X and
/// R.
template <Scalar T, class Space>
struct SearchDirections {
  MultiVector<T, Space> P;
  Index count = 0;              ///< columns of P that are in use
  bool orthonormal = true;      ///< P. If not, block CG knows an F with orthonormal P F
  double least_square = 0;      ///< min_j ‖p_j‖² before P was made orthonormal
  bool follow_columns = false;  ///< column j of P belongs to column j of X and moves with it
  bool careful = false;         ///< PᵀAP has been singular or indefinite
};

/// The memory of `LinearColumns` for n×b systems.
template <Scalar T, class Ctx>
struct LinearColumnsStorage {
  using Space = typename Ctx::Space;

  LinearColumnsStorage(Ctx& context, Index n, Index b);

  /// Empties everything that a solve fills. Keeps all memory.
  void reset();

  MultiVector<T, Space> R;
  SearchDirections<T, Space> directions;
  MultiVector<T, Space> scratch;  // A X while R is computed as B − A X, else free for the method
  Packet<Ctx> packet;
  SmallMatrix<double, Space> factors;
  ColumnLedger ledger;
  LooseRowsSearch loose_rows;
  std::vector<double> monitor_residuals;  // in the order of B
  LinearResult<T, Space> result;
};

}  // namespace heddle::detail
