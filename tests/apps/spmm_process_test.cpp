#include <gtest/gtest.h>

#include <apps/executable.hpp>
#include <apps/process.hpp>
#include <cmath>
#include <fstream>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <support/matrices.hpp>
#include <support/random_block.hpp>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::apps {
namespace {

using test::ProcessResult;

/// Runs `heddle spmm` without a GPU in a folder with the matrix A, 12×8, and the block B, 8×3.
class HeddleSpmm : public testing::Test {
 protected:
  void SetUp() override {
    write_matrix_market(folder_.path() / "A.mtx", A_.view());
    write_npy<double>(folder_.path() / "B.npy", B_.view());
    write_matrix_market<double>(folder_.path() / "B.mtx", B_.view());
  }

  ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"CUDA_VISIBLE_DEVICES=", test::executable("heddle"), "spmm"});
    return test::run_process(folder_.path(), arguments);
  }

  /// Σ a b and Σ |a||b| of an entry of C.
  std::pair<double, double> sums(Index i, Index j) {
    std::pair<double, double> sums{0, 0};
    for (auto k = A_.offsets[static_cast<std::size_t>(i)];
         k < A_.offsets[static_cast<std::size_t>(i + 1)]; ++k) {
      const double product = A_.values[static_cast<std::size_t>(k)] *
                             B_.view()(A_.columns[static_cast<std::size_t>(k)], j);
      sums.first += product;
      sums.second += std::abs(product);
    }
    return sums;
  }

  HostContext context_{2};
  heddle::test::TestMatrix<double> A_ = heddle::test::random_matrix<double>(12, 8, 3);
  heddle::test::RandomBlock<double> B_{8, 3, 3, 1};
  heddle::test::TemporaryFolder folder_;
};

TEST_F(HeddleSpmm, WritesTheProductInEachPrecisionAndFormat) {
  const std::pair<const char*, double> precisions[] = {{"half", 0x1p-11},
                                                       {"bf16", 0x1p-8},
                                                       {"tf32", 0x1p-11},
                                                       {"single", 0x1p-24},
                                                       {"double", 0x1p-53}};
  for (const auto& [precision, roundoff] : precisions) {
    for (const std::string kind : {"npy", "mtx"}) {
      const ProcessResult result = run(
          {"A.mtx", "--multiply", "B." + kind, "--output", "C." + kind, "--precision", precision});
      ASSERT_EQ(result.exit_code, 0) << result.err;
      const auto C = read_block<double>(context_, folder_.path() / ("C." + kind));
      ASSERT_EQ(C.rows(), 12);
      ASSERT_EQ(C.cols(), 3);
      double largest = 0;
      for (Index i = 0; i < 12; ++i) {
        for (Index j = 0; j < 3; ++j) {
          const auto [exact, magnitude] = sums(i, j);
          const double error = std::abs(C.view()(i, j) - exact);
          EXPECT_LE(error, 10 * roundoff * magnitude) << precision << ' ' << i << ' ' << j;
          largest = std::max(largest, error);
        }
      }
      EXPECT_TRUE(roundoff < 1e-10 || largest > roundoff / 100) << precision;
    }
  }
}

