#include <gtest/gtest.h>

#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>

#include "spgemm/real_matrices.hpp"
#include "spgemm/spgemm_truth.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

/// The first difference of C from the product of the host, which has tests of its own. `size` is
/// the product of the absolute values, which limits the rounding errors.
template <class T>
std::string difference(CsrView<T, HostSpace> C, CsrView<T, HostSpace> expected,
                       CsrView<T, HostSpace> size, double terms) {
  if (C.nnz != expected.nnz) return "another number of entries";
  if (!std::equal(C.row_offsets, C.row_offsets + C.rows + 1, expected.row_offsets))
    return "offsets";
  if (!std::equal(C.columns, C.columns + C.nnz, expected.columns)) return "columns";
  for (Index e = 0; e < C.nnz; ++e) {
    const double error = std::abs(static_cast<double>(C.values[e]) - expected.values[e]);
    if (!(error <= test::tolerance<T>(size.values[e], terms, 4))) {
      return "value of entry " + std::to_string(e);
    }
  }
  return "";
}

class SpgemmCudaData : public test::CudaTest {
 protected:
  template <class T>
  void check(const HostCsrMatrix<T>& A, const HostCsrMatrix<T>& B) {
    const auto left = place(context(), convert<T>(host_, A.view()));
    const auto right = place(context(), convert<T>(host_, B.view()));
    const auto C = fetch(context(), host_, spgemm<T>(context(), left.view(), right.view()).view());
    const auto again =
        fetch(context(), host_, spgemm<T>(context(), left.view(), right.view()).view());
    EXPECT_TRUE(test::same_bits(C.view(), again.view()));
    const auto expected = spgemm<T>(host_, A.view(), B.view());
    const auto size =
        spgemm<T>(host_, absolute(host_, A.view()).view(), absolute(host_, B.view()).view());
    EXPECT_EQ(difference(C.view(), expected.view(), size.view(), static_cast<double>(A.cols())),
              "");
  }

  HostContext host_;
};

TEST_F(SpgemmCudaData, ProductsOfRealMatricesAreThoseOfTheHost) {
  const auto folder = test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  constexpr Index kMostEntries = 1000000;
  int products = 0;
  for (const auto& file : test::real_matrices(*folder, kMostEntries)) {
    SCOPED_TRACE(file);
    const auto A = read_matrix_market<double>(host_, file);
    check<double>(A, transpose<double>(host_, A.view()));
    ++products;
    if (A.rows() != A.cols()) continue;
    check<double>(A, A);
    check<float>(convert<float>(host_, A.view()), convert<float>(host_, A.view()));
  }
  EXPECT_GT(products, 100);
}

TEST_F(SpgemmCudaData, ProductsOfGraphs) {
  for (const Index scale : {12, 14}) {
    SCOPED_TRACE(scale);
    const auto A = generate<double>(host_, {"rmat", {scale}, 8});
    check<double>(A, A);
  }
}

}  // namespace
}  // namespace heddle
