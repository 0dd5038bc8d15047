#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <memory>
#include <optional>

namespace heddle {

/// Y = (A − σB)⁻¹ X for a positive definite A − σB, by its sparse Cholesky factorisation: what
/// turns the smallest eigenvalues λ of A x = λ B x into the largest ones, 1/(λ − σ), of
/// (A − σB)⁻¹B.
///
/// Nothing is computed before it is asked for, so a solver can be given one in case it pays. The
/// pattern is analysed at the first question for the cost; `factor` factors on the host, in double,
/// in an approximate minimum degree order. The triangular systems are solved by levels of rows.
/// That a factor exists proves σ to be smaller than every eigenvalue (Sylvester's law of inertia),
/// as B is positive definite.
///
/// The solves are backward stable: Y belongs to an A − σB with an error of rounding. Residuals of
/// eigenpairs thereby reach ε‖A‖ whatever the condition of A − σB, without refinement.
/// Source: Ericsson & Ruhe, Math. Comp. 35 (1980) 1251 (the transformation).
template <Scalar T, class Ctx>
class ShiftedInverse final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  using Matrix = CsrView<T, Space>;

  static constexpr double kDefaultMaxBytes = 4.0 * 1024 * 1024 * 1024;

  /// A and B (without rows: the identity), in the context's memory, symmetric, must outlive this
  /// object. `max_bytes`: of host memory that the factorisation may take, and of the context's that
  /// the factor may. Throws `InvalidArgument` if A is not square or B of another shape.
  explicit ShiftedInverse(Matrix A, Matrix B = {}, double max_bytes = kDefaultMaxBytes);
  ~ShiftedInverse() override;

  /// What factoring once and solving for `columns` columns costs, in columns that A could be
  /// multiplied with in that time; nothing where the factor would take more than `max_bytes`.
  /// From the numbers of entries and operations, which the pattern tells.
  std::optional<double> cost_in_products(Ctx& context, double columns);

  /// About how long `factor` takes, from the number of operations, for a host that has other things
  /// to do; 0 where the factor would take more than `max_bytes`.
  double seconds_to_factor(Ctx& context);

  /// Factors A − σB, which nothing interrupts. False, and nothing can be applied, if that is not
  /// positive definite, or so close to singular that a pivot is rounding noise. Throws
  /// `OutOfMemory` where the factor would take more than `max_bytes`.
  bool factor(Ctx& context, double sigma);

  double shift() const noexcept { return shift_; }  ///< σ of the last factor

  /// Entries of L, 0 before the first factor.
  double factor_entries() const noexcept;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  struct Factors;

  Factors& analysed(Ctx& context);

  Matrix A_, B_;
  double max_bytes_;
  double shift_ = 0;
  std::unique_ptr<Factors> factors_;
};

}  // namespace heddle
