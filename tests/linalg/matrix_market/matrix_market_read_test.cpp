#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "support/csr_invariants.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace {

using test::csr_fault;
using test::to_dense;

template <class T>
class MatrixMarketRead : public testing::Test {
 protected:
  HostContext context_{2};

  HostCsrMatrix<T> parse(const std::string& text) {
    HostCsrMatrix<T> A = parse_matrix_market<T>(context_, text, "text");
    EXPECT_EQ(csr_fault(A.view()), "");
    return A;
  }
  Eigen::MatrixXd dense(const std::string& text) { return to_dense(parse(text).view()); }

  Eigen::MatrixXd block(const std::string& text) {
    const auto block = parse_matrix_market_block<T>(context_, text, "text");
    const ConstBlockView<T, HostSpace> X = block.view();
    Eigen::MatrixXd result(X.rows(), X.cols());
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) result(i, j) = static_cast<double>(X(i, j));
    }
    return result;
  }

  /// The one value of a 1×1 file whose value is written as `word`.
  T value(const std::string& word) {
    const auto A = parse("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 " + word);
    return A.view().values[0];
  }
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(MatrixMarketRead, Scalars);

Eigen::MatrixXd matrix(Index rows, Index cols, const std::vector<double>& by_rows) {
  return Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(by_rows.data(), rows,
                                                                          cols);
}

TYPED_TEST(MatrixMarketRead, GeneralRealInAnyOrder) {
  EXPECT_EQ(this->dense("%%MatrixMarket matrix coordinate real general\n% a comment\n%\n2 3 4\n"
                        "2 3 1.5\n1 1 -2\n2 1 4e1\n1 2 .25\n"),
            matrix(2, 3, {-2, 0.25, 0, 40, 0, 1.5}));
}

TYPED_TEST(MatrixMarketRead, BannerInAnyCaseAndSpacing) {
  for (const char* banner : {"%%MatrixMarket matrix coordinate real general\n",
                             "%%MATRIXMARKET MATRIX COORDINATE REAL GENERAL\n",
                             "%%matrixmarket  Matrix\tCoordinate   Double general  \r\n",
                             "\xEF\xBB\xBF%%MatrixMarket matrix coordinate real general\n",
                             "%%MatrixMarket matrix coordinate integer General\n"}) {
    EXPECT_EQ(this->dense(std::string(banner) + "1 2 1\n1 2 3\n"), matrix(1, 2, {0, 3})) << banner;
  }
}

TYPED_TEST(MatrixMarketRead, LinesMayBeBlankIndentedOrEndInCrLf) {
  EXPECT_EQ(this->dense("%%MatrixMarket matrix coordinate real general\r\n\r\n%comment\r\n"
                        "  \t\n % indented\n\t 2 2  2 \t\r\n\n  1\t1   5 \t \r\n \n2 2 6\r\n\n\n"),
            matrix(2, 2, {5, 0, 0, 6}));
  EXPECT_EQ(this->dense("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n2 2 6"),
            matrix(2, 2, {5, 0, 0, 6}));
}

TYPED_TEST(MatrixMarketRead, SymmetricIsExpanded) {
  EXPECT_EQ(this->dense("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n"
                        "1 1 2\n3 1 5\n3 2 -1\n2 2 7\n"),
            matrix(3, 3, {2, 0, 5, 0, 7, -1, 5, -1, 0}));
}

TYPED_TEST(MatrixMarketRead, SkewSymmetricIsExpandedWithItsSign) {
  EXPECT_EQ(
      this->dense("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 4\n3 2 -1\n"),
      matrix(3, 3, {0, -4, 0, 4, 0, 1, 0, -1, 0}));
}

TYPED_TEST(MatrixMarketRead, PatternEntriesAreOne) {
  EXPECT_EQ(this->dense("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 3"),
            matrix(3, 3, {1, 1, 0, 1, 0, 0, 0, 0, 1}));
}

