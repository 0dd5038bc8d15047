#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <apps/solver_process.hpp>
#include <csignal>
#include <string>

/// Every status of result.json with its exit code, from each executable that can end so on files
/// and options: 22 of the 24 pairs. heddle-lobpcg and heddle-cg cannot come to verification_failed:
/// a matrix that was read gives the same products always, and where recurrence and fresh products
/// part by rounding, the solvers go on from the fresh ones. That takes an operator that changes, as
/// in the library's tests of every status by every solver, `LobpcgStatus`, `BlockLanczosStatus` and
/// `BlockCgStatus`.
namespace heddle::apps {
namespace {

using heddle::test::listing;
using test::ProcessResult;

struct Case {
  const char* executable;
  const char* status;
  int exit_code;
  std::string yaml;
};

class StatusProcess : public test::SolverProcess, public testing::WithParamInterface<Case> {
 protected:
  StatusProcess() : SolverProcess(GetParam().executable) {}

  void SetUp() override {
    // The largest eigenvalue is 3 times this entry, beyond the range of numbers.
    write_matrix("huge.mtx", 400, [](int i, int j) { return i - j < 2 ? 1.7e308 : 0; });
    write_matrix("saddle.mtx", 3, [](int i, int j) { return i == j ? i - 1.5 : 0; });
    write_matrix("ring.mtx", 40, [](int i, int j) {  // each row sums to 0
      return i == j ? 2.0 : (i - j == 1 || i - j == 39 ? -1.0 : 0.0);
    });
    write_short_matrix("short.mtx");
  }

  /// Of the lower triangle of a symmetric matrix, entries that are not zero.
  template <class Entry>
  void write_matrix(const std::string& name, int order, Entry&& entry, int band = 40) {
    std::string lines;
    int count = 0;
    for (int i = 1; i <= order; ++i) {
      for (int j = std::max(1, i - band); j <= i; ++j) {
        if (entry(i, j) == 0) continue;
        lines += fmt::format("{} {} {}\n", i, j, entry(i, j));
        ++count;
      }
    }
    folder_.write(
        name, fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} {1}\n", order,
                          count) +
                  lines);
  }

  /// A mass matrix with positive diagonal and 2×2 minors, over six decades so that a few Lanczos
  /// steps do not see its one negative direction. The other matrix is negative in the rows of this
  /// direction, so that no A − σB is positive definite.
  void write_hidden_indefinite_pencil() {
    constexpr int kOrder = 20001;  // more is not factorised before a solve
    const auto mass = [](int i, int j) {
      if (i == j) return i <= 3 ? 1.0 : 1 + 1e6 * i / kOrder;
      return i <= 3 ? 0.9 : 0.0;
    };
    write_matrix("hidden.mtx", kOrder, mass, 1);
    write_matrix(
        "contrary.mtx", kOrder, [](int i, int) { return i <= 3 ? -1 : 1e3 + i; }, 0);
  }

  /// Too large to be decomposed, with three singular values whose squares lie near the rounding of
  /// the largest.
  void write_short_matrix(const std::string& name) {
    std::string text = "%%MatrixMarket matrix coordinate real general\n6020 6000 6000\n";
    for (int i = 1; i <= 6000; ++i) {
      text += fmt::format("{0} {0} {1}\n", i, i < 4 ? 3e-4 * i : 1 + i / 6000.0);
    }
    folder_.write(name, text);
  }

  void expect_result(const ProcessResult& run) {
    const Case& expected = GetParam();
    EXPECT_EQ(run.exit_code, expected.exit_code) << run.err;
    EXPECT_EQ(listing(folder_.path() / directory()),
              (std::set<std::string>{"result.json", "history.csv"}));
    const auto json = result();
    EXPECT_EQ(json.at("status"), expected.status) << json.at("reason");
    EXPECT_FALSE(json.at("reason").get<std::string>().empty());
    EXPECT_TRUE(json.at("residuals").is_array());
    EXPECT_NE(run.out.find(expected.status), std::string::npos) << run.out;
  }
};

const std::string kGrid = "matrix: {generate: laplace2d, size: [40, 41]}";
const std::string kRows = "rhs: {random: 2}";

