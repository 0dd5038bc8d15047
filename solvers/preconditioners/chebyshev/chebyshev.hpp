#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/spmm/spmm.hpp>
#include <span>
#include <vector>

namespace heddle {

namespace detail {

template <Scalar T, class Space>
struct ChebyshevSetup;

}  // namespace detail

/// Y = D^(-1/2) p(Â) D^(-1/2) X with Â = D^(-1/2) A D^(-1/2) and D = diag(|a_ii|), with the
/// replacements of `JacobiPreconditioner`. p(Â) x is the result of d steps of Chebyshev iteration
/// for Â y = x from y = 0. Hence p is a polynomial of degree d − 1 that approximates 1/λ on
/// [β/κ, β] with β ≥ λ_max(Â).
///
/// The preconditioner is positive definite for every symmetric A. With c the middle and e the half
/// width of the interval, 1 − λ p(λ) = T_d((c − λ)/e)/T_d(c/e) is less than 1 for λ in (0, β] and
/// greater than 1 for λ < 0. Therefore p(λ) > 0. An application costs d − 1 products with A and no
/// inner products. A step is one pass that moves A and four blocks of vectors at least: y_k, x, and
/// y_{k−1}, in whose place y_{k+1} is stored. It saves iterations of the solver, and with them
/// passes over its dense blocks.
///
/// Iterations fall like 1/d, and the cost of one grows with d, until [β/κ, β] holds the unwanted
/// eigenvalues. From there on they do not fall any more. An automatic degree is a
/// `VariableDegree`. It begins with `kFirstDegree`. Solvers that know approximations of the
/// wanted eigenvectors raise it to `suitable_degree`: 1.15 √(β/ρ) on the host and √(β/ρ) on a
/// GPU, at most `kMostDegree`, with ρ the largest Rayleigh quotient of Â over them, as the last
/// wanted pair is the slowest. It is 1 if ρ is zero to rounding. Source: Golub & Varga, Numer.
/// Math. 3 (1961) 147 (the three-term form); Saad, Iterative Methods for Sparse Linear Systems,
/// 2003, section 12.3 (as a preconditioner).
template <Scalar T, class Ctx>
class ChebyshevPreconditioner final : public Preconditioner<T, Ctx>, public VariableDegree<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  static constexpr int kFirstDegree = 12;  ///< of an automatic degree
  static constexpr int kMostDegree = 40;   ///< of an automatic degree

  /// Stores Â. A is in the context's memory and is not needed afterwards. β is Gershgorin's bound
  /// or, if smaller, the bound of a few Lanczos steps (Zhou & Li, SIAM J. Matrix Anal. Appl. 32
  /// (2011) 480). κ is chosen such that the d steps halve every error in the interval. If the
  /// Lanczos steps prove that A is indefinite, Â is replaced by A + σ I, with σ from their lower
  /// bound, and D by I. The smallest eigenvalue of A + σ I is near 0. `degree` is d, 0 for an
  /// automatic one, which stays `kFirstDegree` if A is indefinite. Throws `InvalidArgument` if A is
  /// not square or `degree` is negative. Throws `OutOfMemory`.
  ChebyshevPreconditioner(Ctx& context, DistributedCsrView<T, Space> A, int degree = 0,
                          const SpmmOptions& options = {});

  /// The same in single precision for an A in double precision: β, Â and D are computed in double,
  /// then rounded.
  template <std::same_as<double> U = double>
  ChebyshevPreconditioner(Ctx& context, DistributedCsrView<std::type_identity_t<U>, Space> A,
                          int degree = 0, const SpmmOptions& options = {});

  int degree() const noexcept override { return degree_; }      ///< that of the next product
  double upper_bound() const noexcept { return upper_bound_; }  ///< β

  VariableDegree<T, Ctx>* variable_degree() noexcept override {
    return automatic_ ? this : nullptr;
  }
  void set_degree(Index degree) override;
  Index suitable_degree(Ctx& context, ConstBlockView<T, Space> X,
                        std::span<const double> energies) override;

  std::optional<ScaledView<T, Space>> scaled_product(Ctx& context, ConstBlockView<double, Space> X,
                                                     ConstSmallView<double, Space> scales) override;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  ChebyshevPreconditioner(Ctx& context, detail::ChebyshevSetup<T, Space> setup, int degree,
                          const SpmmOptions& options);
  void reserve(Ctx& context, Index b);
  ConstBlockView<T, Space> scaling() const {
    return ConstBlockView<T, Space>(scaling_.data(), this->rows(), 1, 1);
  }
  ConstBlockView<T, Space> iterate(Ctx& context, Index b);

  bool automatic_;                            // whether the degree may change
  int degree_;                                // d
  double upper_bound_;                        // β
  double middle_;                             // c, the middle of [β/κ, β] for the first degree
  Buffer<T, Space> scaling_;                  // D^(-1/2)/√c
  DistributedCsr<T, Space> shifted_;          // Â + σ I − c I
  SpmmPlan<T, Ctx> plan_;                     // of shifted_
  MultiVector<T, Space> right_, odd_, even_;  // n×b, b ≥ the widest block so far
  SmallMatrix<double, Space> norms_;          // b×1
  std::vector<double> ratios_;                // b
};

}  // namespace heddle
