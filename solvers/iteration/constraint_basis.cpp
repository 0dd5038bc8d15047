#include <Eigen/QR>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/constraint_basis.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Up to this size of the coefficients, their rounding is that of any orthonormal basis.
constexpr double kSmall = 100;

/// Each correction leaves a part of the error of the size of the rounding of R⁺.
constexpr int kMostCorrections = 8;

/// A sum that keeps what rounding takes from it. Source: Ogita, Rump, Oishi, SISC 26 (2005) 1955.
struct LongSum {
  double value, rest = 0;

  void add(double a) noexcept {
    const double sum = value + a;
    const double part = sum - value;
    rest += (value - (sum - part)) + (a - part);
    value = sum;
  }
  void add_product(double a, double b) noexcept {
    const double product = a * b;
    add(product);
    rest += std::fma(a, b, -product);
  }
};

/// The same of real or complex numbers.
template <WideScalar W>
class LongSumOf {
 public:
  explicit LongSumOf(double a) noexcept : sum_{a} {}

  void add_product(double a, double b) noexcept { sum_.add_product(a, b); }
  double value() const noexcept { return sum_.value + sum_.rest; }

 private:
  LongSum sum_;
};
template <>
class LongSumOf<std::complex<double>> {
 public:
  explicit LongSumOf(std::complex<double> a) noexcept : real_{a.real()}, imaginary_{a.imag()} {}

  void add_product(std::complex<double> a, std::complex<double> b) noexcept {
    real_.add_product(a.real(), b.real());
    real_.add_product(-a.imag(), b.imag());
    imaginary_.add_product(a.real(), b.imag());
    imaginary_.add_product(a.imag(), b.real());
  }
  std::complex<double> value() const noexcept {
    return {real_.value + real_.rest, imaginary_.value + imaginary_.rest};
  }

 private:
  LongSum real_, imaginary_;
};

/// A small matrix beside blocks of T.
template <Scalar T>
using Small = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;

/// Y ← Y + (X D − Y R) P for the scales D of the columns of X and P = R⁺. The largest change.
template <Scalar T>
double correct(ConstBlockView<T, HostSpace> X, const Eigen::VectorXd& D, const Small<T>& R,
               const Small<T>& P, BlockView<T, HostSpace> Y) {
  Eigen::Matrix<Wide<T>, 1, Eigen::Dynamic> rest(R.cols());
  double largest = 0;
  for (Index i = 0; i < Y.rows(); ++i) {
    for (Index k = 0; k < R.cols(); ++k) {
      LongSumOf<Wide<T>> sum(D[k] * Wide<T>(X(i, k)));
      for (Index l = 0; l < R.rows(); ++l) sum.add_product(-Wide<T>(Y(i, l)), R(l, k));
      rest[k] = sum.value();
    }
    for (Index l = 0; l < R.rows(); ++l) {
      const Wide<T> change = (rest * P.col(l)).value();
      Y(i, l) = static_cast<T>(Wide<T>(Y(i, l)) + change);
      largest = std::max(largest, std::abs(change));
    }
  }
  return largest;
}

/// Corrects Y, whose B-image is BY, where its coefficients are large. Whether it has.
template <Scalar T, class Ctx>
bool correct_span(Ctx& context, ConstBlockView<T, typename Ctx::Space> X,
                  BlockView<T, typename Ctx::Space> Y, ConstBlockView<T, typename Ctx::Space> BY) {
  const Index c = X.cols(), r = Y.cols();
  HostContext beside(1);
  HostContext& host = host_of(context, beside);
  SmallMatrix<Wide<T>, typename Ctx::Space> products(context, r, c);
  SmallMatrix<Wide<T>, HostSpace> fetched(host, r, c);
  gram<T>(context, BY, X, products.view(r, c));
  fetch(context, products.view(r, c), fetched.view(r, c));
  Small<T> R = Eigen::Map<const Small<T>>(fetched.view(r, c).data, r, c);
  Eigen::VectorXd D(c);
  for (Index k = 0; k < c; ++k) {
    const double size = R.col(k).stableNorm();
    D[k] = size > 0 ? std::ldexp(1.0, -std::ilogb(size)) : 0;
    R.col(k) *= D[k];
  }
  const Small<T> P = R.completeOrthogonalDecomposition().pseudoInverse();
  if (!(P.cwiseAbs().maxCoeff() > kSmall)) return false;
  MultiVector<T, HostSpace> given(host, X.rows(), c), basis(host, X.rows(), r);
  fetch<T>(context, X, given.view());
  fetch<T>(context, Y, basis.view());
  constexpr auto kRounding = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  double change = 1;
  for (int k = 0; k < kMostCorrections && change > kRounding; ++k) {
    change = correct<T>(std::as_const(given).view(), D, R, P, basis.view());
  }
  send<T>(context, std::as_const(basis).view(), Y);
  context.synchronize();  // the copy reads `basis` until then
  return true;
}

}  // namespace

template <Scalar T, class Ctx>
OrthonormalBlock orthonormal_constraints(Ctx& context, Orthogonalizer<T, Ctx>& orthogonalizer,
                                         LinearOperator<T, Ctx>* B,
                                         ConstBlockView<T, typename Ctx::Space> X,
                                         BlockView<T, typename Ctx::Space> Y,
                                         BlockView<T, typename Ctx::Space> BY,
                                         OrthoCounts& counts) {
  copy<T>(context, X, Y);
  const OrthonormalBlock made =
      make_orthonormal<T, Ctx>(context, orthogonalizer, B, {}, Y, BY, counts);
  if (made.rank == 0 || X.cols() < 2) return made;
  Y = Y.columns(0, made.rank);
  BY = BY.columns(0, made.rank);
  if (!correct_span<T, Ctx>(context, X, Y, BY)) return made;
  return make_orthonormal<T, Ctx>(context, orthogonalizer, B, {}, Y, BY, counts);
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                           \
  template OrthonormalBlock orthonormal_constraints(                                         \
      Ctx&, Orthogonalizer<T, Ctx>&, LinearOperator<T, Ctx>*, ConstBlockView<T, Ctx::Space>, \
      BlockView<T, Ctx::Space>, BlockView<T, Ctx::Space>, OrthoCounts&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