TYPED_TEST(MatrixMarketRead, EmptyMatrices) {
  for (const char* size : {"0 0 0", "3 4 0\n", "0 7 0\n\n", "5 0 0"}) {
    const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
    EXPECT_EQ(this->parse(banner + size).nnz(), 0) << size;
    EXPECT_TRUE(this->block(banner + size).isZero()) << size;
  }
  EXPECT_EQ(this->parse("%%MatrixMarket matrix array real general\n0 0\n").nnz(), 0);
  EXPECT_EQ(this->parse("%%MatrixMarket matrix array real skew-symmetric\n1 1\n").nnz(), 0);
}

TYPED_TEST(MatrixMarketRead, ZerosOfACoordinateFileAreKept) {
  const auto A = this->parse(
      "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 0\n2 1 0.0\n2 2 1\n");
  EXPECT_EQ(A.nnz(), 4);
}

TYPED_TEST(MatrixMarketRead, DuplicatesAreSummedInTheOrderOfTheFile) {
  const TypeParam big = TypeParam{1} / std::numeric_limits<TypeParam>::epsilon();
  const std::string huge = std::to_string(static_cast<std::int64_t>(4 * big));
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n2 2 3\n";
  // The small one is lost if it is added to the large one first.
  EXPECT_EQ(this->dense(banner + "2 1 " + huge + "\n2 1 -" + huge + "\n2 1 1\n")(1, 0), 1);
  EXPECT_EQ(this->dense(banner + "2 1 1\n2 1 " + huge + "\n2 1 -" + huge + "\n")(1, 0), 0);
  EXPECT_EQ(this->block(banner + "2 1 1\n2 1 " + huge + "\n2 1 -" + huge + "\n")(1, 0), 0);
}

TYPED_TEST(MatrixMarketRead, NumbersInTheirManyForms) {
  EXPECT_EQ(this->value("1.0D+03"), 1000);
  EXPECT_EQ(this->value("-2.5d-1"), TypeParam(-0.25));
  EXPECT_EQ(this->value("+7"), 7);
  EXPECT_EQ(this->value("+.5E+1"), 5);
  EXPECT_EQ(this->value("3."), 3);
  EXPECT_EQ(this->value("0012"), 12);
  EXPECT_EQ(this->value("9007199254740993"), TypeParam(9007199254740992.0));  // 2⁵³ + 1
  EXPECT_EQ(this->value("123456789012345678901234567890"), TypeParam(1.2345678901234568e29));
  EXPECT_EQ(this->value(std::string(600, '0') + "5"), 5);
  EXPECT_EQ(this->value("0.1"), TypeParam(0.1L));
}

TYPED_TEST(MatrixMarketRead, ValuesTooSmallBecomeZero) {
  const std::vector<std::string> words = {"1e-400",
                                          "1D-400",
                                          "0.001e-397",
                                          "1000e-999",
                                          "1e-99999999999999999999",
                                          "0." + std::string(400, '0') + "1"};
  for (const std::string& word : words) {
    EXPECT_EQ(this->value(word), 0) << word;
    EXPECT_FALSE(std::signbit(this->value(word))) << word;
    EXPECT_TRUE(std::signbit(this->value("-" + word))) << word;
  }
  const TypeParam smallest = std::numeric_limits<TypeParam>::denorm_min();
  EXPECT_EQ(this->value(sizeof(TypeParam) == 4 ? "1.4e-45" : "4.94e-324"), smallest);
}

TYPED_TEST(MatrixMarketRead, ArrayRunsDownTheColumns) {
  const std::string general = "%%MatrixMarket matrix array real general\n3 2\n1\n2\n\n3\n4\n0\n6\n";
  EXPECT_EQ(this->block(general), matrix(3, 2, {1, 4, 2, 0, 3, 6}));
  EXPECT_EQ(this->dense(general), matrix(3, 2, {1, 4, 2, 0, 3, 6}));
  EXPECT_EQ(this->parse(general).nnz(), 5);  // the zero of an array is no entry
  EXPECT_EQ(this->block("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6"),
            matrix(3, 3, {1, 2, 3, 2, 4, 5, 3, 5, 6}));
  EXPECT_EQ(this->dense("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"),
            matrix(3, 3, {0, -1, -2, 1, 0, -3, 2, 3, 0}));
}

