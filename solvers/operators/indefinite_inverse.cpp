#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/factor/factor_costs.hpp>
#include <heddle/solvers/factor/inverse_factor.hpp>
#include <heddle/solvers/factor/shifted_factor.hpp>
#include <heddle/solvers/operators/indefinite_inverse.hpp>
#include <vector>

namespace heddle {
template <Scalar T, class Ctx>
IndefiniteInverse<T, Ctx>::IndefiniteInverse(Matrix A, Matrix B, double max_bytes)
    : LinearOperator<T, Ctx>(A.rows, A.cols), A_(A), B_(B), max_bytes_(max_bytes) {
  if (A.rows == A.cols && (B.rows == 0 || (B.rows == A.rows && B.cols == A.rows))) return;
  throw InvalidArgument(
      fmt::format("IndefiniteInverse: A is {}x{}, B {}x{}: they must be square, of one order",
                  A.rows, A.cols, B.rows, B.cols));
}

template <Scalar T, class Ctx>
IndefiniteInverse<T, Ctx>::~IndefiniteInverse() = default;

template <Scalar T, class Ctx>
FactorEstimate IndefiniteInverse<T, Ctx>::estimate(Ctx& context) {
  if (!estimate_) {
    const PhaseScope phase(context, Phase::analysis);
    estimate_ = std::make_unique<const detail::FactorCost>(
        detail::estimated_factor_cost<T>(context, A_, B_));
  }
  const detail::FactorLibraryRow& library = detail::indefinite_library();
  const auto rows = static_cast<double>(A_.rows);
  const auto products = [&](double cost) {
    return detail::in_products<Ctx>(detail::kHostUnit<Ctx> * cost, rows,
                                    static_cast<double>(A_.nnz));
  };
  return {estimate_->operations, detail::kIndefiniteBytes * estimate_->entries,
          products(library.row * rows), products(library.operation * estimate_->operations),
          products(library.solve * estimate_->entries)};
}

template <Scalar T, class Ctx>
bool IndefiniteInverse<T, Ctx>::factor(Ctx& context, double sigma) {
  if (!factor_) {
    const PhaseScope phase(context, Phase::ordering);
    HostContext host{1};
    const auto A = detail::on_host<T>(host, context, A_);
    const auto B = detail::on_host<T>(host, context, B_);
    factor_ = std::make_unique<detail::ShiftedFactor>(A.view(), B.view(), max_bytes_);
  }
  const PhaseScope phase(context, Phase::factorization);
  return factor_->factor(sigma);
}

template <Scalar T, class Ctx>
double IndefiniteInverse<T, Ctx>::shift() const noexcept {
  return factor_ ? factor_->shift() : 0;
}

template <Scalar T, class Ctx>
Index IndefiniteInverse<T, Ctx>::below() const noexcept {
  return factor_ ? factor_->below() : 0;
}

template <Scalar T, class Ctx>
double IndefiniteInverse<T, Ctx>::factor_entries() const noexcept {
  return factor_ ? factor_->entries() : 0;
}

template <Scalar T, class Ctx>
std::string IndefiniteInverse<T, Ctx>::library() const {
  return factor_ ? std::string(factor_->library().name) : std::string();
}

template <Scalar T, class Ctx>
void IndefiniteInverse<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                            BlockView<T, Space> Y) {
  if (!factor_ || !factor_->factored()) {
    throw InvalidArgument("IndefiniteInverse: applied before a matrix was factored");
  }
  const PhaseScope phase(context, Phase::preconditioner);
  const Index n = X.rows();
  const Index columns = X.cols();
  HostContext beside{1};
  HostContext& host = host_of(context, beside);
  MultiVector<T, HostSpace> block(host, n, columns);
  fetch<T>(context, X, block.view());
  std::vector<double> by_columns(static_cast<std::size_t>(n * columns));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < columns; ++j) {
      by_columns[static_cast<std::size_t>(j * n + i)] = static_cast<double>(block.view()(i, j));
    }
  }
  factor_->solve(by_columns.data(), columns);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < columns; ++j) {
      block.view()(i, j) = static_cast<T>(by_columns[static_cast<std::size_t>(j * n + i)]);
    }
  }
  send<T>(context, block.view(), Y);
  context.synchronize();  // the copy reads `block` until then
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IndefiniteInverse<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
