#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/matrix_market/by_parts.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <random>
#include <string>
#include <support/on_threads.hpp>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle {
namespace {

using test::on_threads;

constexpr const char* kGeneral = "%%MatrixMarket matrix coordinate real general\n";
constexpr const char* kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";

std::string number(Index value) { return std::to_string(value); }

/// `count` entries of a matrix of order n in random order, some of them given twice.
std::string random_entries(Index n, Index count, bool lower, const std::string& line_end) {
  std::mt19937 draw(7);
  std::uniform_int_distribution<Index> place(1, n);
  std::uniform_real_distribution<double> value(-1, 1);
  std::string text;
  for (Index k = 0; k < count; ++k) {
    Index i = place(draw), j = place(draw);
    if (lower && j > i) std::swap(i, j);
    text += number(i) + " " + number(j) + " " + std::to_string(value(draw)) + line_end;
  }
  return text;
}

std::string size_line(Index n, Index entries) {
  return number(n) + " " + number(n) + " " + number(entries) + "\n";
}

class ByParts : public testing::Test {
 protected:
  /// The rows of parts have the bits of those of the whole file, in ranges of unequal heights.
  void expect_rows_of_whole(const std::string& text) {
    const auto path = folder_.write("A.mtx", text);
    HostContext alone(1);
    const HostCsrMatrix<double> whole = read_matrix_market<double>(alone, path);
    const auto file = file_by_parts(path);
    ASSERT_TRUE(file);
    for (const int count : {1, 2, 3, 4, 7}) {
      RowRanges uneven{{0}};
      for (Index k = 1; k <= count; ++k) {
        uneven.begins.push_back(whole.rows() * k * k / (count * count));
      }
      on_threads(count, [&](HostContext& context) {
        const auto part = MatrixMarketPart::read(context, *file);
        ASSERT_TRUE(part);
        for (const RowRanges& ranges : {uneven, equal_rows(whole.rows(), count)}) {
          expect_rows(whole.view(), part->rows(context, ranges).view(),
                      ranges.of(context.processes()->rank()));
        }
      });
    }
  }

  static void expect_rows(const CsrView<double, HostSpace>& whole,
                          const CsrView<double, HostSpace>& rows, const RowRange& own) {
    ASSERT_EQ(rows.rows, own.local);
    ASSERT_EQ(rows.cols, whole.cols);
    const Index first = whole.row_offsets[own.first];
    for (Index i = 0; i <= own.local; ++i) {
      ASSERT_EQ(rows.row_offsets[i], whole.row_offsets[own.first + i] - first);
    }
    EXPECT_TRUE(std::equal(rows.columns, rows.columns + rows.nnz, whole.columns + first));
    EXPECT_TRUE(std::equal(rows.values, rows.values + rows.nnz, whole.values + first));
  }

  /// Processes leave the file to one that reads it all and has the message.
  void expect_left(const std::string& text) {
    const auto path = folder_.write("wrong.mtx", text);
    HostContext alone(1);
    EXPECT_THROW(read_matrix_market<double>(alone, path), InputError) << text;
    const auto file = file_by_parts(path);
    ASSERT_TRUE(file) << text;
    for (const int count : {2, 5}) {
      on_threads(count, [&](HostContext& context) {
        EXPECT_FALSE(MatrixMarketPart::read(context, *file)) << text;
      });
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(ByParts, HaveTheBitsOfTheWholeFile) {
  const std::string size = size_line(61, 900);
  expect_rows_of_whole(kGeneral + size + random_entries(61, 900, false, "\n"));
  expect_rows_of_whole(kSymmetric + size + random_entries(61, 900, true, "\n"));
  expect_rows_of_whole(kSymmetric + ("% a remark\n\n" + size) +
                       random_entries(61, 900, true, "\r\n"));
  std::string open = kSymmetric + size + random_entries(61, 900, true, "\n\n");
  open.erase(open.find_last_not_of('\n') + 1);  // the last line has no end
  expect_rows_of_whole(open);
}

/// Files with fewer lines than processes, and with lines longer than what is read at once.
TEST_F(ByParts, OfFewOrLongLines) {
  expect_rows_of_whole(kGeneral + size_line(3, 0));
  expect_rows_of_whole(kSymmetric + size_line(3, 2) + "1 1 2\n3 2 -1\n");
  const std::string blanks(20000, ' ');
  expect_rows_of_whole(kSymmetric + size_line(4, 3) + "1 1 2" + blanks + "\n" + blanks +
                       "4 4 1\n2 1 -1" + blanks);
}

TEST_F(ByParts, AreLeftWhereSomethingIsWrong) {
  const std::string entries = random_entries(61, 900, true, "\n");
  expect_left(kSymmetric + size_line(61, 901) + entries);
  expect_left(kSymmetric + size_line(61, 899) + entries);
  expect_left(kSymmetric + size_line(61, 901) + entries + "62 1 1\n");
  expect_left(kSymmetric + size_line(61, 901) + "1 2 1\n" + entries);
  expect_left(kSymmetric + size_line(61, 901) + entries + "3 1 nan\n");
  expect_left(kSymmetric + size_line(61, 901) + entries + "3 1");
  expect_left(kSymmetric + size_line(1, 1));
}

TEST_F(ByParts, AreLeftWhereAProcessDoesNotFindTheFile) {
  const auto path = folder_.write("A.mtx", kGeneral + size_line(2, 1) + "1 1 1\n");
  const MatrixMarketFile file = file_by_parts(path).value();
  on_threads(3, [&](HostContext& context) {
    const auto changed = [&](auto change) {
      MatrixMarketFile other = file;
      if (context.processes()->rank() == 2) change(other);
      return MatrixMarketPart::read(context, other).has_value();
    };
    EXPECT_TRUE(changed([](MatrixMarketFile&) {}));
    EXPECT_FALSE(changed([](MatrixMarketFile& other) { other.path += "x"; }));
    EXPECT_FALSE(changed([](MatrixMarketFile& other) { ++other.number; }));
    EXPECT_FALSE(changed([](MatrixMarketFile& other) { ++other.bytes; }));
  });
}

TEST_F(ByParts, OfOtherFilesThereAreNone) {
  const auto none = [&](const std::string& text) {
    return !file_by_parts(folder_.write("other.mtx", text));
  };
  EXPECT_FALSE(none(kGeneral + size_line(2, 1) + "1 1 1\n"));
  EXPECT_TRUE(none("%%MatrixMarket matrix array real general\n1 1\n1\n"));
  EXPECT_TRUE(none(kGeneral + std::string("2 3 1\n1 1 1\n")));
  EXPECT_TRUE(none(kGeneral + std::string("2 2\n")));
  EXPECT_TRUE(none(kGeneral + std::string("2000000000 2000000000 1\n1 1 1\n")));
  EXPECT_TRUE(
      none(kGeneral + ("%" + std::string(1 << 20, ' ') + "\n") + size_line(2, 1) + "1 1 1\n"));
  EXPECT_TRUE(none("\x1f\x8b"));
  EXPECT_TRUE(none(""));
  EXPECT_FALSE(file_by_parts(folder_.path()));
  EXPECT_FALSE(file_by_parts(folder_.path() / "missing.mtx"));
}

}  // namespace
}  // namespace heddle
