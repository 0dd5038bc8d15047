#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/factor_estimate.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <heddle/solvers/operators/sparse_cholesky.hpp>
#include <heddle/solvers/operators/triangular_solves.hpp>
#include <heddle/spmm/spmm.hpp>
#include <utility>

namespace heddle {
namespace {

/// Bytes per entry of L during the factorisation: in the library's factor, in a copy of it, and in
/// two triangles.
template <Scalar T>
constexpr double kBytesOfEntry = 2.0 * (sizeof(double) + sizeof(std::int32_t)) +
                                 2.0 * (sizeof(T) + sizeof(std::int32_t));

/// Costs in units of the cost per entry of A and column in a product with a block.
struct Rates {
  double row;    ///< per row, for the dense passes beside a product
  double solve;  ///< per entry of L, for a solve
  double host;   ///< a unit of the host
  double least;  ///< of a product with a block, per column, for any A
};

/// The host's rates were measured with blocks of 8 columns and two threads on matrices of 2000 to
/// 27000 rows: 8 to 19 per entry of L. Those of a GPU are estimates: levels of rows wait for each
/// other, and a launch takes 5 µs, that is 10⁵ units per column of a block of 8.
template <class Ctx>
constexpr Rates kRates =
    std::same_as<Ctx, HostContext> ? Rates{5, 12, 1, 0} : Rates{5, 300, 33, 1e5};

/// Seconds per unit of the host: 10⁹ operations of Eigen's factorisation per second.
constexpr double kSecondsPerUnit = 1 / 6e9;

/// A in host memory, in double. If A has no rows, neither has the result.
template <Scalar T>
HostCsrMatrix<double> on_host(HostContext& host, HostContext&, const CsrView<T, HostSpace>& A) {
  return A.rows == 0 ? HostCsrMatrix<double>() : convert<double>(host, A);
}
template <Scalar T>
HostCsrMatrix<double> on_host(HostContext& host, CudaContext& context,
                              const CsrView<T, DeviceSpace>& A) {
  if (A.rows == 0) return {};
  return convert<double>(host, fetch(context, host, A).view());
}

/// The estimated cost of the factor of A − σB. Reads the patterns only.
template <Scalar T>
detail::FactorCost estimate(HostContext&, const CsrView<T, HostSpace>& A,
                            const CsrView<T, HostSpace>& B) {
  const auto pattern = [](const CsrView<T, HostSpace>& M) -> CsrView<double, HostSpace> {
    return {M.rows, M.cols, M.nnz, M.row_offsets, M.columns, nullptr};
  };
  return detail::estimate_factor_cost(pattern(A), pattern(B));
}
template <Scalar T>
detail::FactorCost estimate(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                            const CsrView<T, DeviceSpace>& B) {
  HostContext host{1};
  const auto fetched = [&](const CsrView<T, DeviceSpace>& M) {
    return M.rows == 0 ? HostCsrMatrix<T>() : fetch(context, host, M);
  };
  return estimate(host, fetched(A).view(), fetched(B).view());
}

/// The cost of a factorisation and of solves for `columns` columns, in units of `Rates`.
template <class Ctx>
double factor_and_solve(const detail::FactorCost& cost, double columns) {
  constexpr Rates rate = kRates<Ctx>;
  return rate.host * detail::best_cholesky().operation_cost() * cost.operations +
         columns * rate.solve * cost.entries;
}

/// The matrix whose row k is row order[k] of the identity.
template <Scalar T>
HostCsrMatrix<T> permutation(HostContext& host, const std::vector<std::int32_t>& order) {
  const auto n = static_cast<Index>(order.size());
  HostCsrMatrix<T> P(host, n, n, n);
  for (Index k = 0; k <= n; ++k) P.row_offsets()[k] = k;
  std::copy(order.begin(), order.end(), P.columns());
  std::fill_n(P.values(), n, T{1});
  return P;
}

}  // namespace

/// The analysis of the pattern and, after `factor`, the factor.
template <Scalar T, class Ctx>
struct ShiftedInverse<T, Ctx>::Factors {
  Factors(Ctx& context, const Matrix& A, const Matrix& B, double max_entries)
      : cholesky(beside, on_host<T>(beside, context, A).view(),
                 on_host<T>(beside, context, B).view(), max_entries) {}

