#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/factor/cudss_inverse.hpp>
#include <heddle/solvers/factor/factor_costs.hpp>
#include <heddle/solvers/factor/host_inverse.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <utility>

namespace heddle {
namespace {

/// The cost of a factorisation and of solves for `columns` columns, in units of `rates`.
double factor_and_solve(const detail::FactorRates& rates, const detail::FactorCost& cost,
                        double columns) {
  return rates.operation * cost.operations + columns * rates.solve * cost.entries;
}

template <Scalar T>
std::unique_ptr<detail::InverseFactor<T, HostContext>> make_factor(HostContext&,
                                                                   CsrView<T, HostSpace> A,
                                                                   CsrView<T, HostSpace> B,
                                                                   double max_bytes,
                                                                   FactorLibrary library) {
  if (is_cudss(library)) {
    throw InvalidArgument("cuDSS factors matrices in the memory of a GPU, this one is on the host");
  }
  return std::make_unique<detail::HostInverse<T, HostContext>>(A, B, max_bytes);
}
template <Scalar T>
std::unique_ptr<detail::InverseFactor<T, CudaContext>> make_factor(CudaContext& context,
                                                                   CsrView<T, DeviceSpace> A,
                                                                   CsrView<T, DeviceSpace> B,
                                                                   double max_bytes,
                                                                   FactorLibrary library) {
  if constexpr (kComplex<T>) {
    if (is_cudss(library)) throw InvalidArgument("cuDSS factors real matrices only");
  } else if (is_cudss(library)) {
    return std::make_unique<detail::CudssInverse<T>>(context, A, B, max_bytes,
                                                     library == FactorLibrary::cudss_deterministic);
  }
  return std::make_unique<detail::HostInverse<T, CudaContext>>(A, B, max_bytes);
}

}  // namespace

template <Scalar T, class Ctx>
ShiftedInverse<T, Ctx>::ShiftedInverse(Matrix A, Matrix B, double max_bytes, FactorLibrary library)
    : LinearOperator<T, Ctx>(A.rows, A.cols),
      A_(A),
      B_(B),
      max_bytes_(max_bytes),
      choice_(library) {
  if (A.rows == A.cols && (B.rows == 0 || (B.rows == A.rows && B.cols == A.rows))) return;
  throw InvalidArgument(
      fmt::format("ShiftedInverse: A is {}x{}, B {}x{}: they must be square, "
                  "of one order",
                  A.rows, A.cols, B.rows, B.cols));
}

template <Scalar T, class Ctx>
ShiftedInverse<T, Ctx>::~ShiftedInverse() = default;

template <Scalar T, class Ctx>
auto ShiftedInverse<T, Ctx>::library_factor(Ctx& context) -> Factor& {
  if (!factor_) factor_ = make_factor<T>(context, A_, B_, max_bytes_, choice_);
  return *factor_;
}

template <Scalar T, class Ctx>
auto ShiftedInverse<T, Ctx>::analysed_factor(Ctx& context) -> Factor& {
  Factor& factor = library_factor(context);
  if (!ordered_) {
    begin_stage("ordering " + matrix_);
    {
      const PhaseScope phase(context, Phase::ordering);
      factor.order(context);
    }
    begin_stage("analysing " + matrix_);
    const PhaseScope phase(context, Phase::analysis);
    factor.analyse(context);
    ordered_ = true;
  }
  return factor;
}

template <Scalar T, class Ctx>
const detail::FactorCost& ShiftedInverse<T, Ctx>::estimated_cost(Ctx& context) {
  if (!estimate_) {
    const PhaseScope phase(context, Phase::analysis);
    estimate_ = std::make_unique<const detail::FactorCost>(
        detail::estimated_factor_cost<T>(context, A_, B_));
  }
  return *estimate_;
}

/// A cost in units of `FactorRates` as a number of products of A with one column.
template <Scalar T, class Ctx>
double ShiftedInverse<T, Ctx>::in_products(double cost) const noexcept {
  return detail::in_products<Ctx>(cost, static_cast<double>(A_.rows), static_cast<double>(A_.nnz));
}

/// The cost of the ordering in units of `FactorRates`. 0 once it is done.
template <Scalar T, class Ctx>
double ShiftedInverse<T, Ctx>::order_cost(Ctx& context) {
  if (ordered()) return 0;
  return library_factor(context).order_cost(static_cast<double>(A_.rows), estimated_cost(context));
}

template <Scalar T, class Ctx>
bool ShiftedInverse<T, Ctx>::pays(Ctx& context, double columns, double products) {
  if (!ordered()) {
    const double all = order_cost(context) + factor_and_solve(library_factor(context).rates(),
                                                              estimated_cost(context), columns);
    if (!(in_products(all) < products)) return false;
  }
  const std::optional<double> cost = cost_in_products(context, columns);
  return cost && *cost < products;
}

template <Scalar T, class Ctx>
std::optional<double> ShiftedInverse<T, Ctx>::cost_in_products(Ctx& context, double columns) {
  const Factor& factor = analysed_factor(context);
  const auto cost = factor.cost();
  if (!cost) return std::nullopt;
  return in_products(factor_and_solve(factor.rates(), *cost, columns));
}

template <Scalar T, class Ctx>
double ShiftedInverse<T, Ctx>::seconds_to_order(Ctx& context) {
  return order_cost(context) * library_factor(context).rates().seconds_per_unit;
}

template <Scalar T, class Ctx>
double ShiftedInverse<T, Ctx>::seconds_to_factor(Ctx& context) {
  const Factor& factor = analysed_factor(context);
  const auto cost = factor.cost();
  const detail::FactorRates rates = factor.rates();
  return cost ? cost->operations * rates.operation * rates.seconds_per_unit : 0;
}

template <Scalar T, class Ctx>
bool ShiftedInverse<T, Ctx>::factor(Ctx& context, double sigma) {
  Factor& factor = analysed_factor(context);
  if (!factor.cost()) {
    throw OutOfMemory(static_cast<std::size_t>(max_bytes_),
                      fmt::format("the Cholesky factor of A - sigma B needs more than the {:.0f} "
                                  "bytes that it may take",
                                  max_bytes_));
  }
  const PhaseScope phase(context, Phase::factorization);
  begin_stage("factoring " + matrix_);
  if (!factor.factor(context, sigma)) return false;
  shift_ = sigma;
  begin_stage("iterating with the factor");
  return true;
}

template <Scalar T, class Ctx>
double ShiftedInverse<T, Ctx>::factor_entries() const noexcept {
  return factor_ && factor_->factored() ? factor_->cost()->entries : 0;
}

template <Scalar T, class Ctx>
std::string ShiftedInverse<T, Ctx>::library() const {
  return factor_ && ordered_ ? factor_->library() : std::string();
}

template <Scalar T, class Ctx>
auto ShiftedInverse<T, Ctx>::made() -> Factor& {
  if (!factor_ || !factor_->factored()) {
    throw InvalidArgument("ShiftedInverse: applied before a matrix was factored");
  }
  return *factor_;
}

template <Scalar T, class Ctx>
void ShiftedInverse<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                         BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  made().solve(context, X, Y);
}

template <Scalar T, class Ctx>
void ShiftedInverse<T, Ctx>::apply_lower(Ctx& context, ConstBlockView<T, Space> X,
                                         BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  made().solve_lower(context, X, Y);
  lower_columns_ += X.cols();
}

template <Scalar T, class Ctx>
void ShiftedInverse<T, Ctx>::apply_upper(Ctx& context, ConstBlockView<T, Space> X,
                                         BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  made().solve_upper(context, X, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ShiftedInverse<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
