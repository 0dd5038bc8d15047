#pragma once

#include <array>
#include <heddle/linalg/multivector.hpp>
#include <heddle/solvers/eigen_problem.hpp>

namespace heddle {

/// What block Lanczos iterates on: C = B⁻¹A, whose largest eigenvalues it finds, or, for the
/// smallest ones of C, a Chebyshev polynomial F = T_d((c − C)/e) that maps the interval [a, b] =
/// [c − e, c + e] to [−1, 1] and grows fast below a: there an eigenvalue λ of C is θ =
/// cosh(d·acosh((c − λ)/e)) of F, larger the smaller λ is. Degree 1 is C itself, turned around.
///
/// Source: Rivlin, Chebyshev Polynomials, 1990, 1.1 (T_d on and outside of [−1, 1]).
template <Scalar T, class Ctx>
class LanczosOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Memory for blocks of up to `block` columns of length n; `filtered` and `pencil` say what will
  /// be asked for. Throws `OutOfMemory`.
  LanczosOperator(Ctx& context, Index n, Index block, bool filtered, bool pencil);

  /// C = B⁻¹A of `problem`, kept by pointer.
  void set_problem(const EigenProblem<T, Ctx>& problem) noexcept;

  /// F = C.
  void set_identity() noexcept { degree_ = 0; }

  /// The polynomial of degree d ≥ 1 that damps [lower, upper].
  void set_filter(double lower, double upper, int degree) noexcept;

  int degree() const noexcept { return degree_; }  ///< 0: F = C
  double lower() const noexcept { return middle_ - half_width_; }
  double upper() const noexcept { return middle_ + half_width_; }

  /// The eigenvalue of C of which θ is the eigenvalue of F. In [lower, upper] F is not monotone:
  /// there, `lower` stands for all θ ≤ 1.
  double eigenvalue(double theta) const noexcept;

  /// The eigenvalue of F of which λ, outside of (lower, ∞), is the eigenvalue of C.
  double image(double lambda) const noexcept;

  /// For F x = θ x + r a bound on ‖C x − λ x‖ at λ = eigenvalue(θ), given ‖r‖: |λ − μ|/|θ − F(μ)|
  /// over the spectrum is largest at its upper end, as F is convex below `lower`.
  double residual_bound(double theta, double residual) const noexcept;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  void apply_C(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y);

  LinearOperator<T, Ctx>* A_ = nullptr;
  LinearOperator<T, Ctx>* B_inverse_ = nullptr;
  int degree_ = 0;
  double middle_ = 0;
  double half_width_ = 1;
  std::array<MultiVector<T, Space>, 3> terms_;  // T_k X of the recurrence, and C times one
  MultiVector<T, Space> AX_;                    // before B⁻¹
};

}  // namespace heddle
