#include <gtest/gtest.h>

#include <apps/process.hpp>
#include <fstream>
#include <heddle/linalg/context/cuda_context.hpp>
#include <lab/program.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::lab {
namespace {

class SpmmTimingProgram : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  }

  apps::test::ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), test::program("spmm_timing"));
    return apps::test::run_process(folder_.path(), arguments);
  }

  heddle::test::TemporaryFolder folder_;
};

TEST_F(SpmmTimingProgram, TimesEveryKernelThatIsRight) {
  const auto result = run({"stencil27:9,8,7", "--widths", "8", "--json", "a.json", "--explain"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(std::ifstream(folder_.path() / "a.json"));
  const auto& width = json.at("matrices").at(0).at("widths").at(0);
  int timed = 0, placed = 0;
  for (const auto& kernel : width.at("kernels")) {
    if (kernel.value("warm_ms", 0.0) > 0) ++timed;
    if (kernel.value("flops_per_byte", 0.0) > 0) ++placed;
    EXPECT_EQ(kernel.value("failure", "").find("wrong"), std::string::npos) << kernel;
  }
  EXPECT_GT(timed, 5);
  EXPECT_GT(placed, 5);
  EXPECT_GT(json.at("memory_bytes_per_second"), 0.0);
}

TEST_F(SpmmTimingProgram, RefusesWhatItCannotTime) {
  EXPECT_EQ(run({}).exit_code, 1);
  EXPECT_EQ(run({"laplace1d:9", "--kernels", "nonsense"}).exit_code, 1);
  EXPECT_EQ(run({"laplace1d:9", "--widths", "8,0"}).exit_code, 1);
  EXPECT_EQ(run({"laplace1d:9", "--precision", "half"}).exit_code, 1);
}

}  // namespace
}  // namespace heddle::lab