TEST_F(HeddleSpmm, ReportsErrorsAndBounds) {
  const ProcessResult result = run(
      {"laplace2d:9,9", "--columns", "4", "--precision", "half,bf16,tf32,single,double", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["rows"], 81);
  EXPECT_EQ(json["columns"], 4);
  ASSERT_EQ(json["products"].size(), 5u);
  double before = 1;
  for (const std::size_t k : {1u, 0u, 3u, 4u}) {  // from the roundest type to the finest
    const auto& product = json["products"][k];
    const double error = product["largest_error"];
    EXPECT_GT(error, 0);
    EXPECT_LT(error, before);
    EXPECT_LE(error, product["bound"].get<double>());
    EXPECT_LE(product["worst_share_of_bound"].get<double>(), 1);
    before = error;
  }
  for (const std::string precision : {"half", "double"}) {
    for (const std::string layout : {"row-major", "column-major"}) {
      const ProcessResult result = run({"A.mtx", "--multiply", "B.npy", "--precision", precision,
                                        "--layout", layout, "-o", layout + ".npy"});
      EXPECT_EQ(result.exit_code, 0) << result.err;
    }
    EXPECT_EQ(heddle::test::contents(folder_.path() / "row-major.npy"),
              heddle::test::contents(folder_.path() / "column-major.npy"))
        << precision;
  }
  const ProcessResult text = run({"A.mtx", "--multiply", "B.npy", "--precision", "bf16"});
  for (const char* part : {"A 12x8 with", "B 8x3", "bf16", "worst error/bound"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << " is not in:\n" << text.out;
  }
}

TEST_F(HeddleSpmm, SaysWhatIsWrong) {
  const auto expect = [&](std::vector<std::string> arguments, int code, const char* message) {
    const ProcessResult result = run(std::move(arguments));
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  };
  expect({}, 1, "a matrix is missing");
  expect({"A.mtx"}, 5, "--multiply B");
  expect({"A.mtx", "--columns", "2", "--device", "cuda"}, 5,
         "--device host multiplies on the host");
  expect({"A.mtx", "--columns", "2", "--order", "fastest"}, 1, "add --device cuda");
  expect({"A.mtx", "--device", "host"}, 1, "--device belongs to a product");
  expect({"laplace1d:5", "--multiply", "B.npy"}, 1, "A (laplace1d:5) is 5x5, B (B.npy) is 8x3");
  expect({"A.mtx", "--multiply", "B.npy", "-o", "C.txt"}, 1, "must end in .npy (NumPy) or .mtx");
  expect({"A.mtx", "--multiply", "B.npy", "-o", "C.npy", "--precision", "half,bf16"}, 1,
         "the product of one precision");
  expect({"A.mtx", "--precision", "half"}, 1,
         "--multiply B or --columns N computes a half product");
  expect({"A.mtx", "--output", "C.npy"}, 1, "--output belongs to a product");
  expect({"A.mtx", "--columns", "2", "--widths", "8"}, 1, "--widths times kernels");
  expect({"A.mtx", "A.mtx", "--columns", "2"}, 1, "take one matrix, not 2");
  expect({"A.mtx", "--multiply", "nothing.npy"}, 2, "nothing.npy");
  folder_.write("large.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e6\n");
  expect({"large.mtx", "--columns", "1", "--precision", "half", "--no-scaling"}, 1,
         "entry (1, 1) of A is 1e+06, beyond the largest number of half, 65504");
  EXPECT_EQ(run({"large.mtx", "--columns", "1", "--precision", "half"}).exit_code, 0);
  folder_.write("square.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e30\n");
  expect({"square.mtx", "--multiply", "square.mtx", "--precision", "single"}, 1,
         "entry (1, 1) of C = A B is beyond the range of single precision: choose double");
  expect({"square.mtx", "--multiply", "square.mtx", "--precision", "half"}, 1,
         "choose double precision");
  folder_.write("huge.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e60\n");
  expect({"huge.mtx", "--columns", "1", "--precision", "tf32"}, 1, "choose double precision");
  expect({"huge.mtx", "--columns", "1", "--precision", "single"}, 1,
         "beyond the largest number of single");
}

TEST_F(HeddleSpmm, NumbersOutOfRangeAreRefusedWithTheRange) {
  const auto expect = [&](std::vector<std::string> options, const std::string& message) {
    options.insert(options.begin(), "A.mtx");
    const ProcessResult result = run(std::move(options));
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_LE(result.err.size(), 160U) << result.err;
  };
  for (const std::string wrong : {"0", "-3", "2.5", "1e30", "nan"}) {
    const std::string whole = wrong + " is not a whole number from 1 to 9223372036854775807";
    expect({"--columns", wrong}, "--columns: " + whole);
    expect({"--widths", "8," + wrong}, "--widths: " + whole);
  }
  expect({"--columns", "2", "--threads", "-1"},
         "--threads: -1 is not a whole number from 0 to 2147483647");
  for (const std::string wrong : {"0", "-1", "inf", "nan", "few"}) {
    expect({"--reorder", "all", "--products", wrong},
           "--products: " + wrong + " is not a finite number above 0");
  }
}

/// The entries of C are 1e-60 in the first row, 1e-30 in the second.
TEST_F(HeddleSpmm, DigitsThatUnderflowAreTold) {
  folder_.write("small.mtx",
                "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e-30\n2 2 1\n");
  folder_.write("block.mtx",
                "%%MatrixMarket matrix array real general\n2 2\n1e-30\n1e-30\n1e-30\n1e-30\n");
  for (const std::string precision : {"half", "bf16", "tf32", "single", "double"}) {
    const ProcessResult result =
        run({"small.mtx", "--multiply", "block.mtx", "--precision", precision});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::string warning = "warning: 2 of 4 entries of the " + precision +
                                " product have lost digits, because numbers lie below the range";
    EXPECT_EQ(result.out.find(warning) != std::string::npos, precision != "double") << result.out;
  }
  const ProcessResult json =
      run({"small.mtx", "--multiply", "block.mtx", "--precision", "single,double", "--json"});
  const auto lines = nlohmann::json::parse(json.out).at("products");
  EXPECT_EQ(lines.at(0).at("underflowed_entries"), 2);
  EXPECT_EQ(lines.at(1).at("underflowed_entries"), 0);
}

/// Only rows of a matrix that is not square can be ordered, which rcm and metis do not do.
TEST_F(HeddleSpmm, AllOrdersLeaveOutThoseOfSquareMatrices) {
  const ProcessResult result =
      run({"A.mtx", "--reorder", "all", "--columns", "2", "--json=a.json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("without rcm: it orders the graph of a square matrix, this one is 12 x "
                            "8"),
            std::string::npos)
      << result.out;
  const auto json = nlohmann::json::parse(std::ifstream(folder_.path() / "a.json"));
  std::vector<std::string> timed;
  for (const auto& line : json.at("orders")) timed.push_back(line.at("order"));
  EXPECT_EQ(timed, (std::vector<std::string>{"none", "radix", "jaccard"}));
  EXPECT_EQ(json.at("left_out").size(), 2U);
  EXPECT_TRUE(json.at("left_out").contains("metis"));
  const ProcessResult named = run({"A.mtx", "--reorder", "all,rcm", "--columns", "2"});
  EXPECT_EQ(named.exit_code, 1);
  EXPECT_NE(named.err.find("the order rcm cannot be found"), std::string::npos) << named.err;
  const ProcessResult square = run({"laplace2d:9,9", "--reorder", "all", "--columns", "2"});
  EXPECT_EQ(square.exit_code, 0) << square.err;
  EXPECT_EQ(square.out.find("without rcm"), std::string::npos) << square.out;
}

}  // namespace
}  // namespace heddle::apps
