#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/krylov/krylov_basis.hpp>
#include <heddle/solvers/krylov/lanczos_ritz.hpp>
#include <utility>

#include "solvers/eigen_test_support.hpp"
#include "support/tolerance.hpp"

namespace heddle::detail {
namespace {

using Small = ConstSmallView<double, HostSpace>;

/// max |F V − V T − V₊ Sᵀ| and max |[Q V V₊]ᵀ[Q V V₊] − I|, by loops of our own.
template <Scalar T>
void expect_decomposition(HostContext& context, KrylovBasis<T, HostContext>& basis,
                          LinearOperator<T, HostContext>& F, double norm) {
  const auto V = basis.V();
  const auto front = basis.front();
  const Index b = front.cols();
  const Index n = V.rows(), k = basis.order(), locked = basis.locked();
  MultiVector<T, HostSpace> FV(context, n, k), all(context, n, locked + k + b);
  F.apply(context, V, FV.view());
  basis.fetch_column(context);
  const Small T_matrix = basis.projected().T(), S = basis.projected().S();
  double relation = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < k; ++j) {
      double r = static_cast<double>(FV.view()(i, j));
      for (Index l = 0; l < k; ++l) r -= static_cast<double>(V(i, l)) * T_matrix(l, j);
      for (Index l = 0; l < b; ++l) r -= static_cast<double>(front(i, l)) * S(j, l);
      relation = std::max(relation, std::abs(r));
    }
  }
  const double m = static_cast<double>(locked + k + b);
  EXPECT_LE(relation, test::tolerance<T>(norm, m * m)) << "order " << k;
  copy<T>(context, basis.locked_vectors(), all.columns(0, locked));
  copy<T>(context, V, all.columns(locked, k));
  copy<T>(context, front, all.columns(locked + k, b));
  std::vector<double> G(static_cast<std::size_t>(all.cols() * all.cols()));
  const SmallView<double, HostSpace> gram_view{G.data(), all.cols(), all.cols(), all.cols()};
  gram<T>(context, all.view(), all.view(), gram_view);
  double orthogonality = 0;
  for (Index i = 0; i < all.cols(); ++i) {
    for (Index j = 0; j < all.cols(); ++j) {
      orthogonality = std::max(orthogonality, std::abs(gram_view(i, j) - (i == j ? 1 : 0)));
    }
  }
  EXPECT_LE(orthogonality, test::tolerance<T>(1, m)) << "order " << k;
}

template <class T>
class KrylovBasisTyped : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(KrylovBasisTyped, Scalars);

/// Fills a basis, restarts it twice and checks the decomposition before and after each restart.
template <Scalar T>
void expect_decomposition_through_restarts(LinearOperator<T, HostContext>& A, double norm,
                                           Index block, Index max_basis) {
  HostContext context;
  KrylovBasis<T, HostContext> basis(context, A.row_range(), max_basis, block, false);
  LanczosRitz ritz(max_basis, block);
  basis.reset(nullptr, 3);
  basis.draw_front(context);
  for (int cycle = 0; cycle < 3; ++cycle) {
    basis.multiply(context, A);
    while (!basis.full()) {
      basis.expand(context, A);
      basis.multiply(context, A);
    }
    expect_decomposition(context, basis, A, norm);
    ASSERT_TRUE(ritz.solve(basis.projected().T(), basis.projected().column()));
    const Index kept = basis.order() - 2 * block;
    basis.restart(context, ritz.Z(kept), ritz.theta(kept));
    expect_decomposition(context, basis, A, norm);
    basis.expand(context, A);
  }
}

TYPED_TEST(KrylovBasisTyped, TheDecompositionHoldsBeforeAndAfterEveryRestart) {
  HostContext context;
  auto A = test::make_operator<TypeParam>(context, {"laplace2d", {18, 19}});
  for (const Index block : {1, 3, 4, 8}) {
    SCOPED_TRACE(block);
    expect_decomposition_through_restarts<TypeParam>(A, 8, block, 6 * block);
  }
}

TYPED_TEST(KrylovBasisTyped, TheDecompositionHoldsWhereStepsFindNothingNew) {
  std::vector<double> few(300, 1);  // three distinct values: each Krylov space ends at once
  std::fill_n(few.begin(), 100, 2.0);
  std::fill_n(few.begin() + 100, 5, -3.0);
  test::DiagonalOperator<TypeParam> steps(few);
  expect_decomposition_through_restarts<TypeParam>(steps, 3, 4, 40);
  test::DiagonalOperator<TypeParam> zero(std::vector<double>(300, 0));
  expect_decomposition_through_restarts<TypeParam>(zero, 1, 4, 24);
}

/// Rounding errors of a guess that is an invariant subspace of few rows lie in these rows, too.
TYPED_TEST(KrylovBasisTyped, TheDecompositionHoldsWhereAGuessSpansAllOfItsRows) {
  using T = TypeParam;
  HostContext context;
  const Index n = 60;
  std::vector<Triplet<T>> entries;
  for (const auto& [row, s] : {std::pair{Index{0}, 1e5 / 3}, std::pair{Index{2}, 1e3 / 7}}) {
    const T stiff = static_cast<T>(s), coupling = static_cast<T>(0.3 - s);
    entries.insert(entries.end(), {{row, row, stiff},
                                   {row + 1, row + 1, stiff},
                                   {row, row + 1, coupling},
                                   {row + 1, row, coupling}});
  }
  for (Index i = 4; i < n; ++i) entries.push_back({i, i, static_cast<T>(i)});
  SparseOperator<T, HostContext> A(context, csr_from_triplets<T>(context, n, n, entries));
  MultiVector<T, HostSpace> guess(context, n, 2);
  set_zero<T>(context, guess.view());
  for (const Index row : {0, 1, 2, 3}) guess.view()(row, row / 2) = static_cast<T>(std::sqrt(0.5));
  KrylovBasis<T, HostContext> basis(context, A.row_range(), 16, 2, false);
  basis.reset(nullptr, 3);
  basis.draw_front(context, guess.view());
  basis.multiply(context, A);
  while (!basis.full()) {
    basis.expand(context, A);
    basis.multiply(context, A);
    expect_decomposition(context, basis, A, 1e5);
  }
}

}  // namespace
}  // namespace heddle::detail
