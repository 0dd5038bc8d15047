#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/factor/factor_costs.hpp>
#include <heddle/solvers/factor/host_inverse.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// Bytes per entry of L during the factorisation: in the library's factor, in a copy of it, and in
/// two triangles.
template <Scalar T>
constexpr double kBytesOfEntry = 2.0 * (sizeof(Wide<T>) + sizeof(std::int32_t)) +
                                 2.0 * (sizeof(T) + sizeof(std::int32_t));

/// The cost of a solve per entry of L and column.
/// The host's rate was measured with blocks of 8 columns and two threads on matrices of 2000 to
/// 27000 rows: 8 to 19 per entry of L. Those of a GPU are estimates: levels of rows wait for each
/// other.
template <class Ctx>
constexpr double kSolve = std::same_as<Ctx, HostContext> ? 12 : 300;

/// Seconds per unit of the host: 10⁹ operations of Eigen's factorisation per second.
constexpr double kSecondsPerUnit = 1 / 6e9;

/// A with its values rounded to T.
template <Scalar T>
HostCsrMatrix<T> in_scalar(HostContext& host, HostCsrMatrix<Wide<T>> A) {
  if constexpr (std::same_as<T, Wide<T>>) {
    return A;
  } else {
    return convert<T>(host, A.view());
  }
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

template <Scalar T, class Ctx>
FactorRates HostInverse<T, Ctx>::rates() const noexcept {
  return {kHostUnit<Ctx> * best_cholesky().operation_cost(), kSolve<Ctx>,
          kSecondsPerUnit / kHostUnit<Ctx>};
}

template <Scalar T, class Ctx>
double HostInverse<T, Ctx>::order_cost(double rows, const FactorCost& factor) const noexcept {
  return kHostUnit<Ctx> * best_cholesky().order_cost(rows, factor);
}

template <Scalar T, class Ctx>
void HostInverse<T, Ctx>::order(Ctx& context) {
  cholesky_.emplace(beside_, on_host<T>(beside_, context, A_).view(),
                    on_host<T>(beside_, context, B_).view(), max_bytes_ / kBytesOfEntry<T>);
}

template <Scalar T, class Ctx>
void HostInverse<T, Ctx>::analyse(Ctx&) {
  fits_ = cholesky_->analyse();
}

template <Scalar T, class Ctx>
std::optional<FactorCost> HostInverse<T, Ctx>::cost() const {
  return fits_ ? std::optional(cholesky_->cost()) : std::nullopt;
}

template <Scalar T, class Ctx>
bool HostInverse<T, Ctx>::factor(Ctx& context, double sigma) {
  solves_.reset();
  auto made = cholesky_->factor(beside_, sigma);
  if (!made) return false;
  make_solves(context, std::move(*made));
  return true;
}

template <Scalar T, class Ctx>
void HostInverse<T, Ctx>::make_solves(Ctx& context, HostCsrMatrix<Wide<T>> factor) {
  HostContext& host = host_of(context, beside_);
  const HostCsrMatrix<T> upper = in_scalar<T>(host, std::move(factor));
  solves_.emplace(context, adjoint(host, upper.view()).view(), upper.view());
  if (into_order_) return;
  HostCsrMatrix<T> P = permutation<T>(host, cholesky_->order());
  back_ = place(context, transpose(host, P.view()));
  there_ = place(context, std::move(P));
  into_order_.emplace(context, there_.view());
  out_of_order_.emplace(context, back_.view());
}

/// n×`columns` of memory for a block in the order of the factor.
template <Scalar T, class Ctx>
auto HostInverse<T, Ctx>::permuted_block(Ctx& context, Index columns) -> Block {
  if (permuted_.cols() < columns) {
    permuted_ = {};
    permuted_ = MultiVector<T, Space>(context, A_.rows, columns);
  }
  return permuted_.columns(0, columns);
}

template <Scalar T, class Ctx>
void HostInverse<T, Ctx>::solve(Ctx& context, ConstBlock X, Block Y) {
  const Block Z = permuted_block(context, X.cols());
  into_order_->multiply(context, T{1}, X, T{0}, Z);    // Z = P X
  solves_->solve(context, Z, Z);                       // Z ← L⁻ᵀ L⁻¹ Z
  out_of_order_->multiply(context, T{1}, Z, T{0}, Y);  // Y = Pᵀ Z
}

template <Scalar T, class Ctx>
void HostInverse<T, Ctx>::solve_lower(Ctx& context, ConstBlock X, Block Y) {
  const Block Z = permuted_block(context, X.cols());
  into_order_->multiply(context, T{1}, X, T{0}, Z);  // Z = P X
  solves_->solve_lower(context, Z, Y);               // Y = L⁻¹ Z
}

template <Scalar T, class Ctx>
void HostInverse<T, Ctx>::solve_upper(Ctx& context, ConstBlock X, Block Y) {
  const Block Z = permuted_block(context, X.cols());
  solves_->solve_upper(context, X, Z);                 // Z = L⁻ᵀ X
  out_of_order_->multiply(context, T{1}, Z, T{0}, Y);  // Y = Pᵀ Z
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class HostInverse<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
