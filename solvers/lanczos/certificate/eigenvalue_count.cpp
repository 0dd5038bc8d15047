#include <Eigen/Eigenvalues>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/solvers/lanczos/certificate/eigenvalue_count.hpp>

namespace heddle::detail {
namespace {

/// Constraints depend on each other if an eigenvalue of YᵀBY, with columns of norm 1, is below
/// this. An eigenvalue of G has no certain sign if it is smaller than this part of the largest one.
constexpr double kNothing = 1e-10;

/// VᵀW, made symmetric, in host memory.
template <Scalar T, class Ctx>
Eigen::MatrixXd symmetric_gram(Ctx& context, ConstBlockView<T, typename Ctx::Space> V,
                               ConstBlockView<T, typename Ctx::Space> W) {
  const Index c = V.cols();
  Packet<Ctx> packet(context, c * c);
  const auto product = packet.add(c, c);
  gram<T>(context, V, W, product.there);
  packet.fetch(context);
  const Eigen::MatrixXd G = Eigen::Map<const Eigen::MatrixXd>(product.here.data, c, c);
  return (G + G.transpose()) / 2;
}

}  // namespace

template <Scalar T, class Ctx>
EigenvalueCount<T, Ctx>::EigenvalueCount(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                         IndefiniteInverse<T, Ctx>& inverse)
    : context_(context), inverse_(inverse), all_(inverse.rows()) {
  if (problem.constraints.cols() > 0) take_constraints(problem.constraints, problem.B);
}

template <Scalar T, class Ctx>
void EigenvalueCount<T, Ctx>::take_constraints(ConstBlockView<T, Space> Y,
                                               LinearOperator<T, Ctx>* B) {
  const Index c = Y.cols();
  C_ = MultiVector<T, Space>(context_, Y.rows(), c);
  if (B != nullptr) {
    B->apply(context_, Y, C_.view());
  } else {
    copy<T>(context_, Y, C_.view());
  }
  const Eigen::MatrixXd M = symmetric_gram<T, Ctx>(context_, Y, std::as_const(C_).view());
  const Eigen::VectorXd scaling = M.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> scaled(scaling.asDiagonal() * M *
                                                              scaling.asDiagonal());
  for (Index j = 0; j < c; ++j) {
    const double value = scaled.eigenvalues()[j];
    if (!(value > kNothing)) continue;
    const Eigen::VectorXd column =
        scaling.cwiseProduct(scaled.eigenvectors().col(j)) / std::sqrt(value);
    basis_.insert(basis_.end(), column.begin(), column.end());
    --all_;
  }
}

/// The negative eigenvalues of G for the last factor.
template <Scalar T, class Ctx>
std::optional<Index> EigenvalueCount<T, Ctx>::of_constraints() {
  const Index c = C_.cols();
  MultiVector<T, Space> solved(context_, C_.rows(), c);
  inverse_.apply(context_, std::as_const(C_).view(), solved.view());
  const Eigen::MatrixXd G =
      symmetric_gram<T, Ctx>(context_, std::as_const(C_).view(), std::as_const(solved).view());
  const Eigen::Map<const Eigen::MatrixXd> W(basis_.data(), c, std::ssize(basis_) / c);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> reduced(W.transpose() * G * W,
                                                               Eigen::EigenvaluesOnly);
  const Eigen::VectorXd sizes = reduced.eigenvalues().cwiseAbs();
  if (!(sizes.minCoeff() > kNothing * sizes.maxCoeff())) return std::nullopt;
  return (reduced.eigenvalues().array() < 0).count();
}

template <Scalar T, class Ctx>
std::optional<Index> EigenvalueCount<T, Ctx>::below(double s) {
  if (!inverse_.factor(context_, s)) return std::nullopt;
  if (basis_.empty()) return inverse_.below();
  const std::optional<Index> negative = of_constraints();
  if (!negative) return std::nullopt;
  return inverse_.below() - *negative;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class EigenvalueCount<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
