#include <gtest/gtest.h>

#include <apps/process.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <lab/program.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <support/temporary_folder.hpp>

namespace heddle::lab {
namespace {

TEST(SpgemmTimingOnGpu, TimesAllImplementations) {
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  const heddle::test::TemporaryFolder folder;
  for (const std::string format : {"csr", "dia"}) {
    SCOPED_TRACE(format);
    const auto run = apps::test::run_process(
        folder.path(), {test::program("spgemm_timing"), "laplace2d:60,50", "--format", format,
                        "--implementations", "cpu,gpu,hybrid,cusparse,column-row", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto product = nlohmann::json::parse(run.out).at("products").at(0);
    EXPECT_EQ(product.at("format"), format);
    ASSERT_EQ(product.at("implementations").size(), 5U);
    for (const auto& timing : product.at("implementations")) {
      EXPECT_FALSE(timing.contains("failure")) << timing;
      EXPECT_GT(timing.value("total_ms", 0.0), 0) << timing;
    }
  }
}

}  // namespace
}  // namespace heddle::lab
