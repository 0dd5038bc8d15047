#include <gtest/gtest.h>

#include <apps/solver_process.hpp>
#include <sstream>
#include <string>
#include <vector>

/// Runs that are stopped go on with --resume as if they had not been.
namespace heddle::apps {
namespace {

using heddle::test::listing;
using test::Process;
using test::ProcessResult;

/// A solver's executable and a problem that keeps it busy for a while.
struct Solver {
  const char* executable;
  std::string yaml;
  std::string vectors;

  friend void PrintTo(const Solver& solver, std::ostream* out) { *out << solver.executable; }
};

const std::vector<Solver> kSolvers = {
    {"heddle-lobpcg",
     "problem: {matrix: {generate: laplace2d, size: [70, 71]}}\n"
     "solver: {nev: 9, block_size: 6, tolerance: 1e-9, preconditioner: {type: none}}\n"
     "output: {eigenvectors: npy}\n",
     "eigenvectors.npy"},
    {"heddle-lanczos",
     "problem: {matrix: {generate: laplace2d, size: [80, 81]}}\n"
     "solver: {nev: 9, block_size: 4, max_basis: 32, which: largest, filter: none,\n  tolerance: "
     "1e-8}\n"
     "output: {eigenvectors: npy}\n",
     "eigenvectors.npy"},
    {"heddle-cg",
     "problem: {matrix: {generate: laplace2d, size: [150, 151]}, rhs: {random: 5}}\n"
     "solver: {tolerance: 1e-10, preconditioner: {type: none}}\n"
     "output: {solution: npy}\n",
     "solution.npy"},
    {"heddle-lobpcg",
     "problem: {matrix: {generate: peierls2d, size: [60, 61], density: 0.0005}}\n"
     "solver: {nev: 9, block_size: 6, tolerance: 1e-9, preconditioner: {type: none}}\n"
     "output: {eigenvectors: npy}\n",
     "eigenvectors.npy"},
    {"heddle-lanczos",
     "problem: {matrix: {generate: peierls2d, size: [60, 61], density: 0.0005}}\n"
     "solver: {nev: 9, block_size: 4, max_basis: 32, which: largest, filter: none,\n  tolerance: "
     "1e-8}\n"
     "output: {eigenvectors: npy}\n",
     "eigenvectors.npy"},
    {"heddle-cg",
     "problem: {matrix: {generate: peierls2d, size: [150, 151], density: 0.001}, rhs: {random: "
     "5}}\n"
     "solver: {tolerance: 1e-10, preconditioner: {type: none}}\n"
     "output: {solution: npy}\n",
     "solution.npy"},
};

bool is_complex(const Solver& solver) { return solver.yaml.find("peierls") != std::string::npos; }

/// history.csv without the times.
std::string timeless(const std::string& csv) {
  std::istringstream lines(csv);
  std::string header, line, kept;
  std::getline(lines, header);
  const auto before = header.substr(0, header.find("seconds"));
  const auto column = std::count(before.begin(), before.end(), ',');
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string cell;
    for (int i = 0; std::getline(cells, cell, ','); ++i) kept += i == column ? "" : cell + ',';
    kept += '\n';
  }
  return kept;
}

class CheckpointProcess : public test::SolverProcess, public testing::WithParamInterface<Solver> {
 protected:
  CheckpointProcess() : SolverProcess(GetParam().executable) {}

  std::string yaml() const { return GetParam().yaml + "checkpoint: {file: state}\n"; }

  /// All that a run leaves but times, and that it left nothing else.
  std::vector<std::string> outcome() {
    nlohmann::json json = result();
    std::vector<std::string> all{file(directory() + "/" + GetParam().vectors),
                                 timeless(file(directory() + "/history.csv"))};
    for (const char* key : {"status", "iterations", "operator_applications", "residuals"}) {
      all.push_back(json.at(key).dump());
    }
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "state"));
    std::filesystem::remove_all(folder_.path() / "results");
    return all;
  }

  std::vector<std::string> whole_outcome() {
    const ProcessResult run = solve(yaml());
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return outcome();
  }
};

