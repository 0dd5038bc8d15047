#pragma once

#include <functional>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <vector>

namespace heddle::detail {

/// The interval [lower, upper] = [c − e, c + e] of x that x ↦ (x − c)/e maps to [−1, 1], where
/// Chebyshev polynomials are bounded by 1.
struct ChebyshevInterval {
  double lower = -1;
  double upper = 1;

  double middle() const noexcept { return 0.5 * (lower + upper); }      ///< c
  double half_width() const noexcept { return 0.5 * (upper - lower); }  ///< e

  /// arccos((x − c)/e). An x outside of the interval counts as its nearest end.
  double angle(double x) const noexcept;

  /// The x with angle(x) = `angle`. Angles outside of [0, π] count as the nearest of these.
  double at(double angle) const noexcept;
};

/// Factors on Chebyshev coefficients that damp the oscillations of a truncated series.
enum class Damping {
  /// Jackson's kernel. The smoothed function has no ripples. Source: Weiße, Wellein, Alvermann,
  /// Fehske, Rev. Mod. Phys. 78 (2006) 275, section II.C.
  jackson,
  /// Kaiser's window I₀(β√(1 − (k/(d + 1))²))/I₀(β), d the degree, with β = 3. Its kernel is about
  /// two thirds as wide as Jackson's, but leaves ripples of a few hundredths. Source: Kaiser, Proc.
  /// IEEE Int. Symp. Circuits and Systems (1974) 20.
  kaiser,
};

/// c_k, k ≤ degree, of the polynomial Σ c_k T_k((x − c)/e) that smooths the indicator function of
/// [a, b] by the kernel of `damping`. With Jackson's kernel, its values on the interval are between
/// 0 and 1. At a and b its value is ½, provided that their angles differ by more than the width of
/// the kernel, about π/degree.
std::vector<double> band_pass_coefficients(const ChebyshevInterval& interval, double a, double b,
                                           Index degree, Damping damping = Damping::jackson);

/// The value Σ c_k cos(k angle) of a series at x = c + e cos(angle).
double series_value(const std::vector<double>& coefficients, double angle) noexcept;

/// The blocks T_k((A − c)/e) X for k = 1, 2, …, by the three-term recurrence of the Chebyshev
/// polynomials.
template <Scalar T, class Ctx>
class ChebyshevRecurrence {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  /// A sum Y that receives a multiple of a term while the term is computed: Y = Y + c T_k X. Y does
  /// not overlap X. None if c = 0.
  struct Sum {
    double coefficient = 0;  ///< c
    Block Y = {};
  };

  ChebyshevRecurrence() = default;

  /// Memory for X of up to `block` columns of length n. Throws `OutOfMemory`.
  ChebyshevRecurrence(Ctx& context, Index n, Index block);

  /// Sets k = 1: copies T_0 X = X and computes T_1 X. A is kept by pointer.
  void start(Ctx& context, LinearOperator<T, Ctx>& A, const ChebyshevInterval& interval,
             ConstBlock X, const Sum& sum = {});

  /// k ← k + 1. Takes one product with A. If A can accumulate, the step is that product's pass over
  /// A, T_k X and T_{k−1} X, in whose place it stores T_{k+1} X. A sum adds reading and writing Y.
  void step(Ctx& context, const Sum& sum = {});

  ConstBlock term() const noexcept { return term_.columns(0, cols_); }      ///< T_k X
  ConstBlock before() const noexcept { return before_.columns(0, cols_); }  ///< T_{k−1} X

 private:
  void multiply(Ctx& context, double alpha, ConstBlock B, const SpmmEpilogue<T, Space>& epilogue,
                Block C);

  LinearOperator<T, Ctx>* A_ = nullptr;
  ChebyshevInterval interval_;
  Index cols_ = 0;
  Index block_ = 0;
  MultiVector<T, Space> term_, before_;
  MultiVector<T, Space> product_;  // A times a term, if A cannot accumulate
};

/// Y = Σ c_k T_k((A − c)/e) X with at least two coefficients. X and Y are n×b and must not overlap.
/// `stop` is called between products. Once it returns true, the function returns false and Y is an
/// unfinished sum.
template <Scalar T, class Ctx>
bool apply_series(Ctx& context, ChebyshevRecurrence<T, Ctx>& recurrence, LinearOperator<T, Ctx>& A,
                  const ChebyshevInterval& interval, const std::vector<double>& coefficients,
                  ConstBlockView<T, typename Ctx::Space> X, BlockView<T, typename Ctx::Space> Y,
                  const std::function<bool()>& stop);

}  // namespace heddle::detail
