#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/matrix_market/by_parts.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/csr_invariants.hpp"
#include "support/dense.hpp"
#include "support/temporary_folder.hpp"

namespace heddle {
namespace {

using Complex = std::complex<double>;
using Matrix = Eigen::MatrixXcd;
constexpr Complex kI{0, 1};

const std::string kCoordinate = "%%MatrixMarket matrix coordinate complex ";
const std::string kArray = "%%MatrixMarket matrix array complex ";

Matrix dense(const std::string& text, int threads = 2) {
  HostContext context(threads);
  const auto A = parse_matrix_market<Complex>(context, text, "text");
  EXPECT_EQ(test::csr_fault(A.view()), "");
  return test::to_dense(A.view());
}

Matrix block(const std::string& text) {
  HostContext context(2);
  const auto X = parse_matrix_market_block<Complex>(context, text, "text");
  return test::to_dense(std::as_const(X).view());
}

void expect_both(const std::string& text, const Matrix& expected) {
  EXPECT_EQ(dense(text), expected) << text;
  EXPECT_EQ(block(text), expected) << text;
}

TEST(MatrixMarketComplex, SymmetriesOfCoordinateFiles) {
  const std::string lower = "3 3 3\n2 1 1.5 -2\n3 2 -1 4\n";
  expect_both(kCoordinate + "general\n2 3 3\n1 3 1 2\n2 1 -0.5 +1D1\n1 3 1 1\n",
              Matrix{{0, 0, 2.0 + 3.0 * kI}, {-0.5 + 10.0 * kI, 0, 0}});
  expect_both(
      kCoordinate + "hermitian\n" + lower + "2 2 7 0\n",
      Matrix{
          {0, 1.5 + 2.0 * kI, 0}, {1.5 - 2.0 * kI, 7, -1.0 - 4.0 * kI}, {0, -1.0 + 4.0 * kI, 0}});
  expect_both(kCoordinate + "symmetric\n" + lower + "2 2 7 1\n",
              Matrix{{0, 1.5 - 2.0 * kI, 0},
                     {1.5 - 2.0 * kI, 7.0 + kI, -1.0 + 4.0 * kI},
                     {0, -1.0 + 4.0 * kI, 0}});
  expect_both(kCoordinate + "skew-symmetric\n" + lower + "3 1 0 1\n",
              Matrix{{0, -1.5 + 2.0 * kI, -kI},
                     {1.5 - 2.0 * kI, 0, 1.0 - 4.0 * kI},
                     {kI, -1.0 + 4.0 * kI, 0}});
}

TEST(MatrixMarketComplex, SymmetriesOfArrays) {
  expect_both(kArray + "general\n2 2\n1 2\n0 0\r\n\n3 -4\n0 5\n",
              Matrix{{1.0 + 2.0 * kI, 3.0 - 4.0 * kI}, {0, 5.0 * kI}});
  expect_both(kArray + "hermitian\n2 2\n1 0\n3 -4\n6 -0\n",
              Matrix{{1, 3.0 + 4.0 * kI}, {3.0 - 4.0 * kI, 6}});
  expect_both(kArray + "symmetric\n2 2\n1 1\n3 -4\n6 2\n",
              Matrix{{1.0 + kI, 3.0 - 4.0 * kI}, {3.0 - 4.0 * kI, 6.0 + 2.0 * kI}});
  expect_both(kArray + "skew-symmetric\n2 2\n3 -4\n",
              Matrix{{0, -3.0 + 4.0 * kI}, {3.0 - 4.0 * kI, 0}});
  HostContext context(1);
  const std::string text = kArray + "general\n2 2\n1 2\n0 0\n0 -0\n0 5\n";
  EXPECT_EQ(parse_matrix_market<Complex>(context, text, "text").nnz(), 2);  // zeros are no entries
}

TEST(MatrixMarketComplex, RealFilesHaveNoImaginaryPart) {
  expect_both("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1.5\n2 1 -2\n",
              Matrix{{1.5, -2}, {-2, 0}});
  expect_both("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n",
              Matrix{{0, -3}, {3, 0}});
  expect_both("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n", Matrix{{0, 1}});
  expect_both("%%MatrixMarket matrix array real general\n1 2\n4\n5\n", Matrix{{4, 5}});
}

TEST(MatrixMarketComplex, LargeHermitianFilesAreHermitianToTheBit) {
  constexpr Index n = 400;
  std::mt19937 engine(3);
  std::string text = kCoordinate + "hermitian\n400 400 40000\n";
  Matrix expected = Matrix::Zero(n, n);
  for (int k = 0; k < 40000; ++k) {
    const auto i = static_cast<Index>(engine() % static_cast<unsigned>(n));
    const auto j = static_cast<Index>(engine() % static_cast<unsigned>(i + 1));
    const double re = static_cast<double>(engine() % 1000) / 8;
    const double im = i == j ? 0 : static_cast<double>(engine() % 1000) / 8;
    text += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + std::to_string(re) + " " +
            std::to_string(im) + "\n";
    expected(i, j) += Complex(re, im);  // multiples of 1/8, whose sums are exact
    if (i != j) expected(j, i) += Complex(re, -im);
  }
  ASSERT_GT(text.size(), std::size_t{1} << 19);
  EXPECT_EQ(dense(text, 1), expected);
  EXPECT_EQ(dense(text, 5), expected);
}

/// The message with which a reader refuses `text`, without the name of the file.
template <class T>
std::string refusal(const std::string& text, std::size_t line) {
  HostContext context(2);
  try {
    parse_matrix_market<T>(context, text, "file.mtx");
    ADD_FAILURE() << "was read: " << text;
  } catch (const InputError& error) {
    EXPECT_EQ(error.line(), line) << error.what();
    EXPECT_THROW(parse_matrix_market_block<T>(context, text, "file.mtx"), InputError);
    return error.what();
  }
  return {};
}

void expect_refused(const std::string& text, std::size_t line, const std::string& words) {
  const std::string message = refusal<Complex>(text, line);
  EXPECT_NE(message.find(words), message.npos) << message << "\nlacks: " << words;
}

TEST(MatrixMarketComplexErrors, Values) {
  const auto with_value = [](const std::string& value) {
    return kCoordinate + "general\n% comment\n2 2 2\n2 2 1 0\n1 1 " + value + "\n";
  };
  const std::vector<std::pair<std::string, std::string>> values = {
      {"", "the value is missing"},
      {"1", "the imaginary part of the value is missing"},
      {"1 \t\r", "the imaginary part of the value is missing"},
      {"x 1", "the value 'x' is not a number"},
      {"1 y", "the value 'y' is not a number"},
      {"1+2i", "the value '1+2i' is not a number"},
      {"(1,2)", "the value '(1,2)' is not a number"},
      {"1 2i", "the value '2i' is not a number"},
      {"nan 1", "the value 'nan' is not finite"},
      {"1 NaN", "the value 'NaN' is not finite"},
      {"1 -inf", "the value '-inf' is not finite"},
      {"1e999 1", "the value '1e999' is too large"},
      {"1 -1e999", "the value '-1e999' is too large"},
      {"1 2 3", "'3' follows the entry"}};
  for (const auto& [value, words] : values) expect_refused(with_value(value), 5, words);
  expect_refused(kArray + "general\n1 2\n1 0\n2\n", 4,
                 "the imaginary part of the value is missing");
  expect_refused(kArray + "general\n1 2\n1 0\n2 0 7\n", 4, "'7' follows the entry");
  expect_refused(kArray + "general\n1 2\n1 0\n", 3, "the file ends after 1 of the 2 entries");
  expect_refused(kCoordinate + "general\n2 2 2\n1 1 1 0\n", 3, "ends after 1 of the 2 entries");
  expect_refused(kCoordinate + "general\n1 1 2\n1 1 1 1e308\n1 1 1 1e308\n", 0,
                 "entries given twice have a sum that is not finite");
  expect_refused("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1 0\n", 3,
                 "'0' follows the entry");
  expect_refused("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", 3,
                 "the value '1.5' is not an integer");
}

TEST(MatrixMarketComplexErrors, Symmetries) {
  expect_refused(
      kCoordinate + "hermitian\n2 2 2\n2 1 1 1\n2 2 3 1e-300\n", 4,
      "an entry of the diagonal has the imaginary part '1e-300', but that of a Hermitian "
      "matrix is real");
  expect_refused(kArray + "hermitian\n2 2\n1 0\n\n2 3\n4 -5\n", 6,
                 "an entry of the diagonal has the imaginary part '-5'");
  expect_refused(kCoordinate + "hermitian\n2 2 1\n1 2 1 1\n", 3, "lies above the diagonal");
  expect_refused(kCoordinate + "hermitian\n2 3 1\n2 1 1 1\n", 2, "the matrix is 2x3, not square");
  expect_refused(kCoordinate + "skew-symmetric\n2 2 1\n1 1 0 1\n", 3, "lies on the diagonal");
  for (const std::string field : {"real", "integer", "pattern"}) {
    expect_refused("%%MatrixMarket matrix coordinate " + field + " hermitian\n1 1 0\n", 1,
                   "the banner says 'hermitian': Hermitian files hold complex numbers, real ones "
                   "are 'symmetric'");
  }
}

TEST(MatrixMarketComplexErrors, RealReadersRefuseComplexFiles) {
  for (const std::string& text :
       {kCoordinate + "hermitian\n1 1 1\n1 1 1 0\n", kArray + "general\n1 1\n1 0\n"}) {
    for (const std::string& message : {refusal<double>(text, 1), refusal<float>(text, 1)}) {
      EXPECT_NE(message.find("the banner says 'complex': complex numbers cannot be read as real "
                             "ones"),
                message.npos)
          << message;
    }
  }
  const test::TemporaryFolder folder;
  EXPECT_FALSE(file_by_parts(folder.write("a.mtx", kCoordinate + "general\n1 1 1\n1 1 1 0\n")));
}

/// Values of every size, with all their digits.
std::vector<Triplet<Complex>> difficult_entries(Index n) {
  std::mt19937_64 engine(5);
  const auto part = [&] {
    double value = 0;
    do {
      const std::uint64_t bits = engine();
      std::memcpy(&value, &bits, sizeof value);
    } while (!std::isfinite(value));
    return value;
  };
  std::vector<Triplet<Complex>> entries = {
      {0, 0, {std::numeric_limits<double>::lowest(), 0}},
      {1, 0, {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()}}};
  for (Index k = 2; k < n; ++k) entries.push_back({k, (k * k) % k, {part(), part()}});
  for (Index k = 2; k < n; ++k) entries.push_back({k, k / 2, {part(), part()}});
  return entries;
}

TEST(MatrixMarketComplex, WriteAndReadGiveTheSameBits) {
  HostContext context(2);
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a.mtx";
  const auto lower = difficult_entries(20000);
  const auto A = csr_from_triplets<Complex>(context, 20000, 20000, lower);
  write_matrix_market(path, A.view());
  EXPECT_EQ(test::contents(path).find("%%MatrixMarket matrix coordinate complex general\n"), 0u);
  EXPECT_TRUE(test::same_bits(read_matrix_market<Complex>(context, path).view(), A.view()));

  std::vector<Triplet<Complex>> both = lower;
  for (const auto& entry : lower) {
    if (entry.row != entry.col) both.push_back({entry.col, entry.row, std::conj(entry.value)});
  }
  const auto H = csr_from_triplets<Complex>(context, 20000, 20000, both);
  write_matrix_market(path, H.view(), true);
  EXPECT_EQ(test::contents(path).find("%%MatrixMarket matrix coordinate complex hermitian\n"), 0u);
  EXPECT_TRUE(test::same_bits(read_matrix_market<Complex>(context, path).view(), H.view()));
}

TEST(MatrixMarketComplex, WrittenTextIsAsThePaperHasIt) {
  HostContext context(1);
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a.mtx";
  const std::vector<Triplet<Complex>> entries = {{0, 0, 2}, {0, 1, {0.1, -3}}, {1, 0, {0.1, 3}}};
  const auto A = csr_from_triplets<Complex>(context, 2, 2, entries);
  write_matrix_market(path, A.view());
  EXPECT_EQ(test::contents(path), kCoordinate + "general\n2 2 3\n1 1 2 0\n1 2 0.1 -3\n2 1 0.1 3\n");
  write_matrix_market(path, A.view(), true);
  EXPECT_EQ(test::contents(path), kCoordinate + "hermitian\n2 2 2\n1 1 2 0\n2 1 0.1 3\n");
  MultiVector<Complex, HostSpace> X(context, 2, 2);
  X.view()(0, 0) = 1;
  X.view()(1, 0) = {-0.5, 1e30};
  X.view()(0, 1) = kI;
  X.view()(1, 1) = 0;
  write_matrix_market<Complex>(path, std::as_const(X).view());
  const std::string text = test::contents(path);
  EXPECT_EQ(text, kArray + "general\n2 2\n1 0\n-0.5 1e+30\n0 1\n0 0\n");
  EXPECT_EQ(block(text), test::to_dense(std::as_const(X).view()));
}

}  // namespace
}  // namespace heddle
