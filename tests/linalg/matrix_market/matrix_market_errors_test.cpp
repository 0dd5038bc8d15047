#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <string>
#include <vector>

namespace heddle {
namespace {

/// A text that must be refused: at which line, and words that the message must have.
struct BadText {
  std::string text;
  std::size_t line;
  std::vector<std::string> words;
};

template <class T, class Read>
void expect_refused(const BadText& bad, const Read& read) {
  HostContext context(2);
  try {
    read(context, bad.text);
    ADD_FAILURE() << "was read: " << bad.text.substr(0, 200);
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.path(), "file.mtx");
    EXPECT_EQ(error.line(), bad.line) << message;
    for (const std::string& word : bad.words) {
      EXPECT_NE(message.find(word), message.npos) << message << "\nlacks " << word;
    }
    EXPECT_EQ(message.find('\n'), message.npos) << message;
  }
}

template <class T = double>
void expect_refused(const BadText& bad) {
  expect_refused<T>(bad, [](HostContext& context, const std::string& text) {
    parse_matrix_market<T>(context, text, "file.mtx");
  });
  expect_refused<T>(bad, [](HostContext& context, const std::string& text) {
    parse_matrix_market_block<T>(context, text, "file.mtx");
  });
}

const std::string kGeneral = "%%MatrixMarket matrix coordinate real general\n";
const std::string kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string kSkew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
const std::string kPattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string kInteger = "%%MatrixMarket matrix coordinate integer general\n";
const std::string kArray = "%%MatrixMarket matrix array real general\n";

TEST(MatrixMarketErrors, Banner) {
  const std::vector<BadText> texts = {
      {"", 0, {"file.mtx: is empty"}},
      {"\n", 1, {"%%MatrixMarket"}},
      {"1 1 1\n1 1 1\n", 1, {"not a Matrix Market file"}},
      {"%MatrixMarket matrix coordinate real general\n1 1 0\n", 1, {"not a Matrix Market file"}},
      {"%%MatrixMarket vector coordinate real general\n", 1, {"'vector'", "'matrix'"}},
      {"%%MatrixMarket matrix sparse real general\n", 1, {"'sparse'", "'coordinate'"}},
      {"%%MatrixMarket matrix coordinate quaternion general\n", 1, {"'quaternion'", "'real'"}},
      {"%%MatrixMarket matrix coordinate real triangular\n", 1, {"'triangular'", "'general'"}},
      {"%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, {"symmetry", "''"}},
      {"%%MatrixMarket\n1 1 0\n", 1, {"object"}},
      {"%%MatrixMarket matrix coordinate real general extra\n1 1 0\n", 1, {"'extra'"}},
      {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", 1, {"complex"}},
      {"%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 0\n", 1, {"complex"}},
      {"%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n", 1, {"Hermitian"}},
      {"%%MatrixMarket matrix array pattern general\n1 1\n", 1, {"array pattern"}},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", 1, {"no sign"}},
      {"name.mtx" + std::string(249, '\0') + "ustar  \0" + std::string(300, '\0'), 1, {"tar"}},
  };
  for (const BadText& bad : texts) expect_refused(bad);
}

TEST(MatrixMarketErrors, SizeLine) {
  const std::vector<BadText> texts = {
      {kGeneral, 1, {"before the size line"}},
      {kGeneral + "% only\n%comments\n\n", 4, {"before the size line"}},
      {kGeneral + "%\n2 2\n", 3, {"lacks the number of entries"}},
      {kGeneral + "2\n", 2, {"lacks the number of columns"}},
      {kGeneral + "2 2 0 0\n", 2, {"'0'"}},
      {kArray + "1 1 1\n5\n", 2, {"goes on with '1'"}},
      {kGeneral + "two 2 0\n", 2, {"rows", "'two'", "not an integer"}},
      {kGeneral + "2 2.0 0\n", 2, {"columns", "'2.0'", "not an integer"}},
      {kGeneral + "-2 2 0\n", 2, {"rows", "'-2'", "out of range"}},
      {kGeneral + "2 2 -1\n", 2, {"entries", "'-1'", "out of range"}},
      {kGeneral + "2 2 99999999999999999999\n", 2, {"entries", "out of range"}},
      {kGeneral + "1 2147483648 0\n", 2, {"2147483648 columns", "2147483647"}},
      {kGeneral + "2147483648 1 0\n", 2, {"2147483648 rows"}},
      {kSymmetric + "2 3 0\n", 2, {"symmetry", "2x3"}},
      {kSkew + "%\n3 2 0\n", 3, {"symmetry", "3x2"}},
      {"%%MatrixMarket matrix array real symmetric\n3 2\n", 2, {"3x2"}},
  };
  for (const BadText& bad : texts) expect_refused(bad);
}

TEST(MatrixMarketErrors, ClaimsThatTheTextCannotHoldTakeNoMemory) {
  const std::vector<BadText> texts = {
      {kGeneral + "2 2 9000000000000000000\n1 1 1\n", 3, {"after 1 of the 9000000000000000000"}},
      {kGeneral + "2000000000 2000000000 1\n1 1 1\n", 2, {"2000000000 rows", "only 1 entries"}},
      {kSymmetric + "2000000000 2000000000 0\n", 2, {"2000000000"}},
      {kArray + "2000000000 2000000000\n1\n", 3, {"after 1 of the 4000000000000000000"}},
      {"%%MatrixMarket matrix array real symmetric\n2147483647 2147483647\n", 2, {"after 0"}},
  };
  for (const BadText& bad : texts) expect_refused(bad);
  HostContext context(1);
  EXPECT_THROW(
      parse_matrix_market_block<double>(context, kGeneral + "100000 100000 1\n1 1 1\n", "file.mtx"),
      InputError);
}

TEST(MatrixMarketErrors, Counts) {
  const std::vector<BadText> texts = {
      {kGeneral + "2 2 3\n1 1 1\n2 2 2\n", 4, {"after 2 of the 3 entries"}},
      {kGeneral + "2 2 3\n1 1 1\n2 2 2\n\n\n", 6, {"after 2 of the 3 entries"}},
      {kGeneral + "2 2 3\n1 1 1\n2 2 2", 4, {"after 2 of the 3 entries"}},
      {kGeneral + "2 2 3", 2, {"after 0 of the 3 entries"}},
      {kGeneral + "2 2 1\n1 1 1\n\n2 2 2\n1 2 1\n", 5, {"promises 1 entry", "one more"}},
      {kGeneral + "2 2 0\n1 1 1\n", 3, {"promises 0 entries"}},
      {kGeneral + "2 2 1\n1 1 1\n2 2 2\nrubbish\n", 4, {"one more"}},
      {kGeneral + "2 2 1\n1 1 1\nrubbish\n2 2 2\n", 4, {"'rubbish'"}},
      {kArray + "2 2\n1\n2\n3\n", 5, {"after 3 of the 4 entries"}},
      {kArray + "1 1\n1\n2\n", 4, {"promises 1 entry"}},
      {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n", 6, {"promises 3 entries"}},
  };
  for (const BadText& bad : texts) expect_refused(bad);
}

TEST(MatrixMarketErrors, Indices) {
  const std::vector<BadText> texts = {
      {kGeneral + "2 3 1\n3 1 1\n", 3, {"row index '3'", "1 … 2"}},
      {kGeneral + "2 3 1\n0 1 1\n", 3, {"row index '0'"}},
      {kGeneral + "2 3 1\n-1 1 1\n", 3, {"row index '-1'"}},
      {kGeneral + "2 3 1\n1 4 1\n", 3, {"column index '4'", "1 … 3"}},
      {kGeneral + "2 3 1\n1 0 1\n", 3, {"column index '0'"}},
      {kGeneral + "2 3 1\n1 99999999999999999999 1\n", 3, {"column index '99999999999999999999'"}},
      {kGeneral + "2 3 1\n4294967297 1 1\n", 3, {"row index '4294967297'"}},
      {kGeneral + "2 3 1\n1.0 1 1\n", 3, {"row index '1.0'", "not an integer"}},
      {kGeneral + "2 3 1\nx 1 1\n", 3, {"row index 'x'"}},
      {kGeneral + "2 3 1\n1 y 1\n", 3, {"column index 'y'"}},
      {kGeneral + "2 3 1\n1\n", 3, {"column index is missing"}},
      {kPattern + "2 3 1\n1\t\r\n", 3, {"column index is missing"}},
      {kGeneral + "2 3 1\n+-1 1 1\n", 3, {"'+-1'"}},
      {kGeneral + "2 3 1\n% no comment here\n1 1 1\n", 3, {"'%'"}},
      {kSymmetric + "2 2 2\n1 1 1\n1 2 1\n", 4, {"(1, 2)", "above the diagonal"}},
      {kSkew + "2 2 1\n1 2 1\n", 3, {"(1, 2)", "above the diagonal"}},
      {kSkew + "2 2 1\n2 2 1\n", 3, {"(2, 2)", "on the diagonal"}},
  };
  for (const BadText& bad : texts) expect_refused(bad);
}

TEST(MatrixMarketErrors, Values) {
  const auto with_value = [](const std::string& value) { return kGeneral + "1 1 1\n1 1 " + value; };
  const std::vector<BadText> texts = {
      {with_value("\n"), 3, {"value is missing"}},
      {with_value("nan\n"), 3, {"'nan'", "not finite"}},
      {with_value("NaN"), 3, {"'NaN'", "not finite"}},
      {with_value("-Inf"), 3, {"'-Inf'", "not finite"}},
      {with_value("infinity"), 3, {"'infinity'", "not finite"}},
      {with_value("1e400"), 3, {"'1e400'", "too large"}},
      {with_value("1D+400"), 3, {"'1D+400'", "too large"}},
      {with_value("1e99999999999999999999"), 3, {"too large"}},
      {with_value(std::string(400, '9')), 3, {"'9999", "too large"}},
      {with_value("abc"), 3, {"'abc'", "not a number"}},
      {with_value("1.5x"), 3, {"'1.5x'", "not a number"}},
      {with_value("1e"), 3, {"'1e'", "not a number"}},
      {with_value("1.0D"), 3, {"'1.0D'", "not a number"}},
      {with_value("--1"), 3, {"'--1'"}},
      {with_value("+-1"), 3, {"'+-1'"}},
      {with_value("+"), 3, {"'+'"}},
      {with_value("."), 3, {"'.'"}},
      {with_value("0x10"), 3, {"'0x10'", "not a number"}},
      {with_value("1,5"), 3, {"'1,5'", "not a number"}},
      {with_value(std::string("1\0", 2)), 3, {"'1?'", "not a number"}},
      {with_value(std::string(1000, 'z')), 3, {"zzz…"}},
      {with_value("1 2\n"), 3, {"'2'", "follows the entry"}},
      {kPattern + "1 1 1\n1 1 7\n", 3, {"'7'", "follows the entry"}},
      {kArray + "1 2\n1 2\n", 3, {"'2'", "follows the entry"}},
      {kArray + "1 2\n1\nx\n", 4, {"'x'", "not a number"}},
      {kInteger + "1 1 1\n1 1 1.5\n", 3, {"'1.5'", "not an integer"}},
  };
  for (const BadText& bad : texts) expect_refused(bad);
}

TEST(MatrixMarketErrors, FloatHasItsOwnRange) {
  expect_refused<float>({kGeneral + "1 1 1\n1 1 1e39\n", 3, {"'1e39'", "too large"}});
  HostContext context(1);
  EXPECT_NO_THROW(parse_matrix_market<double>(context, kGeneral + "1 1 1\n1 1 1e39\n", "x"));
}

TEST(MatrixMarketErrors, SumsThatOverflow) {
  expect_refused<double>({kGeneral + "1 1 2\n1 1 1e308\n1 1 1e308\n", 0, {"sum", "not finite"}});
  expect_refused<float>({kGeneral + "1 1 2\n1 1 3e38\n1 1 3e38\n", 0, {"sum", "not finite"}});
}

/// The first bad line is named although the pieces of the text are parsed side by side.
TEST(MatrixMarketErrors, FirstBadLineOfALargeFile) {
  const std::size_t entries = 100000;
  std::vector<std::string> lines(entries, "17 3 1.0000000000\n");
  const auto text = [&] {
    std::string all = kGeneral + "%\n20 20 " + std::to_string(entries) + "\n";
    for (const std::string& line : lines) all += line;
    return all;
  };
  ASSERT_GT(text().size(), std::size_t{1} << 20);
  lines[99990] = "21 1 1\n";
  expect_refused({text(), 99994, {"'21'"}});
  lines[60000] = "\n";  // shifts no line number
  lines[40000] = "1 22 1\n";
  lines[40001] = "1 23 1\n";
  expect_refused({text(), 40004, {"'22'"}});
  lines[40000] = lines[40001] = lines[99990] = "1 1 1\n";
  expect_refused({text(), 100003, {"after 99999 of the 100000"}});
  lines[70000] = "1 1 1\n1 1 1\n1 1 1\n";
  lines[99999] = "nonsense";
  expect_refused({text(), 100005, {"'nonsense'"}});
  lines[99999] = "1 1 1\n";
  expect_refused({text(), 100005, {"one more"}});
}

}  // namespace
}  // namespace heddle