std::string pairs(const std::string& matrix, const std::string& options) {
  return "problem: {" + matrix + "}\nsolver: {nev: 3" + options + "}\nthreads: 1\n";
}

std::string system(const std::string& matrix, const std::string& options) {
  return "problem: {" + matrix + "}\nsolver: {" + options + "}\nthreads: 1\n";
}

class EndedStatus : public StatusProcess {};

TEST_P(EndedStatus, StandsInTheResultWithItsExitCode) {
  if (GetParam().yaml.find("hidden.mtx") != std::string::npos) write_hidden_indefinite_pencil();
  expect_result(solve(GetParam().yaml));
}

const Case kEnded[] = {
    {"heddle-lobpcg", "converged", 0, pairs(kGrid, "")},
    {"heddle-lanczos", "converged", 0, pairs(kGrid, "")},
    {"heddle-cg", "converged", 0, system(kGrid + ", " + kRows, "tolerance: 1e-8")},
    {"heddle-lobpcg", "max_iterations", 3, pairs(kGrid, ", max_iterations: 1")},
    {"heddle-lanczos", "max_iterations", 3, pairs(kGrid, ", max_iterations: 1")},
    {"heddle-cg", "max_iterations", 3, system(kGrid + ", " + kRows, "max_iterations: 1")},
    {"heddle-lobpcg", "time_limit", 3, pairs(kGrid, ", time_limit_s: 1e-9")},
    {"heddle-lanczos", "time_limit", 3, pairs(kGrid, ", time_limit_s: 1e-9")},
    {"heddle-cg", "time_limit", 3, system(kGrid + ", " + kRows, "time_limit_s: 1e-9")},
    {"heddle-lobpcg", "breakdown", 4, pairs("matrix: huge.mtx", ", which: largest")},
    {"heddle-lanczos", "breakdown", 4, pairs("matrix: huge.mtx", ", which: largest")},
    {"heddle-cg", "breakdown", 4,
     system("matrix: ring.mtx, rhs: {ones: 1}", "preconditioner: {type: none}")},
    {"heddle-lobpcg", "stagnated", 4, pairs(kGrid, ", tolerance: 1e-18")},
    {"heddle-lanczos", "stagnated", 4, pairs(kGrid, ", tolerance: 1e-18")},
    {"heddle-cg", "stagnated", 4, system(kGrid + ", " + kRows, "tolerance: 1e-19")},
    {"heddle-lobpcg", "indefinite", 4, pairs("matrix: contrary.mtx, mass: hidden.mtx", "")},
    {"heddle-lanczos", "indefinite", 4, pairs("matrix: contrary.mtx, mass: hidden.mtx", "")},
    {"heddle-cg", "indefinite", 4, system("matrix: saddle.mtx, rhs: {ones: 1}", "")},
    {"heddle-lanczos", "verification_failed", 6,
     pairs("matrix: short.mtx, transform: normal_equations",
           ", which: smallest, criterion: relative, tolerance: 1e-9")},
};

std::string case_name(const testing::TestParamInfo<Case>& info) {
  const std::string executable = info.param.executable;
  return executable.substr(executable.rfind("heddle-") + 7) + "_" + info.param.status;
}

INSTANTIATE_TEST_SUITE_P(All, EndedStatus, testing::ValuesIn(kEnded), case_name);

class InterruptedStatus : public StatusProcess {};

TEST_P(InterruptedStatus, StandsInTheResultWithItsExitCode) {
  expect_result(interrupt(GetParam().yaml, SIGINT));
}

const std::string kLarge = "matrix: {generate: laplace2d, size: [700, 701]}";
const Case kInterrupted[] = {
    {"heddle-lobpcg", "interrupted", 130, pairs(kLarge, ", tolerance: 1e-15")},
    {"heddle-lanczos", "interrupted", 130,
     pairs("matrix: {generate: laplace2d, size: [200, 201]}",
           ", tolerance: 1e-15, filter: none, max_iterations: 1000000")},
    {"heddle-cg", "interrupted", 130,
     system(kLarge + ", " + kRows, "tolerance: 1e-11, preconditioner: {type: none}")},
};

INSTANTIATE_TEST_SUITE_P(All, InterruptedStatus, testing::ValuesIn(kInterrupted), case_name);

}  // namespace
}  // namespace heddle::apps
