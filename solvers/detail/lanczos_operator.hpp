#pragma once

#include <array>
#include <heddle/linalg/multivector.hpp>
#include <heddle/solvers/eigen_problem.hpp>
#include <heddle/solvers/options.hpp>

namespace heddle {

/// What block Lanczos iterates on, an operator whose largest eigenvalues belong to the wanted ones
/// of C = B⁻¹A.
///
/// With y = λ for the smallest and y = −λ for the largest eigenvalues of C the wanted ones are the
/// smallest y. F = T_d((c − y)/e), a Chebyshev polynomial in C, maps the interval [c − e, c + e] of
/// y to [−1, 1] and grows fast below it: y is the eigenvalue θ = cosh(d·acosh((c − y)/e)) of F,
/// larger the smaller y is. Degree 1 is C itself, shifted and scaled; as `set_problem` leaves it,
/// F = −y.
///
/// Source: Rivlin, Chebyshev Polynomials, 1990, 1.1 (T_d on and outside of [−1, 1]).
template <Scalar T, class Ctx>
class LanczosOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  /// Memory for blocks of up to `block` columns of length n. Throws `OutOfMemory`.
  LanczosOperator(Ctx& context, Index n, Index block, bool pencil);

  /// F = −y for C = B⁻¹A of `problem`, whose operators are kept by pointer.
  void set_problem(const EigenProblem<T, Ctx>& problem, Which which) noexcept;

  /// The polynomial of degree d ≥ 1 that damps lower ≤ y ≤ upper.
  void set_filter(double lower, double upper, int degree) noexcept;

  /// Damps lower ≤ y ≤ upper with the degree that makes enough of y = wanted, if that is worth the
  /// change: not if the interval hardly grows, nor if a degree of 3 would do. False: all is as
  /// before.
  bool narrow(double wanted, double lower, double upper) noexcept;

  int degree() const noexcept { return degree_; }
  double lower() const noexcept { return middle_ - half_width_; }
  double upper() const noexcept { return middle_ + half_width_; }

  /// λ of y and y of λ.
  double turned(double value) const noexcept { return sign_ * value; }

  /// The y of which θ is the eigenvalue of F. For d > 1, F is not monotone in [lower, upper]:
  /// `lower` stands for all θ ≤ 1.
  double position(double theta) const noexcept;

  /// The eigenvalue λ of C of which θ is the eigenvalue of F.
  double eigenvalue(double theta) const noexcept { return turned(position(theta)); }

  /// The θ of an eigenvalue λ of C below the interval.
  double image(double lambda) const noexcept;

  /// For F x = θ x + r a bound on ‖C x − λ x‖ at λ = eigenvalue(θ), given ‖r‖: |y − μ|/|θ − F(μ)|
  /// over the spectrum is largest at its upper end, as F is convex below `lower`.
  double residual_bound(double theta, double residual) const noexcept;

  /// n×b of memory that is free between products.
  Block scratch(Ctx& context) { return room(context, 0, block_); }

 protected:
  void apply_block(Ctx& context, ConstBlock X, Block Y) override;

 private:
  void apply_C(Ctx& context, ConstBlock X, Block Y);
  void add_C(Ctx& context, double alpha, ConstBlock X, Block Y);
  Block room(Ctx& context, std::size_t term, Index cols);

  LinearOperator<T, Ctx>* A_ = nullptr;
  LinearOperator<T, Ctx>* B_inverse_ = nullptr;
  double sign_ = 1;
  int degree_ = 1;
  double middle_ = 0;
  double half_width_ = 1;
  Index block_;
  std::array<MultiVector<T, Space>, 2> terms_;  // T_k X of the recurrence, once there is a filter
  MultiVector<T, Space> product_;               // C times a term where A cannot accumulate
  MultiVector<T, Space> AX_;                    // before B⁻¹
};

}  // namespace heddle
