#include <gtest/gtest.h>

#include <apps/process.hpp>
#include <lab/program.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::lab {
namespace {

using apps::test::ProcessResult;

/// Runs spgemm_timing without a GPU.
class SpgemmTimingProgram : public testing::Test {
 protected:
  ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"CUDA_VISIBLE_DEVICES=", test::program("spgemm_timing")});
    return apps::test::run_process(folder_.path(), arguments);
  }

  nlohmann::json report(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("products").at(0);
  }

  heddle::test::TemporaryFolder folder_;
};

TEST_F(SpgemmTimingProgram, ReportsAsText) {
  const ProcessResult result = run({"laplace2d:9,9", "--implementations", "cpu"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"A A\n", "81 rows, 81 columns, 877 entries", "1709 multiplications",
                           "GFLOP/s", "\n  cpu "}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " is not in:\n" << result.out;
  }
}

TEST_F(SpgemmTimingProgram, ReportsAsJsonAndNamesWhatIsMissing) {
  const nlohmann::json product = report({"laplace2d:9,9", "--format", "csr"});
  EXPECT_EQ(product.at("formula"), "A A");
  EXPECT_EQ(product.at("nnz"), 877);
  EXPECT_EQ(product.at("multiplications"), 1709);
  const auto& implementations = product.at("implementations");
  ASSERT_EQ(implementations.size(), 4u);
  EXPECT_EQ(implementations[0].at("name"), "cpu");
  EXPECT_GT(implementations[0].at("total_ms"), 0.0);
  EXPECT_GE(implementations[0].at("peak_bytes"), product.at("bytes"));
  EXPECT_EQ(implementations[1].at("name"), "gpu");
  EXPECT_NE(implementations[1].at("failure"), "");
  EXPECT_EQ(implementations[2].at("name"), "hybrid");
  EXPECT_EQ(implementations[3].at("name"), "cusparse");
}

TEST_F(SpgemmTimingProgram, TimesBandsByDiagonals) {
  const nlohmann::json band = report({"laplace2d:30,20", "--implementations", "cpu,column-row"});
  EXPECT_EQ(band.at("format"), "dia");
  EXPECT_GT(band.at("convert_ms"), 0.0);
  EXPECT_GT(band.at("multiplications"), 0);
  EXPECT_GT(band.at("implementations").at(0).at("total_ms"), 0.0);
  EXPECT_EQ(band.at("implementations").at(1).at("name"), "column-row");
  EXPECT_EQ(report({"rmat:7:4", "--transpose", "--implementations", "cpu"}).at("formula"), "A Aᵀ");
}

TEST_F(SpgemmTimingProgram, RefusesWhatDoesNotFit) {
  EXPECT_EQ(run({}).exit_code, 1);
  EXPECT_EQ(run({"missing.mtx"}).exit_code, 2);
  EXPECT_EQ(run({"laplace1d:4", "laplace1d:4", "--transpose"}).exit_code, 1);
  const ProcessResult shapes = run({"laplace1d:4", "laplace1d:5"});
  EXPECT_EQ(shapes.exit_code, 1);
  EXPECT_NE(shapes.err.find("A is 4x4, B is 5x5"), std::string::npos) << shapes.err;
}

}  // namespace
}  // namespace heddle::lab