TYPED_TEST(MatrixMarketRead, BlockFromCoordinates) {
  EXPECT_EQ(this->block("%%MatrixMarket matrix coordinate real general\n3 2 2\n3 1 8\n1 2 -1\n"),
            matrix(3, 2, {0, -1, 0, 0, 8, 0}));
}

/// Text of more than a megabyte, so of several pieces: the lower triangle of a matrix of order n
/// with `per_row` entries a row, some given twice, and blank lines.
std::string large_symmetric_file(Index n, Index per_row) {
  std::mt19937_64 engine(11);
  std::string body;
  Index count = 0;
  for (Index k = 0; k < n * per_row; ++k) {
    const Index row = static_cast<Index>(engine() % static_cast<std::uint64_t>(n));
    const Index col = static_cast<Index>(engine() % static_cast<std::uint64_t>(row + 1));
    const double value = static_cast<double>(engine() >> 11) / 3.0e15;
    body += std::to_string(row + 1) + " " + std::to_string(col + 1) + " " + std::to_string(value);
    body += k % 17 == 0 ? "\r\n\n" : "\n";
    ++count;
  }
  return "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(n) + " " +
         std::to_string(n) + " " + std::to_string(count) + "\n" + body;
}

TYPED_TEST(MatrixMarketRead, LargeFilesGiveTheSameBitsForAnyNumberOfThreads) {
  const std::string text = large_symmetric_file(700, 100);
  ASSERT_GT(text.size(), std::size_t{1} << 20);
  const auto A = this->parse(text);
  EXPECT_TRUE(find_asymmetry(this->context_, A.view(), 0).empty());
  for (const int threads : {1, 5}) {
    HostContext context(threads);
    const auto B = parse_matrix_market<TypeParam>(context, text, "text");
    EXPECT_TRUE(test::same_bits(A.view(), B.view())) << threads;
  }
}

TYPED_TEST(MatrixMarketRead, LargeFilesAgreeWithASimpleReader) {
  const std::string text = large_symmetric_file(700, 100);
  std::map<std::pair<Index, Index>, TypeParam> expected;
  std::istringstream stream(text);
  std::string line;
  std::getline(stream, line);
  std::getline(stream, line);
  Index row = 0;
  Index col = 0;
  std::string word;
  while (stream >> row >> col >> word) {
    const TypeParam value = sizeof(TypeParam) == 4 ? static_cast<TypeParam>(std::stof(word))
                                                   : static_cast<TypeParam>(std::stod(word));
    expected[{row - 1, col - 1}] += value;
    if (row != col) expected[{col - 1, row - 1}] += value;
  }
  const auto A = this->parse(text);
  ASSERT_EQ(A.nnz(), static_cast<Index>(expected.size()));
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index k = A.view().row_offsets[i]; k < A.view().row_offsets[i + 1]; ++k) {
      ASSERT_EQ(A.view().values[k], expected.at({i, Index{A.view().columns[k]}}));
    }
  }
}

TYPED_TEST(MatrixMarketRead, LargeArraysFindTheirPlaces) {
  const Index n = 450;
  for (const char* symmetry : {"general", "symmetric", "skew-symmetric"}) {
    const bool general = std::string(symmetry) == "general";
    const bool skew = std::string(symmetry) == "skew-symmetric";
    std::string text = std::string("%%MatrixMarket matrix array real ") + symmetry + "\n450 450\n";
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(n, n);
    for (Index col = 0; col < n; ++col) {
      for (Index row = general ? 0 : skew ? col + 1 : col; row < n; ++row) {
        const Index value = row * n + col + 1;
        text += std::to_string(value) + ".00000\n";
        if (value % 1000 == 0) text += "\n";
        if (!general) expected(col, row) = static_cast<double>(skew ? -value : value);
        expected(row, col) = static_cast<double>(value);
      }
    }
    ASSERT_GT(text.size(), std::size_t{1} << 20);
    EXPECT_EQ(this->block(text), expected) << symmetry;
    EXPECT_EQ(this->dense(text), expected) << symmetry;
  }
}

}  // namespace
}  // namespace heddle
