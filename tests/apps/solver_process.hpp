#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <apps/executable.hpp>
#include <apps/process.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <support/temporary_folder.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::apps::test {

/// Runs a solver's executable in a folder of its own.
class SolverProcess : public testing::Test {
 protected:
  /// `name`: of the executable, e.g. heddle-cg.
  explicit SolverProcess(const std::string& name) : executable_(executable(name)) {}

  heddle::test::TemporaryFolder folder_;

  /// `gpu`: whether the process may see one.
  std::vector<std::string> command(std::vector<std::string> arguments, bool gpu = false) const {
    arguments.insert(arguments.begin(), executable_.string());
    if (!gpu) arguments.insert(arguments.begin(), "CUDA_VISIBLE_DEVICES=");
    return arguments;
  }

  ProcessResult run(const std::vector<std::string>& arguments, const std::string& out = "") {
    return run_process(folder_.path(), command(arguments), out);
  }

  /// Runs it on `yaml` as case.yaml.
  ProcessResult solve(const std::string& yaml, std::vector<std::string> arguments = {},
                      bool gpu = false) {
    folder_.write("case.yaml", yaml);
    arguments.insert(arguments.begin(), "case.yaml");
    return run_process(folder_.path(), command(arguments, gpu));
  }

  /// Runs it on `yaml`, a solve that would go on for minutes, and sends `signal` once iterations
  /// have begun, which stderr shows.
  ProcessResult interrupt(const std::string& yaml, int signal) {
    folder_.write("case.yaml", yaml);
    Process process(folder_.path(), command({"case.yaml"}));
    EXPECT_TRUE(wait_for_iterations(process)) << process.err();
    process.signal(signal);
    return process.wait();
  }

  static bool wait_for_iterations(const Process& process) {
    for (int i = 0; i < 1200; ++i) {
      if (process.err().find("iteration ") != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  std::string file(const std::string& path) {
    return heddle::test::contents(folder_.path() / path);
  }

  /// The default output folder of case.yaml.
  std::string directory() const {
    const std::string program = executable_.filename().string();
    return std::string("results/case-") + (program == "heddle-lanczos" ? "block_lanczos"
                                           : program == "heddle-cg"    ? "block_cg"
                                                                       : "lobpcg");
  }

  nlohmann::json result() { return result(directory()); }
  nlohmann::json result(const std::string& directory) {
    return nlohmann::json::parse(file(directory + "/result.json"));
  }

  double worst_residual() {
    const auto residuals = result().at("residuals").get<std::vector<double>>();
    return *std::max_element(residuals.begin(), residuals.end());
  }

  /// The run ends with `code` and this one line on stderr. It writes nothing at all for a wrong
  /// configuration or for an input that cannot be read, unless there are results, else the error to
  /// a result.json, which this deletes.
  void expect_refused(const ProcessResult& run, int code, const std::string& message) {
    EXPECT_EQ(run.exit_code, code);
    EXPECT_EQ(run.err, error_line(message) + "\n");
    EXPECT_EQ(run.out, "");
    expect_left_by_failure(code, run.err);
  }

  /// The same where the text after `beginning` is another library's.
  void expect_refused_beginning(const ProcessResult& run, int code, const std::string& beginning) {
    EXPECT_EQ(run.exit_code, code);
    EXPECT_EQ(run.err.rfind(error_line(beginning), 0), 0u) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_EQ(run.out, "");
    expect_left_by_failure(code, run.err);
  }

 private:
  void expect_left_by_failure(int code, const std::string& line) {
    const std::filesystem::path results = folder_.path() / "results";
    if (code == 1) {
      EXPECT_FALSE(std::filesystem::exists(results));
      return;
    }
    if (code == 2 && !std::filesystem::exists(results)) return;
    ASSERT_TRUE(std::filesystem::exists(folder_.path() / directory() / "result.json"));
    EXPECT_EQ(heddle::test::listing(folder_.path() / directory()),
              std::set<std::string>{"result.json"});
    const nlohmann::json json = result();
    EXPECT_EQ(json.at("status"), "error");
    EXPECT_EQ(json.at("exit_code"), code);
    EXPECT_EQ(error_line(json.at("reason")) + "\n", line);
    std::filesystem::remove_all(results);
  }

  std::string error_line(const std::string& message) const {
    return executable_.filename().string() + ": error: " + message;
  }

  std::filesystem::path executable_;
};

}  // namespace heddle::apps::test