  /// The cost of the factor. Nothing if it is too large.
  std::optional<detail::FactorCost> cost() const {
    return fits ? std::optional(cholesky.cost()) : std::nullopt;
  }

  void make_solves(Ctx& context, HostCsrMatrix<double> transposed) {
    HostContext& host = host_of(context, beside);
    const HostCsrMatrix<T> lower = [&] {
      const HostCsrMatrix<T> upper = convert<T>(host, transposed.view());
      transposed = {};
      return transpose(host, upper.view());
    }();
    solves.emplace(context, lower.view());
    if (into_order) return;
    HostCsrMatrix<T> P = permutation<T>(host, cholesky.order());
    back = place(context, transpose(host, P.view()));
    there = place(context, std::move(P));
    into_order.emplace(context, there.view());
    out_of_order.emplace(context, back.view());
  }

  HostContext beside{1};  // the host, where Ctx is a GPU
  detail::SparseCholesky cholesky;
  bool fits = false;
  std::optional<detail::TriangularSolves<T, Ctx>> solves;
  CsrMatrix<T, Space> there, back;  // P and Pᵀ
  std::optional<SpmmPlan<T, Ctx>> into_order, out_of_order;
  MultiVector<T, Space> permuted;
};

template <Scalar T, class Ctx>
ShiftedInverse<T, Ctx>::ShiftedInverse(Matrix A, Matrix B, double max_bytes)
    : LinearOperator<T, Ctx>(A.rows, A.cols), A_(A), B_(B), max_bytes_(max_bytes) {
  if (A.rows == A.cols && (B.rows == 0 || (B.rows == A.rows && B.cols == A.rows))) return;
  throw InvalidArgument(
      fmt::format("ShiftedInverse: A is {}x{}, B {}x{}: they must be square, "
                  "of one order",
                  A.rows, A.cols, B.rows, B.cols));
}

template <Scalar T, class Ctx>
ShiftedInverse<T, Ctx>::~ShiftedInverse() = default;

template <Scalar T, class Ctx>
auto ShiftedInverse<T, Ctx>::analysed(Ctx& context) -> Factors& {
  if (!factors_) {
    begin_stage("ordering " + matrix_);
    auto made = [&] {
      const PhaseScope phase(context, Phase::ordering);
      return std::make_unique<Factors>(context, A_, B_, max_bytes_ / kBytesOfEntry<T>);
    }();
    begin_stage("analysing " + matrix_);
    const PhaseScope phase(context, Phase::analysis);
    made->fits = made->cholesky.analyse();
    factors_ = std::move(made);
  }
  return *factors_;
}

template <Scalar T, class Ctx>
const detail::FactorCost& ShiftedInverse<T, Ctx>::estimated(Ctx& context) {
  if (!estimate_) {
    const PhaseScope phase(context, Phase::analysis);
    estimate_ = std::make_unique<const detail::FactorCost>(estimate<T>(context, A_, B_));
  }
  return *estimate_;
}

/// A cost in units of `Rates` as a number of products of A with one column.
template <Scalar T, class Ctx>
double ShiftedInverse<T, Ctx>::in_products(double cost) const noexcept {
  constexpr Rates rate = kRates<Ctx>;
  const double product = static_cast<double>(A_.nnz) + rate.row * static_cast<double>(A_.rows);
  return cost / std::max(product, rate.least);
}

/// The cost of the ordering in units of the host. 0 once it is done.
template <Scalar T, class Ctx>
double ShiftedInverse<T, Ctx>::order_cost(Ctx& context) {
  if (ordered()) return 0;
  return detail::best_cholesky().order_cost(static_cast<double>(A_.rows), estimated(context));
}

template <Scalar T, class Ctx>
bool ShiftedInverse<T, Ctx>::pays(Ctx& context, double columns, double products) {
  if (!ordered()) {
    const double all =
        kRates<Ctx>.host * order_cost(context) + factor_and_solve<Ctx>(estimated(context), columns);
    if (!(in_products(all) < products)) return false;
  }
  const std::optional<double> cost = cost_in_products(context, columns);
  return cost && *cost < products;
}

template <Scalar T, class Ctx>
std::optional<double> ShiftedInverse<T, Ctx>::cost_in_products(Ctx& context, double columns) {
  const auto cost = analysed(context).cost();
  if (!cost) return std::nullopt;
  return in_products(factor_and_solve<Ctx>(*cost, columns));
}

template <Scalar T, class Ctx>
double ShiftedInverse<T, Ctx>::seconds_to_order(Ctx& context) {
  return order_cost(context) * kSecondsPerUnit;
}

template <Scalar T, class Ctx>
double ShiftedInverse<T, Ctx>::seconds_to_factor(Ctx& context) {
  const auto cost = analysed(context).cost();
  const double per_operation = detail::best_cholesky().operation_cost() * kSecondsPerUnit;
  return cost ? cost->operations * per_operation : 0;
}

template <Scalar T, class Ctx>
bool ShiftedInverse<T, Ctx>::factor(Ctx& context, double sigma) {
  Factors& factors = analysed(context);
  if (!factors.fits) {
    throw OutOfMemory(static_cast<std::size_t>(max_bytes_),
                      fmt::format("the Cholesky factor of A - sigma B needs more than the {:.0f} "
                                  "bytes that it may take",
                                  max_bytes_));
  }
  const PhaseScope phase(context, Phase::factorization);
  factors.solves.reset();
  begin_stage("factoring " + matrix_);
  auto made = factors.cholesky.factor(factors.beside, sigma);
  if (!made) return false;
  shift_ = sigma;
  factors.make_solves(context, std::move(*made));
  begin_stage("iterating with the factor");
  return true;
}

template <Scalar T, class Ctx>
double ShiftedInverse<T, Ctx>::factor_entries() const noexcept {
  return factors_ && factors_->solves ? factors_->cholesky.cost().entries : 0;
}

/// n×`columns` of memory for a block in the order of the factor.
template <Scalar T, class Ctx>
auto ShiftedInverse<T, Ctx>::permuted(Ctx& context, Index columns) -> BlockView<T, Space> {
  if (!factors_ || !factors_->solves) {
    throw InvalidArgument("ShiftedInverse: applied before a matrix was factored");
  }
  MultiVector<T, Space>& memory = factors_->permuted;
  if (memory.cols() < columns) {
    memory = {};
    memory = MultiVector<T, Space>(context, this->rows(), columns);
  }
  return memory.columns(0, columns);
}

template <Scalar T, class Ctx>
void ShiftedInverse<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                         BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const BlockView<T, Space> Z = permuted(context, X.cols());
  factors_->into_order->multiply(context, T{1}, X, T{0}, Z);    // Z = P X
  factors_->solves->solve(context, Z, Z);                       // Z ← L⁻ᵀ L⁻¹ Z
  factors_->out_of_order->multiply(context, T{1}, Z, T{0}, Y);  // Y = Pᵀ Z
}

template <Scalar T, class Ctx>
void ShiftedInverse<T, Ctx>::apply_lower(Ctx& context, ConstBlockView<T, Space> X,
                                         BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const BlockView<T, Space> Z = permuted(context, X.cols());
  factors_->into_order->multiply(context, T{1}, X, T{0}, Z);  // Z = P X
  factors_->solves->solve_lower(context, Z, Y);               // Y = L⁻¹ Z
  lower_columns_ += X.cols();
}

template <Scalar T, class Ctx>
void ShiftedInverse<T, Ctx>::apply_upper(Ctx& context, ConstBlockView<T, Space> X,
                                         BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const BlockView<T, Space> Z = permuted(context, X.cols());
  factors_->solves->solve_upper(context, X, Z);                 // Z = L⁻ᵀ X
  factors_->out_of_order->multiply(context, T{1}, Z, T{0}, Y);  // Y = Pᵀ Z
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ShiftedInverse<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
