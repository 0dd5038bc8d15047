#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/factor_costs.hpp>
#include <heddle/solvers/factor/inverse_factor.hpp>
#include <heddle/solvers/lobpcg/stiff_factor.hpp>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

/// The most operations of a factorisation, per entry of A or altogether, by an estimate that is a
/// few times too large. Smoothing random vectors costs as much.
constexpr double kMostOperations = 3000;
constexpr double kFewOperations = 5e7;

/// The most rows and entries of a matrix that is factored as a whole, and the most that its factor
/// and the solves with it may cost, in units of `FactorRates`: about 15 ms. Of larger matrices, few
/// have a factor that costs so little.
constexpr Index kMostRows = 4096;
constexpr Index kMostEntries = 500000;
constexpr double kMostUnits = 8e7;

/// −M.
template <WideScalar W>
HostCsrMatrix<W> negative_of(HostContext& host, const CsrView<W, HostSpace>& M) {
  std::vector<Triplet<W>> entries;
  for (Index i = 0; i < M.rows; ++i) {
    for (std::int64_t e = M.row_offsets[i]; e < M.row_offsets[i + 1]; ++e) {
      entries.push_back({i, M.columns[e], -M.values[e]});
    }
  }
  return csr_from_triplets<W>(host, M.rows, M.cols, entries);
}

/// M_SS, with `outside` on the diagonal of all other rows.
template <WideScalar W>
HostCsrMatrix<W> part_of(HostContext& host, const CsrView<W, HostSpace>& M,
                         const std::vector<bool>& in_S, double outside) {
  std::vector<Triplet<W>> entries;
  for (Index i = 0; i < M.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (!in_S[row]) {
      if (outside != 0) entries.push_back({i, i, outside});
      continue;
    }
    for (std::int64_t e = M.row_offsets[i]; e < M.row_offsets[i + 1]; ++e) {
      if (in_S[static_cast<std::size_t>(M.columns[e])]) {
        entries.push_back({i, M.columns[e], M.values[e]});
      }
    }
  }
  return csr_from_triplets<W>(host, M.rows, M.cols, entries);
}

/// The matrix of an operator, if it is stored and this process has all rows. Without rows if not.
template <Scalar T, class Ctx>
CsrView<T, typename Ctx::Space> stored_matrix(const LinearOperator<T, Ctx>* op) {
  const auto* stored = op != nullptr ? op->stored() : nullptr;
  if (stored == nullptr || stored->is_distributed()) return {};
  return stored->own;
}

}  // namespace

template <Scalar T, class Ctx>
std::unique_ptr<StiffFactor<T, Ctx>> StiffFactor<T, Ctx>::make(Ctx& context,
                                                               const EigenProblem<T, Ctx>& problem,
                                                               ConstBlockView<T, Space> all,
                                                               ConstBlockView<T, Space> chosen) {
  const CsrView<T, Space> A = stored_matrix<T, Ctx>(problem.A);
  const CsrView<T, Space> B = stored_matrix<T, Ctx>(problem.B);
  if (A.rows == 0 || (problem.B != nullptr && B.rows == 0)) return nullptr;
  HostContext beside(1);
  HostContext& host = host_of(context, beside);
  MultiVector<T, HostSpace> sizes(host, A.rows, 2);
  fetch<T>(context, all, sizes.columns(0, 1));
  fetch<T>(context, chosen, sizes.columns(1, 1));
  std::vector<bool> in_S(static_cast<std::size_t>(A.rows));
  double largest = 0;  // D⁻¹ in S, whose inverse is the smallest size of these rows
  for (Index i = 0; i < A.rows; ++i) {
    const auto size = static_cast<double>(real_part(sizes.view()(i, 0)));
    const bool in = size > 0 && static_cast<double>(real_part(sizes.view()(i, 1))) >= 0.5 * size;
    in_S[static_cast<std::size_t>(i)] = in;
    if (in) largest = std::max(largest, size);
  }
  constexpr double kFarAbove = 100;
  const auto A_SS = part_of(host, on_host<T>(host, context, A).view(), in_S, kFarAbove / largest);
  auto B_SS = HostCsrMatrix<Wide<T>>();
  if (B.rows > 0) B_SS = part_of(host, on_host<T>(host, context, B).view(), in_S, 0);
  const FactorCost cost = estimated_factor_cost<Wide<T>>(host, A_SS.view(), B_SS.view());
  if (cost.operations > std::max(kFewOperations, kMostOperations * static_cast<double>(A.nnz)))
    return nullptr;
  const auto placed = [&](const HostCsrMatrix<Wide<T>>& M) {
    return M.rows() == 0 ? CsrMatrix<T, Space>() : place(context, convert<T>(host, M.view()));
  };
  std::unique_ptr<StiffFactor> made(new StiffFactor(placed(A_SS), placed(B_SS)));
  if (!made->inverse_.cost_in_products(context, 0)) return nullptr;
  return made;
}

template <Scalar T, class Ctx>
std::unique_ptr<StiffFactor<T, Ctx>> StiffFactor<T, Ctx>::of_all_rows(
    Ctx& context, const EigenProblem<T, Ctx>& problem, Which which, double columns) {
  const CsrView<T, Space> A = stored_matrix<T, Ctx>(problem.A);
  const CsrView<T, Space> B = stored_matrix<T, Ctx>(problem.B);
  if (A.rows == 0 || A.rows > kMostRows || A.nnz > kMostEntries) return nullptr;
  if (problem.B != nullptr && B.rows == 0) return nullptr;
  const double products = kMostUnits / static_cast<double>(A.nnz);
  CsrMatrix<T, Space> negative;
  if (which == Which::largest) {
    HostContext beside(1);
    HostContext& host = host_of(context, beside);
    negative = place(
        context, convert<T>(host, negative_of(host, on_host<T>(host, context, A).view()).view()));
  }
  std::unique_ptr<StiffFactor> made(new StiffFactor(std::move(negative), A, B));
  if (!made->inverse_.pays(context, columns, products)) return nullptr;
  return made;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class StiffFactor<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
