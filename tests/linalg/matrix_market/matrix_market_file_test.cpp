#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/csr_invariants.hpp"
#include "support/dense.hpp"
#include "support/file_size_limit.hpp"
#include "support/matrices.hpp"
#include "support/random_block.hpp"
#include "support/temporary_folder.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;
using test::contents;
using test::listing;
using test::same_bits;

const std::string kSmall = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n2 1 6\n";

/// `mode` as gzopen takes it: "wb" for a new file, "ab" for a further member.
void write_gz(const fs::path& path, const std::string& text, const char* mode = "wb") {
  const gzFile file = gzopen(path.c_str(), mode);
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
}

template <class T>
class MatrixMarketFile : public testing::Test {
 protected:
  HostContext context_{2};
  test::TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "matrix.mtx";

  void write(const std::string& text) { folder_.write(path_.filename(), text); }

  Eigen::MatrixXd read() { return test::to_dense(read_matrix_market<T>(context_, path_).view()); }

  void expect_refused(const std::string& word) {
    try {
      read_matrix_market<T>(context_, path_);
      ADD_FAILURE() << "was read, but expected: " << word;
    } catch (const InputError& error) {
      EXPECT_EQ(error.path(), path_.string());
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
    EXPECT_THROW(read_matrix_market_block<T>(context_, path_), InputError);
  }
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(MatrixMarketFile, Scalars);

TYPED_TEST(MatrixMarketFile, PlainAndGzippedAreToldApartByContent) {
  const Eigen::Matrix2d expected{{5, 0}, {6, 0}};
  this->write(kSmall);
  EXPECT_EQ(this->read(), expected);
  write_gz(this->path_, kSmall);  // no .gz in the name
  EXPECT_EQ(this->read(), expected);
  this->path_ += ".gz";
  this->write(kSmall);  // not gzip in spite of the name
  EXPECT_EQ(this->read(), expected);
}

TYPED_TEST(MatrixMarketFile, GzipMembersFollowEachOther) {
  write_gz(this->path_, kSmall.substr(0, 50));
  write_gz(this->path_, kSmall.substr(50), "ab");
  EXPECT_EQ(this->read(), (Eigen::Matrix2d{{5, 0}, {6, 0}}));
}

TYPED_TEST(MatrixMarketFile, LargeGzippedText) {
  // Compresses so well that the text is much larger than the file suggests.
  const Index count = 200000;
  std::string text =
      "%%MatrixMarket matrix coordinate pattern general\n1 1 " + std::to_string(count);
  text += "\n";
  for (Index k = 0; k < count; ++k) text += "1 1\n";
  write_gz(this->path_, text);
  ASSERT_LT(fs::file_size(this->path_), std::size_t{1} << 14);
  EXPECT_EQ(this->read()(0, 0), static_cast<double>(count));
}

TYPED_TEST(MatrixMarketFile, FilesThatCannotBeRead) {
  this->expect_refused("No such file");
  this->path_ = this->folder_.path();
  this->expect_refused("folder");
  this->path_ = this->folder_.path() / "empty.mtx";
  this->write("");
  this->expect_refused("empty");
}

TYPED_TEST(MatrixMarketFile, DamagedGzip) {
  std::string text = kSmall.substr(0, 46) + "300 300 20000\n";
  std::mt19937 engine(1);
  for (int k = 0; k < 20000; ++k) {
    text +=
        std::to_string(engine() % 300 + 1) + " " + std::to_string(engine() % 300 + 1) + " 1.5\n";
  }
  write_gz(this->path_, text);
  const std::string whole = contents(this->path_);
  for (const std::size_t size :
       {std::size_t{5}, std::size_t{40}, whole.size() / 2, whole.size() - 1}) {
    this->write(whole.substr(0, size));
    this->expect_refused("truncated");
  }
  std::string damaged = whole;
  damaged[whole.size() - 6] = static_cast<char>(damaged[whole.size() - 6] ^ 1);  // the checksum
  this->write(damaged);
  this->expect_refused("damaged gzip data");
}

/// Values of every size, with all their digits: none may change a bit on its way through a file.
template <class T>
std::vector<Triplet<T>> difficult_entries(Index n) {
  std::vector<Triplet<T>> entries = {{0, 0, std::numeric_limits<T>::max()},
                                     {1, 0, std::numeric_limits<T>::lowest()},
                                     {1, 1, std::numeric_limits<T>::min()},
                                     {2, 0, std::numeric_limits<T>::denorm_min()},
                                     {2, 1, T{-0.0}},
                                     {2, 2, T{1} / 3},
                                     {3, 3, 1}};
  std::mt19937_64 engine(5);
  while (static_cast<Index>(entries.size()) < 40000) {
    const std::uint64_t bits = engine();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    const auto row = static_cast<Index>(engine() % static_cast<std::uint64_t>(n - 4)) + 4;
    const auto col = static_cast<Index>(engine() % static_cast<std::uint64_t>(row + 1));
    if (std::isfinite(value)) entries.push_back({row, col, value});
  }
  return entries;
}

TYPED_TEST(MatrixMarketFile, WriteAndReadGiveTheSameBits) {
  const Index n = 100000;  // so that few of the difficult entries fall on the same place
  const auto A =
      csr_from_triplets<TypeParam>(this->context_, n, n, difficult_entries<TypeParam>(n));
  write_matrix_market(this->path_, A.view());
  EXPECT_TRUE(
      same_bits(read_matrix_market<TypeParam>(this->context_, this->path_).view(), A.view()));
  EXPECT_EQ(listing(this->folder_.path()).size(), 1u);
}

TYPED_TEST(MatrixMarketFile, SymmetricFilesHoldTheLowerTriangle) {
  const auto lower = difficult_entries<TypeParam>(100000);
  std::vector<Triplet<TypeParam>> both = lower;
  for (const auto& entry : lower) {
    if (entry.row != entry.col) both.push_back({entry.col, entry.row, entry.value});
  }
  const auto A = csr_from_triplets<TypeParam>(this->context_, 100000, 100000, both);
  write_matrix_market(this->path_, A.view(), true);
  const std::string text = contents(this->path_);
  EXPECT_NE(text.find("coordinate real symmetric\n100000 100000 "), text.npos);
  EXPECT_TRUE(
      same_bits(read_matrix_market<TypeParam>(this->context_, this->path_).view(), A.view()));

  const auto rectangular = csr_from_triplets<TypeParam>(this->context_, 2, 3, {});
  EXPECT_THROW(write_matrix_market(this->path_, rectangular.view(), true), InvalidArgument);
  EXPECT_EQ(contents(this->path_), text);
}

TYPED_TEST(MatrixMarketFile, WrittenTextIsAsThePaperHasIt) {
  const auto A = csr_from_triplets<TypeParam>(
      this->context_, 3, 2, std::vector<Triplet<TypeParam>>{{2, 0, TypeParam(0.1)}, {0, 1, -2}});
  write_matrix_market(this->path_, A.view());
  EXPECT_EQ(contents(this->path_),
            "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 2 -2\n3 1 0.1\n");
  MultiVector<TypeParam, HostSpace> X(this->context_, 2, 2);
  X.view()(0, 0) = 1;
  X.view()(1, 0) = TypeParam(-0.5);
  X.view()(0, 1) = TypeParam(1e30);
  X.view()(1, 1) = 0;
  write_matrix_market<TypeParam>(this->path_, X.view());
  EXPECT_EQ(contents(this->path_),
            "%%MatrixMarket matrix array real general\n2 2\n1\n-0.5\n1e+30\n0\n");
}

TYPED_TEST(MatrixMarketFile, BlocksKeepTheirBits) {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{0, 0}, {0, 3}, {5, 0}, {1, 1}, {20011, 3}}) {
    test::RandomBlock<TypeParam> random(rows, cols, cols + 5, 7);
    if (rows > 10) random.view()(7, 1) = -TypeParam{0};
    write_matrix_market<TypeParam>(this->path_, random.view());
    const auto block = read_matrix_market_block<TypeParam>(this->context_, this->path_);
    const ConstBlockView<TypeParam, HostSpace> X = block.view();
    ASSERT_EQ(X.rows(), rows);
    ASSERT_EQ(X.cols(), cols);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < cols; ++j) {
        const TypeParam expected = random.view()(i, j);
        ASSERT_EQ(std::memcmp(&X(i, j), &expected, sizeof expected), 0) << i << ", " << j;
      }
    }
  }
}

TYPED_TEST(MatrixMarketFile, FullDiskLeavesNothingBehind) {
  const auto A = test::band_matrix<TypeParam>(2000, 2000, 3);
  test::RandomBlock<TypeParam> X(2000, 3, 4, 1);
  const test::FileSizeLimit limit(10000);
  EXPECT_THROW(write_matrix_market(this->path_, A.view()), InputError);
  EXPECT_THROW(write_matrix_market<TypeParam>(this->path_, X.view()), InputError);
  EXPECT_TRUE(listing(this->folder_.path()).empty());
}

}  // namespace
}  // namespace heddle
