#pragma once

#include <heddle/solvers/operators/indefinite_inverse.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <limits>
#include <optional>

namespace heddle {

/// The side of σ on which eigenvalues are wanted.
enum class Side { both, above, below };

/// Which matrix of A x = λ B x is positive definite. Vectors are orthonormal in its inner product.
enum class Definite {
  B,  ///< or semidefinite, and A is any symmetric matrix
  A,  ///< and B is any symmetric matrix, as in buckling, K x = −λ K_g x
};

/// The numbers of eigenvalues below two limits, by factors whose signs are certain.
struct LimitCounts {
  Index lower = 0;  ///< below the lower limit
  Index upper = 0;  ///< below the upper limit

  Index between() const noexcept { return upper - lower; }  ///< the limits
};

/// The options of `nearest_eigenpairs`. The `nev` pairs nearest to `sigma` with eigenvalues in
/// [lower, upper] are wanted. `which` is ignored.
struct NearestOptions : EigenOptions {
  double sigma = 0;                                         ///< σ, in [lower, upper]
  double lower = -std::numeric_limits<double>::infinity();  ///< of the wanted values
  double upper = std::numeric_limits<double>::infinity();   ///< of the wanted values
  /// What is known of the limits. Needed where a limit is neither infinite nor σ: the solve then
  /// knows how many pairs exist, and needs no counts if it wants all of them. If it wants fewer,
  /// the result has all pairs between the ends of its own count, which may be more.
  std::optional<LimitCounts> counts{};
  Index max_basis = 0;  ///< columns of the basis before a restart. 0: chosen from nev and b
  Definite definite = Definite::B;  ///< the definite matrix

  /// Sets the limits to those of one side of `sigma`, or of both. For a definite A, which must have
  /// been set, one side of a σ ≠ 0 reaches no farther than 0.
  void limit_to(Side side) noexcept {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const double far = definite == Definite::A && sigma != 0 ? 0 : kNone;
    lower = side == Side::above ? sigma : side == Side::below && sigma > 0 ? -far : -kNone;
    upper = side == Side::below ? sigma : side == Side::above && sigma < 0 ? far : kNone;
  }
};

/// The number of columns that are solved at once, in a solve of order n.
Index nearest_block_size(const NearestOptions& options, Index n) noexcept;

/// Upper bound of the bytes of the context's memory that a solve holds, with its result, without A,
/// B and the factor. `constraints`: their number. `scalar_size`: bytes per scalar of the blocks.
double nearest_memory_bytes(const NearestOptions& options, Index n, Index constraints, bool pencil,
                            std::size_t scalar_size);

/// The pairs of A x = λ B x nearest to σ, by block Lanczos on (A − sB)⁻¹B, in ascending order, or,
/// for a definite A, in that of |λ|.
///
/// `inverse` holds A and B of the problem and factors A − sB. s is σ, unless σ is an eigenvalue to
/// rounding or the factor is not certain: s then moves away from it in small steps, and the reason
/// says so. The iteration finds the largest |1/(λ − s)|, at both ends of the spectrum of the
/// inverse, restarts thick, and locks what has converged. Each vector is multiplied by (A − sB)⁻¹B
/// once more at the end, which removes components of the null space of B and errors in stiff rows.
///
/// By Sylvester's law of inertia, the numbers of negative pivots of A − aB and A − bB differ by the
/// number of eigenvalues in [a, b). These ends are chosen in gaps beyond the last wanted values. If
/// more eigenvalues lie between them than were found, the search goes on from random vectors that
/// are orthogonal to the pairs, until all are found: `completeness` is then `inertia`, proven. The
/// counts cost two factorisations. If too few values lie within the limits, the result holds all of
/// them.
///
/// With constraints Y, the pairs are those on the vectors with YᵀBx = 0, or YᵀAx = 0 for a definite
/// A. Y need not be eigenvectors. Counts are those of this problem, see
/// `IndefiniteInverse::constrain`.
///
/// B must be positive semidefinite, and definite on the vectors x with A x = 0. With `Definite::A`,
/// A must be positive definite, which its factor shows first. Values λ = 1/ν are then those of
/// B x = ν A x, with xᵀAx = 1, and A − aB has as many negative pivots as there are values between 0
/// and a. Values 10¹⁰ times as large as σ, or as the smallest one, count as infinite. Where a basis
/// shows fewer than nev of the others, they are counted. No limits but 0, σ and ±∞ go with it.
///
/// Numerical trouble is a status in the result. Misuse throws `InvalidArgument`, which names both
/// sides. Initial guesses are not supported. Sources: Ericsson & Ruhe, Math. Comp. 35 (1980) 1251;
/// Grimes, Lewis, Simon, SIAM J. Matrix Anal. Appl. 15 (1994) 228; Wu & Simon, SIAM J. Matrix Anal.
/// Appl. 22 (2000) 602.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> nearest_eigenpairs(Ctx& context,
                                                       const EigenProblem<T, Ctx>& problem,
                                                       IndefiniteInverse<T, Ctx>& inverse,
                                                       const NearestOptions& options,
                                                       const Monitor& monitor = {});

}  // namespace heddle