TEST_P(CheckpointProcess, GoesOnAfterTheIterationLimit) {
  const auto whole = whole_outcome();
  const ProcessResult stopped = solve(yaml(), {"--set", "solver.max_iterations=7"});
  EXPECT_EQ(stopped.exit_code, 3);
  EXPECT_NE(stopped.out.find("checkpoint in state: --resume goes on from it"), std::string::npos)
      << stopped.out;
  const ProcessResult resumed = solve(yaml(), {"--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("goes on from it"), std::string::npos) << resumed.err;
  EXPECT_EQ(outcome(), whole);
}

TEST_P(CheckpointProcess, GoesOnAfterASignal) {
  const auto whole = whole_outcome();
  const ProcessResult stopped = interrupt(yaml(), SIGINT);
  if (stopped.exit_code == 0) GTEST_SKIP() << "skipped: it ended before the signal came";
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_EQ(result().at("status"), "interrupted");
  EXPECT_EQ(solve(yaml(), {"--resume"}).exit_code, 0);
  EXPECT_EQ(outcome(), whole);
}

TEST_P(CheckpointProcess, GoesOnAfterItsDeath) {
  const auto whole = whole_outcome();
  folder_.write("case.yaml", yaml());
  Process process(folder_.path(), command({"case.yaml", "--set", "checkpoint.every_s=0"}));
  for (int i = 0; i < 1200 && !std::filesystem::exists(folder_.path() / "state"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process.signal(SIGKILL);
  const int code = process.wait().exit_code;
  if (code == 0) GTEST_SKIP() << "skipped: it ended before it was killed";
  EXPECT_EQ(code, -SIGKILL);
  EXPECT_EQ(solve(yaml(), {"--resume"}).exit_code, 0);
  EXPECT_EQ(outcome(), whole);
}

TEST_P(CheckpointProcess, KeepsItsCheckpointInTheOutputFolder) {
  const std::string yaml =
      GetParam().yaml + "checkpoint: {file: \"results/{name}-{solver}/state\"}\n";
  EXPECT_EQ(solve(yaml, {"--set", "solver.max_iterations=5"}).exit_code, 3);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / directory() / "state"));
  EXPECT_EQ(solve(yaml, {"--resume"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / directory() / "state"));
}

TEST_P(CheckpointProcess, RefusesWhatItCannotGoOnFrom) {
  const std::string folder = folder_.path().string();
  expect_refused(solve(GetParam().yaml, {"--resume"}), 1,
                 "case.yaml:1:1: --resume needs the checkpoint.file that an earlier run kept");
  const auto message = [&](const ProcessResult& run) {
    EXPECT_EQ(run.exit_code, 2);
    const std::size_t at = run.err.rfind("error: ");
    return at == std::string::npos ? run.err : run.err.substr(at);
  };
  EXPECT_EQ(message(solve(yaml(), {"--resume", "--validate"})),
            "error: state: no checkpoint can be read: No such file or directory; it goes once a "
            "solve has converged\n");
  EXPECT_EQ(message(solve(yaml(), {"--validate", "--set", "checkpoint.file=gone/state"})),
            "error: gone/state: cannot be created: No such file or directory\n");
  EXPECT_EQ(message(solve(yaml(), {"--set", "checkpoint.file=case.yaml"})),
            "error: case.yaml: is not a checkpoint of this version of heddle\n");
  EXPECT_EQ(file("case.yaml"), yaml());
  std::filesystem::remove_all(folder_.path() / "results");
  const std::string taken = "checkpoint.file=" + directory() + "/result.json";
  expect_refused(solve(yaml(), {"--set", taken}), 1,
                 "--set " + taken +
                     ": checkpoint.file is a file that "
                     "the run writes its results to");
  EXPECT_EQ(solve(yaml(), {"--set", "solver.max_iterations=5"}).exit_code, 3);
  EXPECT_EQ(message(solve(yaml())),
            "error: state: holds the checkpoint of an earlier solve: resume it, or remove the "
            "file\n");
  EXPECT_EQ(message(solve(yaml(), {"--resume", "--set", "solver.tolerance=0.001"}))
                .rfind("error: state: is the checkpoint of another solve, with tolerance: ", 0),
            0u);
  EXPECT_EQ(message(solve(yaml(), {"--resume", "--set", "problem.matrix.size=[20, 21]"}))
                .rfind("error: state: is the checkpoint of another solve, with matrix: ", 0),
            0u);
  if (!is_complex(GetParam())) {
    EXPECT_EQ(message(solve(yaml(), {"--resume", "--set", "spmm.reorder=radix"}))
                  .rfind("error: state: is the checkpoint of another solve, with nothing in place "
                         "of order of rows: radix ",
                         0),
              0u);
  }
  if (yaml().find("preconditioner") != std::string::npos) {
    EXPECT_EQ(message(solve(yaml(), {"--resume", "--set", "solver.preconditioner.type=jacobi"})),
              "error: state: is the checkpoint of another solve, with preconditioner: none in "
              "place of preconditioner: jacobi of A\n");
  }
  folder_.write("state", "nonsense");
  EXPECT_EQ(message(solve(yaml(), {"--resume"})),
            "error: state: is not a checkpoint of this version of heddle\n");
}

INSTANTIATE_TEST_SUITE_P(All, CheckpointProcess, testing::ValuesIn(kSolvers),
                         [](const testing::TestParamInfo<Solver>& solver) {
                           std::string name =
                               std::filesystem::path(solver.param.executable).filename().string();
                           const char* const scalar = is_complex(solver.param) ? "_complex" : "";
                           return name.substr(name.find('-') + 1) + scalar;
                         });

}  // namespace
}  // namespace heddle::apps
