#include <Eigen/Eigenvalues>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/factor/constraint_factor.hpp>
#include <heddle/solvers/factor/shifted_solves.hpp>

namespace heddle::detail {
namespace {

/// How many times larger than its error an eigenvalue of G must be.
constexpr double kMargin = 100;

/// How many times longer S⁻¹r may be than x. The error of r that x shows grows as much.
template <Scalar T>
constexpr double kMostCancelled = sizeof(RealOf<T>) == sizeof(double) ? 1e3 : 1e2;

/// Passes of the projection. The second one removes what rounding in the first one leaves.
constexpr int kPasses = 2;

/// The factor of row i of S. Both rows of the real form of a complex row have the same.
template <Scalar T>
double scaling_of_row(const ShiftedFactor& S, Index i) {
  return S.scaling()[static_cast<std::size_t>(kRealRows<T> * i)];
}

}  // namespace

template <Scalar T, class Ctx>
ConstraintFactor<T, Ctx>::ConstraintFactor(Ctx& context, ConstBlockView<T, Space> C)
    : C_(C), X_(context, C.rows(), C.cols()), inverse_(context, C.cols(), C.cols()) {
  const Index n = C.rows(), c = C.cols();
  HostContext host{1};
  MultiVector<T, HostSpace> block(host_of(context, host), n, c);
  fetch<T>(context, C, block.view());
  on_host_ = by_columns<T>(block.view());
}

template <Scalar T, class Ctx>
bool ConstraintFactor<T, Ctx>::factored(const ShiftedFactor& S) const noexcept {
  return S.factored() && computed_ && shift_ == S.shift() && certain_;
}

template <Scalar T, class Ctx>
bool ConstraintFactor<T, Ctx>::factor(Ctx& context, ShiftedFactor& S) {
  if (computed_ && shift_ == S.shift()) return certain_;
  const Index n = C_.rows(), c = C_.cols();
  shift_ = S.shift();
  computed_ = true;
  std::vector<Wide<T>> solved = on_host_;
  for (Index i = 0; i < n; ++i) {  // r, random in the scaled rows
    const bool positive = (random_block(1, 0, static_cast<std::uint64_t>(i)).words[0] & 1) != 0;
    solved.push_back((positive ? 1 : -1) / scaling_of_row<T>(S, i));
  }
  S.solve(real_numbers(solved.data()), c + 1);
  using Matrix = Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Wide<T>, Eigen::Dynamic, 1>;
  const Eigen::Map<const Matrix> X(solved.data(), n, c);
  const Eigen::Map<const Vector> y(solved.data() + n * c, n);
  const Eigen::Map<const Matrix> C(on_host_.data(), n, c);
  Vector D(n);
  for (Index i = 0; i < n; ++i) D(i) = scaling_of_row<T>(S, i);
  const Matrix G = C.adjoint() * X;
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(0.5 * (G + G.adjoint()));
  const Eigen::VectorXd& g = eigen.eigenvalues();
  const Matrix& W = eigen.eigenvectors();
  const Eigen::VectorXd errors =
      S.error() * (D.cwiseInverse().asDiagonal() * (X * W)).colwise().squaredNorm().transpose();
  // Of G as computed: what rounding adds to its symmetric part, a projection would leave in Cᴴx.
  const Matrix inverse = G.fullPivLu().inverse();
  const Vector x = y - X * (inverse * (C.adjoint() * y));
  certain_ = (g.array().abs() > kMargin * errors.array()).all() &&
             y.cwiseQuotient(D).norm() < kMostCancelled<T> * x.cwiseQuotient(D).norm();
  if (!certain_) return false;
  negative_ = (g.array() < 0).count();

  HostContext host{1};
  HostContext& copies = host_of(context, host);
  SmallMatrix<Wide<T>, HostSpace> small(copies, c, c);
  Eigen::Map<Matrix>(small.view(c, c).data, c, c) = -inverse;
  MultiVector<T, HostSpace> block(copies, n, c);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < c; ++j) block.view()(i, j) = static_cast<T>(X(i, j));
  }
  send(context, small.view(c, c), inverse_.view(c, c));
  send<T>(context, std::as_const(block).view(), X_.view());
  context.synchronize();  // the copies read host memory until then
  return true;
}

template <Scalar T, class Ctx>
void ConstraintFactor<T, Ctx>::project(Ctx& context, BlockView<T, Space> Y) {
  const Index c = C_.cols(), width = Y.cols();
  if (width > width_) {
    products_ = SmallMatrix<Wide<T>, Space>(context, c, width);
    multipliers_ = SmallMatrix<Wide<T>, Space>(context, c, width);
    width_ = width;
  }
  const SmallView<Wide<T>, Space> products = products_.view(c, width);
  const SmallView<Wide<T>, Space> multipliers = multipliers_.view(c, width);
  for (int pass = 0; pass < kPasses; ++pass) {
    gram<T>(context, C_, Y, products);
    small_multiply(context, 1, inverse_.view(c, c), false, products, false, 0, multipliers);
    multiply<T>(context, 1, std::as_const(X_).view(), multipliers, 1, Y);
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ConstraintFactor<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
