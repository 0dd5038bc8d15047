#pragma once

#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/operators/normal_equations.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/result.hpp>

namespace heddle::detail {

/// The options of a search for vectors that Aᴴ annihilates.
struct NullVectorOptions {
  double limit = 0;  ///< ‖Aᴴu‖₂ of a unit vector up to which it counts as annihilated
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< the first of the random streams that the search uses
};

/// Finds orthonormal vectors U (m×c, orthogonal to the columns of `known`) with ‖Aᴴu‖₂ ≤ limit for
/// an m×n A.
///
/// The part in the range of A is removed from random vectors: u ← u − A A⁺u, the residual of a
/// least-squares problem. A random vector may lie almost entirely in the range. What remains of it
/// then consists of rounding errors to a large part. Therefore the remainder is orthonormalised and
/// treated in the same way, until the limit holds. U may contain directions of singular values up
/// to the limit.
template <Scalar T, class Ctx>
class NullVectors {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;

  /// `control` limits the time of the search. The context, the operators, `control` and the monitor
  /// must outlive the search.
  NullVectors(Ctx& context, const AdjointPair<T, Ctx>& pair, const NullVectorOptions& options,
              const StopControl& control, const Monitor& monitor)
      : context_(context), pair_(pair), options_(options), control_(control), monitor_(monitor) {}

  /// The monitor sees the iterations of block CG. Returns
  /// - `converged` if U holds the vectors,
  /// - `interrupted` or `time_limit` if the search was stopped,
  /// - `verification_failed` if no such U was found,
  /// - `breakdown` if products are not finite.
  SolveStatus find(ConstBlockView<T, Space> known, Block U, OrthoCounts& counts);

 private:
  bool annihilated(ConstBlockView<T, Space> U);
  SolveStatus remove_range(Block U);

  Ctx& context_;
  AdjointPair<T, Ctx> pair_;
  NullVectorOptions options_;
  const StopControl& control_;
  const Monitor& monitor_;
};

}  // namespace heddle::detail
