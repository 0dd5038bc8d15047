#include <gtest/gtest.h>

#include <cstdint>
#include <drivers/chain.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/base/error.hpp>
#include <span>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle {
namespace {

using test::Chain;

TEST(MatrixView, WideOffsetsAreNotCopied) {
  const Chain<std::int64_t> chain(9);
  const Matrix A = chain.matrix();
  EXPECT_EQ(A.rows(), 9);
  EXPECT_EQ(A.nnz(), 25);
  EXPECT_EQ(A.view().row_offsets, chain.row_offsets.data());
  EXPECT_EQ(A.view().columns, chain.columns.data());
  EXPECT_EQ(A.view().values, chain.values.data());
}

TEST(MatrixView, OfNarrowOffsetsOnlyTheseAreCopied) {
  const Chain<std::int32_t> chain(9);
  const Matrix A = chain.matrix();
  EXPECT_EQ(A.view().columns, chain.columns.data());
  EXPECT_EQ(A.view().values, chain.values.data());
  ASSERT_EQ(static_cast<const void*>(A.view().row_offsets) !=
                static_cast<const void*>(chain.row_offsets.data()),
            true);
  for (std::size_t i = 0; i < chain.row_offsets.size(); ++i) {
    EXPECT_EQ(A.view().row_offsets[i], chain.row_offsets[i]);
  }
}

TEST(MatrixView, FloatsAreWidened) {
  const Chain<std::int64_t, float> chain(9);
  const Matrix A = chain.matrix();
  EXPECT_EQ(A.view().row_offsets, chain.row_offsets.data());
  EXPECT_EQ(A.view().columns, chain.columns.data());
  EXPECT_EQ(A.view().values[0], 2.0);
  EXPECT_EQ(A.view().values[1], -1.0);
}

TEST(MatrixView, PointersReferToTheArraysOfTheCaller) {
  const Chain<std::int64_t> chain(9);
  const Matrix A(9, 9, chain.row_offsets.data(), chain.columns.data(), chain.values.data());
  EXPECT_EQ(A.nnz(), 25);
  EXPECT_EQ(A.view().row_offsets, chain.row_offsets.data());
  EXPECT_EQ(A.view().columns, chain.columns.data());
  EXPECT_EQ(A.view().values, chain.values.data());
  const double* const none = nullptr;
  EXPECT_THROW(Matrix(9, 9, chain.row_offsets.data(), chain.columns.data(), none), InvalidArgument);
  for (const Index rows : {-1, -2}) {
    EXPECT_THROW(
        Matrix(rows, 9, chain.row_offsets.data(), chain.columns.data(), chain.values.data()),
        InvalidArgument);
  }
}

TEST(MatrixView, ArraysOfCAreRanges) {
  const std::int64_t row_offsets[] = {0, 1, 2};
  const std::int32_t columns[] = {0, 1};
  const double values[] = {3, 5};
  EXPECT_EQ(Matrix(2, 2, row_offsets, columns, values).nnz(), 2);
}

TEST(MatrixView, WideColumnsAreNarrowed) {
  const Chain<std::int64_t> chain(9);
  const std::vector<std::int64_t> columns(chain.columns.begin(), chain.columns.end());
  const std::vector<std::int32_t> offsets(chain.row_offsets.begin(), chain.row_offsets.end());
  for (const Matrix& A :
       {Matrix(9, 9, chain.row_offsets, columns, chain.values),
        Matrix(9, 9, chain.row_offsets.data(), columns.data(), chain.values.data()),
        Matrix(9, 9, offsets, columns, chain.values)}) {
    EXPECT_EQ(A.view().values, chain.values.data());
    for (std::size_t k = 0; k < columns.size(); ++k) {
      EXPECT_EQ(A.view().columns[k], chain.columns[k]);
    }
  }
}

TEST(MatrixView, ColumnsBeyond32BitsAreRefused) {
  const std::vector<std::int64_t> row_offsets = {0, 1};
  const std::vector<std::int64_t> columns = {(std::int64_t{1} << 32) + 1};  // 1, if cut to 32 bits
  const std::vector<double> values = {7};
  const auto message = [&](Index cols) -> std::string {
    try {
      Matrix(1, cols, row_offsets, columns, values);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(3),
            "Matrix: row 0 has column 4294967297 where 0 to 2 can stand: columns ascend in a row "
            "and are counted from 0");
  EXPECT_EQ(message(Index{1} << 33),
            "CsrMatrix: 8589934592 columns, but 32-bit indices can name no more than 2147483647");
}

TEST(MatrixView, ASolveOnTheHostCopiesNoMatrix) {
  constexpr Index kOrder = 40000;
  const Chain<std::int64_t> chain(kOrder);
  Device device(DeviceChoice::host, 1);
  const Request request{
      .nev = 1, .which = Which::largest, .max_iterations = 1, .preconditioner = {.type = "none"}};
  Request lobpcg = request;
  lobpcg.method = Method::lobpcg;
  const auto peak_bytes = [&](Matrix A) {
    Device fresh(DeviceChoice::host, 1);
    return solve(fresh, {.A = std::move(A)}, lobpcg).peak_bytes;
  };
  HostContext context(1);
  Device owner(DeviceChoice::host, 1);
  // An owned matrix in the memory of the device counts there, a view does not.
  HostCsrMatrix<double> owned(owner.host(), kOrder, kOrder,
                              static_cast<Index>(chain.columns.size()));
  std::copy(chain.row_offsets.begin(), chain.row_offsets.end(), owned.row_offsets());
  std::copy(chain.columns.begin(), chain.columns.end(), owned.columns());
  std::copy(chain.values.begin(), chain.values.end(), owned.values());
  const std::size_t with_matrix = solve(owner, {.A = std::move(owned)}, lobpcg).peak_bytes;
  const std::size_t matrix_bytes = chain.columns.size() * (sizeof(double) + sizeof(std::int32_t)) +
                                   chain.row_offsets.size() * sizeof(std::int64_t);
  EXPECT_EQ(with_matrix - peak_bytes(chain.matrix()), matrix_bytes);
}

TEST(MatrixView, ArraysThatDoNotFit) {
  const auto message = [](const Chain<std::int64_t>& chain, Index rows) -> std::string {
    try {
      Matrix(rows, rows, chain.row_offsets, chain.columns, chain.values);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  const Chain<std::int64_t> good(3);
  EXPECT_EQ(message(good, 3), "");
  EXPECT_EQ(message(good, 5), "Matrix: row offsets hold 4 numbers, 5 rows take 6");
  Chain<std::int64_t> bad = good;
  bad.values.pop_back();
  EXPECT_EQ(message(bad, 3), "Matrix: values hold 6 numbers, 7 columns take 7");
  bad = good;
  bad.row_offsets = {0, 4, 2, 7};
  EXPECT_EQ(message(bad, 3), "Matrix: row 1 ends at offset 2, but begins at 4");
  bad = good;
  bad.row_offsets = {0, 2, 5, 6};
  EXPECT_EQ(message(bad, 3), "Matrix: columns hold 7 numbers, the row offsets take 6");
  bad = good;
  bad.row_offsets[0] = 1;
  EXPECT_EQ(message(bad, 3), "Matrix: row offsets begin with 1, not 0");
  bad = good;
  bad.columns[6] = 3;
  EXPECT_EQ(message(bad, 3),
            "Matrix: row 2 has column 3 where 2 to 2 can stand: columns ascend in a row and are "
            "counted from 0");
}

TEST(MatrixSources, FilesAndStructures) {
  const test::TemporaryFolder folder;
  const auto path = folder.write(
      "a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n2 2 5\n");
  const Matrix A = Matrix::read(path);
  EXPECT_EQ(A.nnz(), 2);
  EXPECT_EQ(A.view().values[1], 5);
  EXPECT_THROW(Matrix::read(folder.path() / "nothing.mtx"), InputError);
  EXPECT_EQ(Matrix::generate({.name = "laplace2d", .size = {3, 4}}).rows(), 12);
  EXPECT_THROW(Matrix::generate({.name = "laplace9d", .size = {3}}), InvalidArgument);
}

TEST(BlockView, ItsNumbersStayWhereTheyAre) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  const Block X(3, 2, values);
  EXPECT_EQ(X.view().data(), values.data());
  EXPECT_EQ(X.view()(2, 1), 6);
  EXPECT_THROW(Block(3, 3, values), InvalidArgument);
  EXPECT_THROW(Block(-3, -2, values), InvalidArgument);
  EXPECT_THROW(Block(Index{1} << 62, 4, std::span<const double>()), InvalidArgument);
}

TEST(BlockView, KeepsTheContextOfWhatItOwns) {
  Block X;
  {
    auto context = std::make_shared<HostContext>(1);
    MultiVector<double, HostSpace> owned(*context, 2, 2);
    owned.view()(1, 1) = 7;
    X = Block(std::move(owned), context);
  }
  const Block copy = X;
  X = {};
  EXPECT_EQ(copy.view()(1, 1), 7);
}

TEST(BlockView, ASmallOneLeavesItsContext) {
  constexpr Index kSmallest = Index{1} << 17;  // that are kept, of 1 MiB
  for (const Index rows : {Index{1000}, kSmallest + 1}) {
    const auto context = std::make_shared<HostContext>(1);
    MultiVector<double, HostSpace> owned(*context, rows, 1);
    owned.view()(rows - 1, 0) = 7;
    const Block X(std::move(owned), context);
    EXPECT_EQ(X.view()(rows - 1, 0), 7);
    EXPECT_EQ(context.use_count(), rows > kSmallest ? 2 : 1);
  }
}

}  // namespace
}  // namespace heddle
