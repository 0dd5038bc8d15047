#include <gtest/gtest.h>

#include <apps/executable.hpp>
#include <apps/process.hpp>
#include <cmath>
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
  double before = 1;
  for (const std::string precision : {"bf16", "half", "single", "double"}) {  // the roundest first
    const ProcessResult result =
        run({"laplace2d:9,9", "--columns", "4", "--precision", precision, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json["rows"], 81);
    EXPECT_EQ(json["columns"], 4);
    EXPECT_EQ(json["precision"], precision);
    const double error = json["largest_error"];
    EXPECT_GT(error, 0);
    EXPECT_LT(error, before);
    EXPECT_LE(error, json["bound"].get<double>());
    EXPECT_LE(json["worst_share_of_bound"].get<double>(), 1);
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

TEST_F(HeddleSpmm, NamesItsKernelAndTakesOneByName) {
  const ProcessResult chosen = run({"A.mtx", "--multiply", "B.npy", "--json"});
  ASSERT_EQ(chosen.exit_code, 0) << chosen.err;
  const nlohmann::json json = nlohmann::json::parse(chosen.out);
  EXPECT_FALSE(json["reason"].get<std::string>().empty());
  const std::string kernel = json["kernel"];
  const ProcessResult named = run({"A.mtx", "--multiply", "B.npy", "--kernel", kernel});
  ASSERT_EQ(named.exit_code, 0) << named.err;
  EXPECT_NE(named.out.find("kernel: " + kernel + " ("), std::string::npos) << named.out;
  const ProcessResult unknown = run({"A.mtx", "--multiply", "B.npy", "--kernel", "nonsense"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find(kernel), std::string::npos) << unknown.err;
}

TEST_F(HeddleSpmm, SaysWhatIsWrong) {
  const auto expect = [&](std::vector<std::string> arguments, int code, const char* message) {
    const ProcessResult result = run(std::move(arguments));
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  };
  expect({}, 1, "a matrix is missing");
  expect({"A.mtx"}, 1, "a block is missing: --multiply B");
  expect({"A.mtx", "--columns", "2", "--device", "cuda"}, 5,
         "--device host multiplies on the host");
  expect({"A.mtx", "--columns", "2", "--order", "fastest"}, 1, "add --device cuda");
  expect({"A.mtx", "--columns", "2", "--kernel", "row_split", "--precision", "half"}, 1,
         "--kernel with half, bf16 and tf32 is for GPUs: add --device cuda");
  expect({"laplace1d:5", "--multiply", "B.npy"}, 1, "A (laplace1d:5) is 5x5, B (B.npy) is 8x3");
  expect({"A.mtx", "--multiply", "B.npy", "-o", "C.txt"}, 1, "must end in .npy (NumPy) or .mtx");
  expect({"A.mtx", "--columns", "2", "--precision", "half,bf16"}, 1, "--precision");
  expect({"A.mtx", "A.mtx", "--columns", "2"}, 1, "A.mtx");
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
  }
  expect({"--columns", "2", "--threads", "-1"},
         "--threads: -1 is not a whole number from 0 to 2147483647");
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
  for (const auto& [precision, count] : {std::pair{"single", 2}, std::pair{"double", 0}}) {
    const ProcessResult json =
        run({"small.mtx", "--multiply", "block.mtx", "--precision", precision, "--json"});
    EXPECT_EQ(nlohmann::json::parse(json.out).at("underflowed_entries"), count);
  }
}

}  // namespace
}  // namespace heddle::apps
