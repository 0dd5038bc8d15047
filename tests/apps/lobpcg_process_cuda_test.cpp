#include <fmt/format.h>
#include <gtest/gtest.h>

#include <apps/lobpcg_process.hpp>
#include <cmath>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

using test::ProcessResult;

/// heddle-lobpcg on a GPU; skipped, saying why, where there is none.
class LobpcgOnGpu : public test::LobpcgProcess {
 protected:
  void SetUp() override {
    const std::string reason = cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  }

  ProcessResult solve_on(const std::string& device, const std::string& yaml,
                         std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.end(), {"--quiet", "--set", "device=" + device});
    return solve(yaml, arguments, true);
  }

  static double norm(const GallerySpec& spec) {
    HostContext context;
    return norm_1(context, generate<double>(context, spec).view());
  }
};

std::string yaml(const GallerySpec& spec) {
  return fmt::format("{{generate: {}, size: [{}]}}", spec.name, fmt::join(spec.size, ", "));
}

TEST_F(LobpcgOnGpu, FindsTheEigenvaluesThatTheHostFinds) {
  struct Case {
    GallerySpec A;
    std::string mass;
    std::string solver;
  };
  const std::vector<Case> cases = {
      {{"laplace3d", {12, 13, 14}}, "", "nev: 8"},
      {{"wathen", {12, 12}}, "", "nev: 5, which: largest"},
      {{"stencil27", {10, 11, 12}}, "", "nev: 6, preconditioner: {type: jacobi}"},
      {{"elasticity3d", {6, 5, 4}},
       "mass: {generate: elasticity3d_mass, size: [6, 5, 4]}",
       "nev: 5"},
  };
  for (const Case& problem : cases) {
    // Residuals of 2.5e-11 (‖A‖ + |λ|) leave eigenvalues 1e-10 ‖A‖ apart at most.
    const std::string text =
        fmt::format("problem: {{matrix: {}, {}}}\nsolver: {{tolerance: 2.5e-11, {}}}\n",
                    yaml(problem.A), problem.mass, problem.solver);
    ASSERT_EQ(solve_on("host", text).exit_code, 0) << text;
    const auto expected = result().at("eigenvalues").get<std::vector<double>>();
    ASSERT_EQ(solve_on("cuda", text).exit_code, 0) << text;
    EXPECT_EQ(result().at("device"), "cuda");
    EXPECT_NE(result().at("device_name"), "");
    const auto found = result().at("eigenvalues").get<std::vector<double>>();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-10 * norm(problem.A)) << text << i;
    }
  }
}

const std::string kCube =
    "problem: {matrix: {generate: laplace3d, size: [60, 61, 62]}}\n"
    "solver: {nev: 6}\n"
    "output: {eigenvectors: npy}\n";

TEST_F(LobpcgOnGpu, SolvesInEachPrecisionWithinTheEstimatedMemory) {
  const std::vector<double> exact = laplace_smallest_eigenvalues({60, 61, 62}, 6);
  const double scale = norm({"laplace3d", {60, 61, 62}});
  for (const std::string precision : {"double", "single", "mixed"}) {
    ASSERT_EQ(solve_on("auto", kCube, {"--set", "precision=" + precision}).exit_code, 0);
    const auto json = result();
    EXPECT_EQ(json.at("device"), "cuda");
    const double limit = (precision == "single" ? 1e-5 : 1e-8) * 2 * scale;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(json.at("eigenvalues").at(i), exact[i], limit) << precision;
    }
    const double estimate = json.at("memory").at("estimated_bytes");
    const double peak = json.at("memory").at("peak_bytes");
    EXPECT_GE(estimate, 0.9 * peak) << precision;
    EXPECT_LE(estimate, 2 * peak) << precision;
  }
}

/// `result.json` without what differs from run to run.
std::string without_times(nlohmann::json json) {
  for (const char* key : {"run", "seconds"}) json.erase(key);
  json.at("memory").erase("process_peak_bytes");
  json.at("preconditioner_setup").erase("seconds");
  for (auto& phase : json.at("phases")) phase.erase("seconds");
  return json.dump();
}

TEST_F(LobpcgOnGpu, TwoRunsGiveTheSameBits) {
  ASSERT_EQ(solve_on("cuda", kCube).exit_code, 0);
  const std::string first = without_times(result());
  const std::string vectors = file("results/case-lobpcg/eigenvectors.npy");
  ASSERT_EQ(solve_on("cuda", kCube).exit_code, 0);
  EXPECT_EQ(without_times(result()), first);
  EXPECT_EQ(file("results/case-lobpcg/eigenvectors.npy"), vectors);
}

TEST_F(LobpcgOnGpu, MoreMemoryThanTheDeviceHas) {
  expect_refused_beginning(solve_on("cuda",
                                    "problem: {matrix: {generate: laplace1d, size: [200000]}}\n"
                                    "solver: {nev: 199999, block_size: 199999}\n"),
                           5, "the solve needs ");
}

}  // namespace
}  // namespace heddle::apps
