#pragma once

#include <gtest/gtest.h>

#include <apps/solver_process.hpp>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace heddle::apps {

using test::ProcessResult;

/// Runs a solver on several processes, started by the launcher of MPI.
class Processes : public test::SolverProcess {
 protected:
  /// `gpu`: whether the processes may see GPUs.
  explicit Processes(const std::string& name = "heddle-lobpcg", bool gpu = false)
      : SolverProcess(name), gpu_(gpu) {}

  std::vector<std::string> launch(int count, const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = command(arguments, gpu_);
    // MPI keeps memory to its end.
    words.insert(words.begin() + (gpu_ ? 0 : 1),
                 {"ASAN_OPTIONS=detect_leaks=0", HEDDLE_MPIEXEC, "--oversubscribe",
                  "--allow-run-as-root", "-n", std::to_string(count)});
    return words;
  }

  ProcessResult together(int count, const std::string& yaml,
                         std::vector<std::string> arguments = {}) {
    folder_.write("case.yaml", yaml);
    arguments.insert(arguments.begin(), "case.yaml");
    return test::run_process(folder_.path(), launch(count, arguments));
  }

  /// Several processes end as one does, with the same values and as many iterations, ±`most`.
  void expect_same(int count, const std::string& yaml, int most = 1) {
    const int code = solve(yaml, {"-q"}, gpu_).exit_code;
    const nlohmann::json one = result();
    const ProcessResult run = together(count, yaml, {"-q"});
    EXPECT_EQ(run.exit_code, code) << run.err << yaml;
    const nlohmann::json several = result();
    EXPECT_EQ(several.at("processes"), count);
    EXPECT_EQ(several.at("status"), one.at("status")) << yaml;
    EXPECT_EQ(several.at("n"), one.at("n"));
    EXPECT_EQ(several.at("converged"), one.at("converged"));
    const int difference = several.at("iterations").get<int>() - one.at("iterations").get<int>();
    EXPECT_LE(std::abs(difference), most) << yaml;
    if (!one.contains("eigenvalues")) return;
    const auto values = several.at("eigenvalues").get<std::vector<double>>();
    const auto exact = one.at("eigenvalues").get<std::vector<double>>();
    const auto bounds = one.at("error_bounds").get<std::vector<double>>();
    ASSERT_EQ(values.size(), exact.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], exact[i], 2 * bounds[i] + 1e-12 * std::abs(exact[i])) << yaml;
    }
  }

  void expect_refused(const std::string& yaml, int code, const std::string& message,
                      std::vector<std::string> arguments = {}) {
    const ProcessResult run = together(2, yaml, std::move(arguments));
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_NE(run.err.find(": error: "), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
  }

 private:
  bool gpu_;
};

inline std::string generated(const std::string& name, const std::string& size) {
  return "matrix: {generate: " + name + ", size: [" + size + "]}";
}

inline const std::string kGrid = generated("laplace3d", "9, 10, 11");
inline const std::string kBeam =
    generated("elasticity3d", "3, 4, 5") + ", mass: {generate: elasticity3d_mass, size: [3, 4, 5]}";

inline std::string problem(const std::string& parts, const std::string& solver) {
  return "problem: {" + parts + "}\nsolver: {" + solver + "}\nthreads: 1\n";
}

}  // namespace heddle::apps
