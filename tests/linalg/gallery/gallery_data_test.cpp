#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <string>
#include <vector>

#include "support/matrix_dir.hpp"

namespace heddle {
namespace {

TEST(TrefethenData, IsTheMatrixOfTheCollection) {
  const auto folder = test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  HostContext context(2);
  for (const std::string file :
       {"Trefethen_500.mtx", "Trefethen_2000.mtx.gz", "Trefethen_20000.mtx.gz"}) {
    SCOPED_TRACE(file);
    const auto published = read_matrix_market<double>(context, *folder / file);
    const auto generated = generate<double>(context, {"trefethen", {published.rows()}});
    const CsrView<double, HostSpace> A = published.view();
    const CsrView<double, HostSpace> B = generated.view();
    ASSERT_EQ(A.nnz, B.nnz);
    EXPECT_TRUE(std::equal(A.row_offsets, A.row_offsets + A.rows + 1, B.row_offsets));
    EXPECT_TRUE(std::equal(A.columns, A.columns + A.nnz, B.columns));
    EXPECT_TRUE(std::equal(A.values, A.values + A.nnz, B.values));
  }
}

}  // namespace
}  // namespace heddle
