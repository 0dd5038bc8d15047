#include <gtest/gtest.h>

#include <apps/process.hpp>
#include <fstream>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <lab/program.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <support/matrices.hpp>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::lab {
namespace {

using apps::test::ProcessResult;

class OrderTiming : public testing::Test {
 protected:
  void SetUp() override {
    const auto A = heddle::test::random_matrix<double>(12, 8, 3);
    write_matrix_market(folder_.path() / "A.mtx", A.view());
  }

  ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"CUDA_VISIBLE_DEVICES=", test::program("order_timing")});
    return apps::test::run_process(folder_.path(), arguments);
  }

  heddle::test::TemporaryFolder folder_;
};

/// Only rows of a matrix that is not square can be ordered, which rcm and metis do not do.
TEST_F(OrderTiming, AllOrdersLeaveOutThoseOfSquareMatrices) {
  const ProcessResult result = run({"A.mtx", "--columns", "2", "--json=a.json"});
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
  const ProcessResult named = run({"A.mtx", "--orders", "all,rcm", "--columns", "2"});
  EXPECT_EQ(named.exit_code, 1);
  EXPECT_NE(named.err.find("the order rcm cannot be found"), std::string::npos) << named.err;
  const ProcessResult square = run({"laplace2d:9,9", "--columns", "2"});
  EXPECT_EQ(square.exit_code, 0) << square.err;
  EXPECT_EQ(square.out.find("without rcm"), std::string::npos) << square.out;
}

TEST_F(OrderTiming, RefusesWhatItCannotTime) {
  const auto expect = [&](std::vector<std::string> arguments, int code,
                          const std::string& message) {
    const ProcessResult result = run(std::move(arguments));
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  };
  expect({}, 1, "a matrix is missing");
  expect({"missing.mtx"}, 2, "missing.mtx");
  expect({"A.mtx", "--device", "cuda"}, 5, "--device cuda");
  for (const std::string wrong : {"0", "-1", "inf", "nan", "few"}) {
    expect({"A.mtx", "--products", wrong}, 1,
           "--products: " + wrong + " is not a finite number above 0");
  }
}

}  // namespace
}  // namespace heddle::lab
