#pragma once

#include <heddle/linalg/small/small_dense.hpp>
#include <memory>
#include <vector>

namespace heddle {

/// ‖R⁻¹‖²_F/m up to which X R⁻¹ is orthonormal to a small multiple of m·ε: the error of CholQR
/// grows with it, from 1 for an orthonormal X.
inline constexpr double kOrthonormalGrowth = 4;

/// The rung of the ladder that gave the result, in order of cost.
enum class OrthoMethod { cholqr, cholqr2, shifted_cholqr3, svqb };

/// The decisions of an orthonormalisation, round by round, on the host: from G = XᵀBX of the block
/// as it is to M with X M nearer to orthonormal. `Orthogonalizer` does the work on the blocks.
///
/// The first round scales the columns to norm 1. Each round then takes
/// - R⁻¹ of the Cholesky factor R of G while R is well above the rounding of G (CholQR),
/// - else, once, that of G + s·I (shifted CholQR),
/// - else Z max(Θ, floor)^(-1/2) of the eigenvectors of G (SVQB),
/// and the last round is the one whose R⁻¹ was so small that X R⁻¹ is orthonormal at once. Beside
/// each column stands a bound on the rounding in it, which grows with the coefficients; a column
/// that may be rounding for more than a tenth is dropped.
class OrthoLadder {
 public:
  /// For blocks of up to `max_cols` columns in a precision of unit roundoff `epsilon`/2.
  OrthoLadder(Index max_cols, double epsilon);

  /// A new block.
  void begin(Index cols);

  Index cols() const noexcept { return cols_; }  ///< of the block now

  /// G, cols×cols: filled by the caller before each round, both triangles.
  SmallView<double, HostSpace> gram() noexcept { return gram_.view(cols_, cols_); }

  /// Whether max |G − I| is within rounding.
  bool orthonormal();

  /// Decides a round from G, for a block of `rows` rows. `cholqr` says that its result will be
  /// orthonormal.
  OrthoMethod decide(Index rows);

  /// θ_min of G scaled to unit diagonal, if the first round was decided by eigenvectors, else 0.
  /// Below zero by more than rounding, the inner product is indefinite.
  double smallest_eigenvalue() const noexcept { return smallest_eigenvalue_; }

  /// M of the round decided, columns before × columns after; cols() are those after from now on.
  ConstSmallView<double, HostSpace> advance();

 private:
  void keep_columns();
  void scale_gram(double shift);
  double factor_cholesky(double shift);
  bool pivots_hold_noise();
  void factor_eigenvectors();
  double coefficient_noise(Index j);

  double epsilon_;
  std::unique_ptr<HostContext> host_;  // its address must stay when this object moves
  SymmetricEigensolver<HostContext> eigensolver_;
  SmallMatrix<double, HostSpace> gram_;
  SmallMatrix<double, HostSpace> factor_;  // kept×result: coefficients of the scaled kept columns
  SmallMatrix<double, HostSpace> coefficients_;  // those of all columns
  SmallMatrix<double, HostSpace> theta_;
  std::vector<Index> kept_;    // columns that still count
  std::vector<double> scale_;  // what they are multiplied by first
  std::vector<double> noise_;  // bound on the rounding in each column; of the kept, scaled columns
                               // while a round is decided
  std::vector<double> next_noise_;
  Index cols_ = 0;
  Index result_cols_ = 0;
  double smallest_eigenvalue_ = 0;
  bool first_ = true;
  bool shifted_ = false;
};

}  // namespace heddle
