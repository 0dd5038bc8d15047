#include <gtest/gtest.h>

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spmm/spmm.hpp>
#include <random>
#include <vector>

namespace heddle {
namespace {

using Complex = std::complex<double>;

/// A matrix with rows of 0 to many entries, of which two are long.
HostCsrMatrix<Complex> matrix(HostContext& context, Index rows, Index cols) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<Triplet<Complex>> entries;
  for (Index i = 0; i < rows; ++i) {
    const Index count = i % 97 == 5 ? cols : i % 7;
    for (Index k = 0; k < count; ++k) {
      entries.push_back({i,
                         static_cast<Index>(random() % static_cast<unsigned>(cols)),
                         {number(random), number(random)}});
    }
  }
  return csr_from_triplets<Complex>(context, rows, cols, entries);
}

double difference(HostContext& context, MultiVector<Complex, HostSpace>& X,
                  MultiVector<Complex, HostSpace>& Y) {
  axpby<Complex>(context, -1, Y.view(), 1, X.view());
  double norm = 0;
  for (Index j = 0; j < X.cols(); ++j) {
    double column = 0;
    column_norms<Complex>(context, X.columns(j, 1), {&column, 1, 1, 1});
    norm = std::max(norm, column);
  }
  return norm;
}

class ComplexSpmm : public ::testing::TestWithParam<Index> {};

TEST_P(ComplexSpmm, ProductsAndTermsAreThoseOfTheReference) {
  HostContext context(2);
  const Index N = GetParam(), n = 640;
  const HostCsrMatrix<Complex> A = matrix(context, n, n);
  const SpmmPlan<Complex, HostContext> plan(context, A.view());
  MultiVector<Complex, HostSpace> B(context, n, N), C(context, n, N), X(context, n, N),
      Y(context, n, N), D(context, n, N), W(context, n, N);
  std::uint64_t stream = 0;
  for (auto* block : {&B, &C, &X, &Y}) fill_random<Complex>(context, 1, stream++, block->view());
  copy<Complex>(context, C.view(), D.view());
  copy<Complex>(context, Y.view(), W.view());
  const Complex alpha(0.5, -1);
  SpmmEpilogue<Complex, HostSpace> terms{.beta = {0.25, 0.5},
                                         .gamma = {0, 2},
                                         .delta = {-1, 0},
                                         .X = X.view(),
                                         .eta = {0.5, 0.5},
                                         .Y = Y.view()};
  plan.multiply(context, alpha, B.view(), terms, C.view());
  terms.Y = W.view();
  reference_spmm<Complex>(alpha, A.view(), B.view(), terms, D.view());
  EXPECT_LT(difference(context, C, D), 1e-11);
  EXPECT_LT(difference(context, Y, W), 1e-11);
}

TEST_P(ComplexSpmm, TransposedProductsTakeTheAdjoint) {
  HostContext context(2);
  const Index N = GetParam();
  const HostCsrMatrix<Complex> A = matrix(context, 300, 200);
  const SpmmPlan<Complex, HostContext> plan(context, A.view());
  MultiVector<Complex, HostSpace> B(context, 300, N), C(context, 200, N), D(context, 200, N);
  fill_random<Complex>(context, 1, 0, B.view());
  plan.multiply_transposed(context, 1, B.view(), 0, C.view());
  reference_spmm<Complex>(1, adjoint(context, A.view()).view(), B.view(), Complex(0), D.view());
  EXPECT_LT(difference(context, C, D), 1e-11);
}

TEST_P(ComplexSpmm, TheBitsDoNotDependOnTheThreads) {
  HostContext one(1), three(3);
  const Index N = GetParam(), n = 3000;
  const HostCsrMatrix<Complex> A = matrix(one, n, n);
  MultiVector<Complex, HostSpace> B(one, n, N), C(one, n, N), D(one, n, N);
  fill_random<Complex>(one, 1, 0, B.view());
  SpmmPlan<Complex, HostContext>(one, A.view()).multiply(one, 1, B.view(), 0, C.view());
  SpmmPlan<Complex, HostContext>(three, A.view()).multiply(three, 1, B.view(), 0, D.view());
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < N; ++j) ASSERT_EQ(C.view()(i, j), D.view()(i, j));
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, ComplexSpmm, ::testing::Values(1, 2, 3, 8, 13, 32, 70));

}  // namespace
}  // namespace heddle
