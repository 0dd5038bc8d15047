#pragma once

#include <cmath>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <span>
#include <utility>

/// The setup that Chebyshev preconditioners of all number types share.
namespace heddle::detail {

/// The parts of the preconditioner, in the memory of `Space`.
template <Scalar T, class Space>
struct ChebyshevSetup {
  Buffer<T, Space> scaling;          // D^(-1/2)/√c
  DistributedCsr<T, Space> shifted;  // Â + σ I − c I
  double upper_bound = 0;            // β
  double middle = 0;                 // c
  bool indefinite = false;           // whether σ > 0
};

/// The degree that a request for `degree` begins with: 0 stands for an automatic one.
int first_degree(int degree) noexcept;

/// The ratio c/e of the interval in which d steps halve every error, from T_d(c/e) = 2.
double middle_over_half_width(int degree) noexcept;

/// Computes the parts for A. β also bounds the spectrum of every matrix that rounding Â to numbers
/// with this relative error can give. Throws as the constructors of the preconditioners.
template <Scalar T, class Ctx>
ChebyshevSetup<T, typename Ctx::Space> prepare_chebyshev(
    Ctx& context, DistributedCsrView<T, typename Ctx::Space> A, int degree, double roundoff = 0);

/// Memory for `suitable_degree`, in the memory of `Space`.
template <Scalar T, class Space>
struct DegreeScratch {
  BlockView<T, Space> root;        // n×1
  BlockView<T, Space> scaled;      // n×b
  SmallView<double, Space> norms;  // b×1
  std::span<double> ratios;        // b
};

/// The degree, from 1 to `most`, that suits a solve for eigenvectors near the columns of X, see
/// `VariableDegree::suitable_degree`. scaling: D^(-1/2)/√c.
template <Scalar T, class Ctx>
Index suitable_degree(Ctx& context, ConstBlockView<T, typename Ctx::Space> X,
                      std::span<const double> energies,
                      ConstBlockView<T, typename Ctx::Space> scaling, double upper_bound,
                      double middle, int most,
                      const DegreeScratch<T, typename Ctx::Space>& scratch);

/// Runs the steps y_{k+1} = y_{k−1} + ω (y_k − y_{k−1} + x − Â y_k/c) from y₁ = x and returns y_d,
/// all blocks being c times those of the iteration. multiply(ω, y, β, γ, δ, next) computes
/// next ← −ω (Â − c I)/c y + β next + γ y + δ x.
template <class View, class Multiply>
View chebyshev_steps(int degree, const View& x, View next, View other, const Multiply& multiply) {
  // A degree beyond the first one moves the lower end of the interval. The upper end stays above β.
  const double sigma = 1 / middle_over_half_width(degree);  // e/c
  View y = x;
  double omega = 2;
  for (int k = 1; k < degree; ++k) {  // `other` holds y_{k−1} from k = 3 on
    omega = 1 / (1 - sigma * sigma * omega / 4);
    const double of_x = k == 2 ? 1 : omega;  // (1 − ω) y₁ + ω x = x
    multiply(omega, y, k <= 2 ? 0 : 1 - omega, k == 1 ? of_x : 0, k == 1 ? 0 : of_x, next);
    y = next;
    std::swap(next, other);
  }
  return y;
}

}  // namespace heddle::detail
