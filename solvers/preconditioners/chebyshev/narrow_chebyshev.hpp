#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/preconditioners/narrow_columns.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <span>
#include <vector>

namespace heddle {

namespace detail {

template <Scalar T, class Space>
struct ChebyshevSetup;

}  // namespace detail

/// `ChebyshevPreconditioner` with Â − c I and all vectors of the iteration in V (`Half`,
/// `Bfloat16`, `Tf32`), for blocks in single precision:
///
///     x_j = s_j D^(-1/2) X_j,    Y_j = s_j⁻¹ D^(-1/2) p(Â') x_j
///
/// s_j is the power of two with 1 ≤ ‖x_j‖ < 2. Â' is Â with its entries rounded. Equal entries
/// round equally, so Â' is symmetric. β bounds its spectrum too. p stays positive where rounding
/// moves eigenvalues below zero, so p(Â') is symmetric positive definite. Rounding of the vectors,
/// to u ‖y‖ per step, disturbs both: the preconditioner is for iterations that tolerate one that
/// changes from step to step.
///
/// The degree is limited to .9/√u, whatever degree is set: beyond it the interval [β/κ, β]
/// would reach far below the errors u β of the eigenvalues of Â', near which p grows like
/// cosh(2 d √u). With this limit all numbers stay below 3 d², in the range of half precision.
template <class V, class Ctx>
class NarrowChebyshev final : public Preconditioner<float, Ctx>, public VariableDegree<float, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// .9/√u
  static constexpr int kMostDegree = V::kRoundoff > 0x1p-9 ? 14 : 40;

  /// β, Â and D are computed in double, then rounded. A is in the context's memory and is not
  /// needed afterwards. `degree`: 0 for an automatic one. Throws `InvalidArgument` as
  /// `ChebyshevPreconditioner`, for a degree beyond `kMostDegree`, and if A is distributed. Throws
  /// `OutOfMemory`.
  NarrowChebyshev(Ctx& context, CsrView<double, Space> A, int degree = 0);

  int degree() const noexcept override { return degree_; }

  /// How it multiplies.
  const LowPrecisionPlan<V, Ctx>& products() const noexcept { return plan_; }

  VariableDegree<float, Ctx>* variable_degree() noexcept override {
    return automatic_ ? this : nullptr;
  }
  void set_degree(Index degree) override;
  Index suitable_degree(Ctx& context, ConstBlockView<float, Space> X,
                        std::span<const double> energies) override;

 protected:
  void apply_block(Ctx& context, ConstBlockView<float, Space> X,
                   BlockView<float, Space> Y) override;

 private:
  NarrowChebyshev(Ctx& context, detail::ChebyshevSetup<double, Space> setup, int degree);
  void reserve(Ctx& context, Index b);

  bool automatic_;                            // whether the degree may change
  int degree_;                                // d
  double upper_bound_;                        // β
  double middle_;                             // c
  LowPrecisionPlan<V, Ctx> plan_;             // of (Â + σ I)/c − I
  detail::NarrowColumns<V, Ctx> columns_;     // D^(-1/2)/√c
  MultiVector<float, Space> root_;            // n×1
  NarrowBlock<V, Space> right_, odd_, even_;  // n×b, b ≥ the widest block so far
  std::vector<double> ratios_;                // b
};

}  // namespace heddle
