#include <Eigen/Eigenvalues>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/factor/constraint_factor.hpp>

namespace heddle::detail {
namespace {

/// How many times larger than its error an eigenvalue of G must be.
constexpr double kMargin = 100;

/// How many times longer S⁻¹r may be than x. The error of r that x shows grows as much.
template <Scalar T>
constexpr double kMostCancelled = sizeof(T) == sizeof(double) ? 1e3 : 1e2;

/// Passes of the projection. The second one removes what rounding in the first one leaves.
constexpr int kPasses = 2;

}  // namespace

template <Scalar T, class Ctx>
ConstraintFactor<T, Ctx>::ConstraintFactor(Ctx& context, ConstBlockView<T, Space> C)
    : C_(C), X_(context, C.rows(), C.cols()), inverse_(context, C.cols(), C.cols()) {
  const Index n = C.rows(), c = C.cols();
  HostContext host{1};
  MultiVector<T, HostSpace> block(host_of(context, host), n, c);
  fetch<T>(context, C, block.view());
  on_host_.reserve(static_cast<std::size_t>(n * c));
  for (Index j = 0; j < c; ++j) {
    for (Index i = 0; i < n; ++i) on_host_.push_back(static_cast<double>(block.view()(i, j)));
  }
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
  std::vector<double> solved = on_host_;
  for (Index i = 0; i < n; ++i) {  // r, random in the scaled rows
    const bool positive = (random_block(1, 0, static_cast<std::uint64_t>(i)).words[0] & 1) != 0;
    solved.push_back((positive ? 1 : -1) / S.scaling()[static_cast<std::size_t>(i)]);
  }
  S.solve(solved.data(), c + 1);
  const Eigen::Map<const Eigen::MatrixXd> X(solved.data(), n, c);
  const Eigen::Map<const Eigen::VectorXd> y(solved.data() + n * c, n);
  const Eigen::Map<const Eigen::MatrixXd> C(on_host_.data(), n, c);
  const Eigen::Map<const Eigen::VectorXd> D(S.scaling().data(), n);
  const Eigen::MatrixXd G = C.transpose() * X;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(0.5 * (G + G.transpose()));
  const Eigen::VectorXd& g = eigen.eigenvalues();
  const Eigen::MatrixXd& W = eigen.eigenvectors();
  const Eigen::VectorXd errors =
      S.error() * (D.cwiseInverse().asDiagonal() * (X * W)).colwise().squaredNorm().transpose();
  const Eigen::MatrixXd inverse = W * g.cwiseInverse().asDiagonal() * W.transpose();
  const Eigen::VectorXd x = y - X * (inverse * (C.transpose() * y));
  certain_ = (g.array().abs() > kMargin * errors.array()).all() &&
             y.cwiseQuotient(D).norm() < kMostCancelled<T> * x.cwiseQuotient(D).norm();
  if (!certain_) return false;
  negative_ = (g.array() < 0).count();

  HostContext host{1};
  HostContext& copies = host_of(context, host);
  SmallMatrix<double, HostSpace> small(copies, c, c);
  Eigen::Map<Eigen::MatrixXd>(small.view(c, c).data, c, c) = -inverse;
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
    products_ = SmallMatrix<double, Space>(context, c, width);
    multipliers_ = SmallMatrix<double, Space>(context, c, width);
    width_ = width;
  }
  const SmallView<double, Space> products = products_.view(c, width);
  const SmallView<double, Space> multipliers = multipliers_.view(c, width);
  for (int pass = 0; pass < kPasses; ++pass) {
    gram<T>(context, C_, Y, products);
    small_multiply(context, 1, inverse_.view(c, c), false, products, false, 0, multipliers);
    multiply<T>(context, 1, std::as_const(X_).view(), multipliers, 1, Y);
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ConstraintFactor<T, Ctx>;
HEDDLE_FOR_EACH_REAL_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
