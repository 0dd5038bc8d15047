#include <gtest/gtest.h>

#include <fstream>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/csr_invariants.hpp"
#include "support/matrix_dir.hpp"
#include "support/temporary_folder.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

/// A line of MANIFEST.tsv: what a real matrix's file holds.
struct RealMatrix {
  std::string file;
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;  // of the expanded matrix
  std::string field;
  std::string symmetry;
};

std::vector<RealMatrix> read_manifest(const fs::path& folder) {
  std::ifstream stream(folder / "MANIFEST.tsv");
  std::string line;
  std::getline(stream, line);
  std::vector<RealMatrix> matrices;
  while (std::getline(stream, line)) {
    std::vector<std::string> cells;
    std::istringstream words(line);
    for (std::string cell; std::getline(words, cell, '\t');) cells.push_back(cell);
    matrices.push_back({cells.at(1), std::stoll(cells.at(2)), std::stoll(cells.at(3)),
                        std::stoll(cells.at(5)), cells.at(6), cells.at(7)});
  }
  return matrices;
}

class MatrixMarketData : public testing::Test {
 protected:
  void SetUp() override {
    const auto folder = test::matrix_dir();
    if (!folder) GTEST_SKIP() << "no matrix folder";
    folder_ = *folder;
    matrices_ = read_manifest(folder_);
  }

  HostContext context_{2};
  fs::path folder_;
  std::vector<RealMatrix> matrices_;
};

TEST_F(MatrixMarketData, EveryFileIsReadAsTheManifestHasIt) {
  Index read = 0;
  Index refused = 0;
  for (const RealMatrix& matrix : matrices_) {
    SCOPED_TRACE(matrix.file);
    if (matrix.field == "complex") {
      EXPECT_THROW(read_matrix_market<double>(context_, folder_ / matrix.file), InputError);
      ++refused;
      continue;
    }
    const auto A = read_matrix_market<double>(context_, folder_ / matrix.file);
    EXPECT_EQ(A.rows(), matrix.rows);
    EXPECT_EQ(A.cols(), matrix.cols);
    EXPECT_EQ(A.nnz(), matrix.nnz);
    EXPECT_EQ(test::csr_fault(A.view()), "");
    if (matrix.symmetry == "symmetric") {
      EXPECT_TRUE(find_asymmetry(context_, A.view(), 0).empty());
    }
    ++read;
  }
  EXPECT_GT(read, 0);
  RecordProperty("read", std::to_string(read));
  RecordProperty("refused", std::to_string(refused));
}

TEST_F(MatrixMarketData, SmallOnesKeepTheirBitsThroughAFile) {
  constexpr Index kMostEntries = 20000;
  const test::TemporaryFolder temporary;
  const fs::path path = temporary.path() / "copy.mtx";
  for (const RealMatrix& matrix : matrices_) {
    if (matrix.field == "complex" || matrix.nnz > kMostEntries) continue;
    SCOPED_TRACE(matrix.file);
    const auto A = read_matrix_market<double>(context_, folder_ / matrix.file);
    write_matrix_market(path, A.view(), matrix.symmetry == "symmetric");
    EXPECT_TRUE(test::same_bits(read_matrix_market<double>(context_, path).view(), A.view()));
  }
}

}  // namespace
}  // namespace heddle
