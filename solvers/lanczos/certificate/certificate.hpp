#pragma once

#include <heddle/solvers/operators/indefinite_inverse.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>

namespace heddle {

/// Whether the eigenvalues up to the last wanted one are counted after a solve.
enum class Certify {
  automatic,  ///< where that costs little, or where the solver may have missed a pair
  inertia,    ///< always
  no,         ///< never
};

/// `Certify::automatic` counts up to this order, whatever the solve has cost, if the factor takes
/// at most `kAlwaysFactored` multiplications.
inline constexpr Index kAlwaysCounted = 5000;

/// A dense matrix of order 1400 takes as many: about half a second with the slowest BLAS.
inline constexpr double kAlwaysFactored = 1e9;

/// The options of `certified`: those of the solve, and whether to count.
struct CertifyOptions : EigenOptions {
  Certify certify = Certify::automatic;  ///< whether eigenvalues are counted
};

/// Counts the eigenvalues of A x = λ B x up to the last of the `nev` that a solve for an end of the
/// spectrum has found, and finds those that the solve has missed.
///
/// By Sylvester's law of inertia, A − sB has as many negative pivots as there are eigenvalues below
/// s. s lies beyond the last found value. If more eigenvalues than the found ones lie on its near
/// side, as where `nev` cuts copies of an eigenvalue, a second s lies just before the last value:
/// within the tolerance or 10⁻⁶ of it, or within error bounds of at most 10⁻³ of it. As many
/// eigenvalues as found values are a proof, and `completeness` of the result is `inertia`, proven.
/// More of them, or larger error bounds, mean that pairs may be missing: `nearest_eigenpairs` then
/// computes all pairs up to s, and the wanted ones among these replace `found`. If it does not
/// converge, the status is `verification_failed`, or that of a limit which ended it. Where no count
/// next to the last value is certain, all pairs up to the first certain count are computed if they
/// are few, and show whether pairs are missing.
///
/// Bounds ‖r‖²/gap assume that no eigenvalue lies in the gap behind the last value. Without a B,
/// the first s is 0.9 of that gap, if it is wide. Eigenvalues before this s raise `error_bounds` to
/// those of the gap up to the next s. Where a bound then exceeds 10⁻⁶ of its value and the
/// tolerance, the pairs are computed as if some were missing. So they are if an s just beyond the
/// bound of the last value, among copies that `nev` cuts, shows that this bound is too small.
///
/// For constraints Y with C = BY, the eigenvalues of the constrained problem below s are counted as
/// those of A x = λ B x less the negative eigenvalues of Cᵀ(A − sB)⁻¹C (Haynsworth).
///
/// `automatic` counts for orders up to 5000 unless the factor takes more than 10⁹ multiplications,
/// where a factor costs less than a tenth of the solve by an estimate, and where a solve without an
/// inverse has met rows of A that are 10³ times smaller than ‖A‖₁. The factor must fit into the
/// memory of `inverse`. Only results that have converged and are not proven to be complete are
/// counted. B must be positive definite, or positive semidefinite with xᵀA x > 0 in its null space.
///
/// `inverse` holds the matrices of `problem`. Its last factor belongs to some s afterwards.
/// Sources: Parlett, The Symmetric Eigenvalue Problem, SIAM 1998, 3.3; Haynsworth, Linear Algebra
/// Appl. 1 (1968) 73; Grimes, Lewis, Simon, SIAM J. Matrix Anal. Appl. 15 (1994) 228.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> certified(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                              IndefiniteInverse<T, Ctx>& inverse,
                                              const CertifyOptions& options,
                                              EigenResult<T, typename Ctx::Space> found,
                                              const Monitor& monitor = {});

}  // namespace heddle
