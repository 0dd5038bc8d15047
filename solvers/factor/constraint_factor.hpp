#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/factor/shifted_factor.hpp>
#include <vector>

namespace heddle::detail {

/// What a factor of S = A − σB needs in addition for the vectors x with Cᴴx = 0, C n×c:
///
///     [S  C] [x]   [r]
///     [Cᴴ 0] [μ] = [0],   x = y − X G⁻¹Cᴴy,   y = S⁻¹r,   X = S⁻¹C,   G = CᴴX.
///
/// On these vectors, S has as many negative eigenvalues as on all vectors, less those of G. An
/// eigenvalue g of G, G w = g w, changes by at most ‖E‖‖D⁻¹X w‖² to first order, E the error of the
/// factor and D its scaling. Its sign is certain if |g| is a hundred times larger: g = 0 where σ is
/// an eigenvalue of the constrained problem. Where S is nearly singular, and the whole matrix is
/// not, most digits of x cancel. X and G are computed on the host in double. Source: Haynsworth,
/// Linear Algebra Appl. 1 (1968) 73.
template <Scalar T, class Ctx>
class ConstraintFactor {
 public:
  using Space = typename Ctx::Space;

  /// C has independent columns and must outlive this object.
  ConstraintFactor(Ctx& context, ConstBlockView<T, Space> C);

  /// Computes X and G for a factor of S, unless they belong to its shift. False if a sign is not
  /// certain, or too many digits would cancel.
  bool factor(Ctx& context, ShiftedFactor& S);

  /// Whether `factor` has succeeded for the shift of S.
  bool factored(const ShiftedFactor& S) const noexcept;

  Index negative() const noexcept { return negative_; }  ///< eigenvalues of G

  /// Y ← Y − X G⁻¹CᴴY.
  void project(Ctx& context, BlockView<T, Space> Y);

 private:
  ConstBlockView<T, Space> C_;
  std::vector<Wide<T>> on_host_;          // C, by columns
  MultiVector<T, Space> X_;               // n×c
  SmallMatrix<Wide<T>, Space> inverse_;   // −G⁻¹, c×c
  SmallMatrix<Wide<T>, Space> products_;  // CᴴY, as wide as the widest Y
  SmallMatrix<Wide<T>, Space> multipliers_;
  Index width_ = 0;
  double shift_ = 0;
  bool computed_ = false, certain_ = false;
  Index negative_ = 0;
};

}  // namespace heddle::detail
