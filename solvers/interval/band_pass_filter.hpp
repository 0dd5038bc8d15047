#pragma once

#include <functional>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <vector>

namespace heddle::detail {

/// Angles arccos((x − c)/e) of a range of x, ascending.
struct AngleRange {
  double from = 0;
  double to = 0;

  double middle() const noexcept { return 0.5 * (from + to); }
  double width() const noexcept { return to - from; }
};

/// F = Σ c_k T_k((A − c)/e), k ≤ d, for a symmetric A: near 1 in the middle of an interval, at
/// least `level` on all of it, lower outside and near 0 away from it. The values decrease over
/// about 3/d in the angle. The smoothing has Kaiser's window, because block Lanczos on F needs a
/// narrow kernel more than small ripples.
template <Scalar T, class Ctx>
class BandPassFilter final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Memory for products with up to `block` columns. A is kept by pointer. `stop` is called between
  /// products with A. Once it returns true, the result of `apply` is unfinished, and `stopped` is
  /// true. Throws `OutOfMemory`.
  BandPassFilter(Ctx& context, LinearOperator<T, Ctx>& A, Index block, std::function<bool()> stop);

  /// Chooses the polynomial for the interval `range`. `spectrum` contains all eigenvalues of A.
  /// d = `degree` ≥ 1.
  void set(const ChebyshevInterval& spectrum, const AngleRange& range, Index degree);

  Index degree() const noexcept { return std::ssize(coefficients_) - 1; }

  /// The least value on the interval, which it has at an end.
  double level() const noexcept { return level_; }

  bool stopped() const noexcept { return stopped_; }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  LinearOperator<T, Ctx>* A_;
  ChebyshevRecurrence<T, Ctx> recurrence_;
  std::function<bool()> stop_;
  ChebyshevInterval spectrum_;
  std::vector<double> coefficients_;
  double level_ = 0;
  bool stopped_ = false;
};

}  // namespace heddle::detail
