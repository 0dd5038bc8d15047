#pragma once

#include <heddle/drivers/problem/matrix.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace heddle {

namespace detail {
class ShiftedFactor;
}

/// The numbers of eigenvalues of a symmetric or Hermitian matrix by their signs.
struct Inertia {
  Index negative = 0;  ///< eigenvalues below 0
  Index zero = 0;      ///< eigenvalues that are 0
  Index positive = 0;  ///< eigenvalues above 0
};

/// Solves (A − σB) X = R for any number of blocks R by one factorisation L D Lᴴ in double on the
/// host: MUMPS where it can be loaded, else Eigen. Of complex matrices MUMPS factors the real form,
/// of twice the order.
///
///     heddle::Factorized F(A);
///     if (F.factor()) F.solve(R, X);
///
/// A step of iterative refinement follows each solve, so that X is exact for a matrix that differs
/// from A − σB by rounding. Functions may be called by several threads, of which one works at a
/// time. Source: Skeel, Math. Comp. 35 (1980) 817 (refinement).
class Factorized {
 public:
  /// Orders the rows by the patterns of A and B, which must be stored and symmetric, or Hermitian,
  /// of one order, and are copied. A B without rows is the identity. Throws `ProblemError`, and
  /// `OutOfMemory` if the factor needs more memory than is unused.
  explicit Factorized(const Matrix& A, const Matrix& B = {});
  explicit Factorized(const ComplexMatrix& A, const ComplexMatrix& B = {});
  ~Factorized();
  Factorized(const Factorized&) = delete;
  Factorized& operator=(const Factorized&) = delete;

  /// Takes the values of another symmetric or Hermitian A. `factor` must follow; it orders no rows.
  /// Entries that the new A does not have are 0. Throws `ProblemError` if it has one where neither
  /// A nor B had one, or another order, or is complex where those were real, or the reverse.
  void set_values(const Matrix& A);
  void set_values(const ComplexMatrix& A);

  /// Factors A − σB in place of the shift before. False if it is singular to rounding: its smallest
  /// |eigenvalue|, rows and columns scaled to entries near 1, is not larger than the error of the
  /// factor. Nothing can be solved then. Throws `OutOfMemory`, and `InvalidArgument` if σ is not
  /// finite.
  bool factor(double sigma = 0);

  /// Why the last `factor` has failed.
  std::string trouble() const;

  Index order() const noexcept { return order_; }            ///< n
  bool complex() const noexcept { return real_rows_ == 2; }  ///< whether A is
  double sigma() const;                                      ///< σ of the last `factor`

  /// X ← (A − σB)⁻¹R, both n×b in host memory. X may be R. Throws `InvalidArgument` for other
  /// shapes, without a factor, and for real blocks of a complex A.
  void solve(ConstBlockView<double, HostSpace> R, BlockView<double, HostSpace> X);
  void solve(ConstBlockView<std::complex<double>, HostSpace> R,
             BlockView<std::complex<double>, HostSpace> X);

  /// Those of A − σB, by the signs of D (Sylvester). Nothing without a factor, and where an
  /// eigenvalue is so near to 0 that its sign is not certain. `zero` is 0.
  std::optional<Inertia> inertia() const;

  /// The library that factors.
  std::string library() const;

 private:
  template <WideScalar W>
  void order(const HostMatrix<W>& A, const HostMatrix<W>& B);
  template <WideScalar W>
  void take_values(const HostMatrix<W>& A);
  template <WideScalar W>
  void solve_columns(ConstBlockView<W, HostSpace> R, BlockView<W, HostSpace> X);

  Index order_;
  Index real_rows_;  // of the factor, per row of A
  double sigma_ = 0;
  mutable std::mutex mutex_;
  std::unique_ptr<detail::ShiftedFactor> factor_;
};

}  // namespace heddle
