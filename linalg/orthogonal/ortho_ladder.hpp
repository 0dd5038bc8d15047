#pragma once

#include <functional>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <vector>

namespace heddle {

/// The bound on ‖R⁻¹‖²_F/m up to which X R⁻¹ counts as orthonormal to a small multiple of m·ε. The
/// error of CholQR grows with ‖R⁻¹‖²_F/m, which is 1 for an orthonormal X.
inline constexpr double kOrthonormalGrowth = 4;

/// The method that gave the result, in order of cost.
enum class OrthoMethod { cholqr, cholqr2, shifted_cholqr3, svqb };

/// Decides an orthonormalisation round by round, on the host. A round maps G = XᵀBX of the current
/// block X to coefficients M such that X M is closer to orthonormal. `Orthogonalizer` applies M to
/// the blocks.
///
/// The first round scales the columns to norm 1. Each round then takes one of three forms of M:
///   - R⁻¹ of the Cholesky factor R of G while R is well above the rounding of G (CholQR),
///   - else, once, R⁻¹ of the Cholesky factor R of G + s·I (shifted CholQR),
///   - else Z max(Θ, floor)^(-1/2) of the eigendecomposition G = ZΘZᵀ (SVQB).
/// The last round is one by CholQR whose R⁻¹ is so small that X R⁻¹ is orthonormal at once. For
/// each column, a bound on its rounding error is kept, which grows with the coefficients. A column
/// is dropped if more than a tenth of it may be rounding.
template <WideScalar W>
class OrthoLadder {
 public:
  /// For blocks of up to `max_cols` columns in a precision with unit roundoff `epsilon`/2.
  OrthoLadder(Index max_cols, double epsilon);

  /// Starts with a new block of `cols` columns.
  void begin(Index cols);

  Index cols() const noexcept { return cols_; }  ///< columns of the current block

  /// G, cols×cols. The caller fills both triangles before each round.
  SmallView<W, HostSpace> gram() noexcept { return gram_.view(cols_, cols_); }

  /// Whether max |G − I| is within rounding.
  bool orthonormal();

  /// Decides on a round from G, for a block of `rows()` rows, which is called if the decision
  /// depends on them. If it returns `cholqr`, the result of the round will be orthonormal.
  OrthoMethod decide(const std::function<Index()>& rows);

  /// The smallest eigenvalue of G scaled to unit diagonal if the first round used SVQB, else 0. If
  /// it is negative by more than rounding, the inner product is indefinite.
  double smallest_eigenvalue() const noexcept { return smallest_eigenvalue_; }

  /// The coefficients M of the decided round, (columns before)×(columns after). From now on, cols()
  /// is the number of columns after the round.
  ConstSmallView<W, HostSpace> advance();

 private:
  void keep_columns();
  void scale_gram(double shift);
  double factor_cholesky(double shift);
  bool pivots_hold_noise();
  void factor_eigenvectors();
  double coefficient_noise(Index j);

  double epsilon_;
  detail::OwnedHostContext host_;
  HostEigensolver<W> eigensolver_;
  SmallMatrix<W, HostSpace> gram_;
  SmallMatrix<W, HostSpace> factor_;        // kept×result: coefficients of the scaled kept columns
  SmallMatrix<W, HostSpace> coefficients_;  // coefficients of all columns
  SmallMatrix<double, HostSpace> theta_;
  std::vector<Index> kept_;    // columns that have not been dropped
  std::vector<double> scale_;  // factors by which the kept columns are multiplied first
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
