#include <gtest/gtest.h>

#include <apps/process.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <lab/program.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::lab {
namespace {

using apps::test::ProcessResult;

class SpmmPrediction : public testing::Test {
 protected:
  ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), test::program("spmm_prediction"));
    return apps::test::run_process(folder_.path(), arguments);
  }

  heddle::test::TemporaryFolder folder_;
};

TEST_F(SpmmPrediction, PredictsEveryKernelAndPlacesItInTheRoofline) {
  const ProcessResult result = run({"--json", "laplace3d:8,9,10"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["memory_bytes_per_second"], 4.8e12);
  const nlohmann::json& width = report["widths"][3];
  const auto& kernels = width["kernels"];
  ASSERT_GE(kernels.size(), 9u);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    EXPECT_GT(kernels[k]["seconds"], 0.0);
    // 2·nnz·N flops
    EXPECT_NEAR(kernels[k]["gflops"].get<double>() * kernels[k]["seconds"].get<double>(),
                2e-9 * 4556 * width["N"].get<double>(), 1e-9);
    // B and C of 720 rows alone take 16 bytes per row and column.
    EXPECT_GT(kernels[k]["flops_per_byte"], 0.0);
    EXPECT_LT(kernels[k]["flops_per_byte"], 2.0 * 4556 / (720 * 16));
    if (k > 0) {
      EXPECT_LE(kernels[k - 1]["seconds"], kernels[k]["seconds"]);
    }
  }
}

TEST_F(SpmmPrediction, CountsBlocksBeforeAndAfterClustering) {
  // A diagonal of full 16×16 blocks: nothing is better than its natural order.
  HostContext context(1);
  std::vector<Triplet<double>> triplets;
  for (Index i = 0; i < 64; ++i) {
    for (Index j = 0; j < 16; ++j) triplets.push_back({i, i / 16 * 16 + j, 1});
  }
  write_matrix_market(folder_.path() / "blocks.mtx",
                      csr_from_triplets<double>(context, 64, 64, triplets).view());
  const ProcessResult result = run({"--blocks", "--json", "blocks.mtx"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json blocks = nlohmann::json::parse(result.out)["blocks"];
  ASSERT_EQ(blocks["dense"].size(), 6u);
  for (std::size_t k = 0; k < 6; ++k) {
    const auto& line = blocks["dense"][k];
    EXPECT_EQ(line["shape"], k < 3 ? (nlohmann::json{16, 8}) : (nlohmann::json{16, 16}));
    EXPECT_EQ(line["kept"], k % 3 == 0);
    EXPECT_EQ(line["blocks"], k < 3 ? 8 : 4);
    EXPECT_EQ(line["fill"], 1.0);
    EXPECT_EQ(line["per_block_row"]["deviation"], 0.0);
    EXPECT_EQ(line["per_block_row"]["max"], k < 3 ? 2 : 1);
  }
  // 1024 halves, an index per block, five offsets.
  EXPECT_EQ(blocks["dense"][3]["bytes_per_entry"]["half"], (2048 + 4 * 4 + 5 * 8) / 1024.0);
  EXPECT_EQ(blocks["panels"][0]["columns"], 64);
  const ProcessResult text = run({"--blocks", "blocks.mtx"});
  for (const char* part :
       {"Dense blocks for tensor cores", "16x16  natural", "kept", "Panels of 16 rows"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << " is not in:\n" << text.out;
  }
}

/// A band in its own order: no order makes its products faster.
TEST_F(SpmmPrediction, KeepsTheOrderOfABand) {
  const ProcessResult result = run({"--orders", "--json", "band:2000,3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json orders = nlohmann::json::parse(result.out)["orders"];
  EXPECT_EQ(orders["auto"].get<std::string>().rfind("none: ", 0), 0u) << orders["auto"];
  EXPECT_EQ(orders["lines"][0]["order"], "none");
  for (const auto& line : orders["lines"]) {
    for (const auto& value : line["products"]) EXPECT_EQ(value["kept"], false) << line;
  }
}

TEST_F(SpmmPrediction, RefusesWhatIsNoMatrix) {
  EXPECT_EQ(run({}).exit_code, 1);
  EXPECT_EQ(run({"missing.mtx"}).exit_code, 2);
  EXPECT_EQ(run({"laplace1d:9", "--json=missing/prediction.json"}).exit_code, 2);
}

}  // namespace
}  // namespace heddle::lab
