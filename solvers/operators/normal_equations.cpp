#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/operators/normal_equations.hpp>

namespace heddle {
namespace {

template <Scalar T, class Ctx>
const AdjointPair<T, Ctx>& checked(const AdjointPair<T, Ctx>& pair) {
  require_adjoint_pair("NormalEquationsOperator", pair);
  return pair;
}

}  // namespace

template <Scalar T, class Ctx>
void require_adjoint_pair(const char* caller, const AdjointPair<T, Ctx>& pair) {
  if (pair.A == nullptr || pair.A_transposed == nullptr) {
    throw InvalidArgument(fmt::format("{}: both A and its transpose are needed, {} is missing",
                                      caller, pair.A == nullptr ? "A" : "its transpose"));
  }
  const auto& A = *pair.A;
  const auto& At = *pair.A_transposed;
  if (At.rows() != A.cols() || At.cols() != A.rows()) {
    throw InvalidArgument(fmt::format("{}: A is {}x{}, what is given as its transpose {}x{}",
                                      caller, A.rows(), A.cols(), At.rows(), At.cols()));
  }
}

template <Scalar T, class Ctx>
NormalEquationsOperator<T, Ctx>::NormalEquationsOperator(Ctx& context,
                                                         const AdjointPair<T, Ctx>& pair,
                                                         double damp)
    : LinearOperator<T, Ctx>(checked(pair).A->column_range(), pair.A->column_range()),
      pair_(pair),
      AX_(context, pair.A->rows(), 1),
      damp_(damp) {}

template <Scalar T, class Ctx>
std::optional<double> NormalEquationsOperator<T, Ctx>::one_norm() const {
  if (hides_norm_) return std::nullopt;
  // For a distributed matrix, ‖A‖∞ takes the place of ‖A‖₁, see `norm_1`, and so ‖Aᴴ‖∞ = ‖A‖₁ that
  // of ‖Aᴴ‖₁ = ‖A‖∞. The product of both is the same.
  const std::optional<double> norm = pair_.A->one_norm();
  const std::optional<double> norm_transposed = pair_.A_transposed->one_norm();
  if (!norm || !norm_transposed) return std::nullopt;
  return *norm * *norm_transposed + damp_ * damp_;
}

template <Scalar T, class Ctx>
BlockView<T, typename Ctx::Space> NormalEquationsOperator<T, Ctx>::multiply_A(
    Ctx& context, ConstBlockView<T, Space> X) {
  if (X.cols() > AX_.cols()) {
    AX_ = {};
    AX_ = {context, pair_.A->rows(), X.cols()};
  }
  const BlockView<T, Space> AX = AX_.columns(0, X.cols());
  pair_.A->apply(context, X, AX);
  return AX;
}

template <Scalar T, class Ctx>
void NormalEquationsOperator<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                                  BlockView<T, Space> Y) {
  pair_.A_transposed->apply(context, multiply_A(context, X), Y);
  if (damp_ > 0) axpby<T>(context, damp_ * damp_, X, 1, Y);
}

template <Scalar T, class Ctx>
bool NormalEquationsOperator<T, Ctx>::accumulate_block(Ctx& context, double alpha,
                                                       ConstBlockView<T, Space> X,
                                                       const SpmmEpilogue<T, Space>& epilogue,
                                                       BlockView<T, Space> Y) {
  // The product with Aᴴ is one of A X, so that X is there another block.
  SpmmEpilogue<T, Space> terms = epilogue;
  const T own = epilogue.gamma + static_cast<T>(alpha * damp_ * damp_);
  if (own != T{0}) {
    if (epilogue.delta != T{0}) return false;
    terms.gamma = T{0};
    terms.delta = own;
    terms.X = X;
  }
  // Aᴴ can refuse only after the product with A, which is then wasted. Therefore it is tried only
  // once.
  accumulates_ = accumulates_ &&
                 pair_.A_transposed->accumulate(context, alpha, multiply_A(context, X), terms, Y);
  return accumulates_;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                             \
  template void require_adjoint_pair(const char*, const AdjointPair<T, Ctx>&); \
  template class NormalEquationsOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
