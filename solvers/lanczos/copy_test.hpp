#pragma once

#include <heddle/solvers/lanczos/pair_ledger.hpp>

namespace heddle::detail {

/// The error of some ε‖F‖ that rounding leaves in the projection T of F. `first`: the eigenvalue
/// nearest to the wanted end.
double noise_of_projection(const SpectralMap& map, const PencilNorms& norms, double epsilon,
                           double first);

/// Tells Ritz values λ of a check from further copies of locked values. Everything but numbers is
/// kept by reference.
struct CopyTest {
  const SpectralMap& map;
  const EigenConvergence& convergence;
  const PairList& locked;
  const PencilNorms& norms;
  double epsilon;
  double largest_rounding;

  /// Whether λ is better than a locked value of which it is no copy.
  bool is_better(double lambda) const;

  /// Whether λ may be another copy of locked value i. A Ritz value is never better than the
  /// eigenvalue for which it stands. So a value that differs by more than the error of the locked
  /// one and rounding is no copy. The tolerance may be much coarser, and so may rounding errors of
  /// ‖A‖ where F is an inverse.
  bool is_copy(double lambda, std::size_t i) const;

  /// The amount that the error bound of locked pair i lacks if the eigenvalues of F next to it are
  /// the Ritz values of a check from number `first` on. Bounds assume that the Ritz values of a
  /// basis stand for all eigenvalues near them. In a cluster that is larger than the basis they do
  /// not: a check then finds its Ritz values in the gap that the bound assumes.
  double lacking(const LanczosValues& ritz, Index first, std::size_t i) const;
};

/// Tells clusters of which a basis may not have shown all values, before a check. Everything but
/// numbers is kept by reference.
struct CrowdTest {
  const SpectralMap& map;
  const LanczosValues& ritz;
  const PairList& wanted;
  Index known;   ///< the first of `wanted`, of which there are no others
  Index locked;  ///< those of `wanted` that are no Ritz pairs
  double noise;  ///< of the projection of F

  /// The distance of the outermost Ritz values within the spread of the bound of wanted value i. 0
  /// if these are fewer than `least`, or differ by rounding only.
  double width(std::size_t i, Index least) const;
};

}  // namespace heddle::detail
