#pragma once

#include <gtest/gtest.h>

#include <apps/solver_process.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace heddle::apps {

using test::ProcessResult;

/// How several ranks of a solve are started: as processes by the launcher of MPI, on the host or
/// with a GPU each, or as threads of one process with a GPU each.
enum class Start { processes, gpu_processes, gpu_threads };

/// A symmetric Matrix Market file with the entries of lower triangles as lines.
inline std::string matrix_market(int order, const std::vector<std::string>& entries) {
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n";
  for (const int number : {order, order}) text += std::to_string(number) + " ";
  text += std::to_string(entries.size()) + "\n";
  for (const std::string& entry : entries) text += entry + "\n";
  return text;
}

/// Sixth differences, with 20 on the diagonal.
inline std::string sixth_differences(int order) {
  std::vector<std::string> entries;
  for (int i = 1; i <= order; ++i) {
    const std::string row = std::to_string(i) + " ";
    entries.push_back(row + std::to_string(i) + " 20");
    if (i > 1) entries.push_back(row + std::to_string(i - 1) + " -15");
    if (i > 2) entries.push_back(row + std::to_string(i - 2) + " 6");
    if (i > 3) entries.push_back(row + std::to_string(i - 3) + " -1");
  }
  return matrix_market(order, entries);
}

/// A Laplacian, the rows of which sum to 0.
inline std::string ring(int order) {
  std::vector<std::string> entries{"1 1 2", std::to_string(order) + " 1 -1"};
  for (int i = 2; i <= order; ++i) {
    const std::string row = std::to_string(i);
    entries.push_back(row + " " + std::to_string(i - 1) + " -1");
    entries.push_back(row + " " + row + " 2");
  }
  return matrix_market(order, entries);
}

inline std::string generated(const std::string& name, const std::string& size) {
  return "matrix: {generate: " + name + ", size: [" + size + "]}";
}

inline const std::string kGrid = generated("laplace3d", "9, 10, 11");
inline const std::string kBeam =
    generated("elasticity3d", "3, 4, 5") + ", mass: {generate: elasticity3d_mass, size: [3, 4, 5]}";

inline const std::string kFlux = generated("random_flux3d", "9, 8, 7");
inline const std::string kComplexPencil =
    kFlux + ", mass: {generate: random_hermitian, size: [504], density: 5}";

inline const std::string kUnending =
    "nev: 8, tolerance: 1e-13, max_iterations: 1000000, criterion: absolute, preconditioner: "
    "{type: none}";
inline const std::string kUnpreconditioned = "nev: 4, preconditioner: {type: none}";
inline const std::string kKept = "checkpoint: {file: kept}\n";

inline std::string problem(const std::string& parts, const std::string& solver) {
  return "problem: {" + parts + "}\nsolver: {" + solver + "}\nthreads: 1\n";
}

/// Runs a solver on several ranks.
class Processes : public test::SolverProcess {
 protected:
  explicit Processes(const std::string& name = "heddle-lobpcg", Start start = Start::processes)
      : SolverProcess(name), start_(start), gpu_(start != Start::processes) {
    // Launchers of several tests at once would remove each other's folder.
    setenv("OMPI_MCA_orte_tmpdir_base", mpi_folder_.path().c_str(), 1);
  }

  void start_as(Start start) { start_ = start; }

  std::vector<std::string> launch(int count, std::vector<std::string> arguments) const {
    if (start_ == Start::gpu_threads) {
      arguments.insert(arguments.end(), {"--devices", std::to_string(count)});
      return command(arguments, gpu_);
    }
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

  bool has_metis() {
    const std::string asked = problem(kBeam, "nev: 1") + "distribution: metis\n";
    return together(2, asked).err.find("this build has no METIS") == std::string::npos;
  }

  /// Several ranks end as one does, with the same values and as many iterations, ±`most`.
  void expect_same(int count, const std::string& yaml, int most = 1) {
    const int code = solve(yaml, {"-q"}, gpu_).exit_code;
    const nlohmann::json one = result();
    const ProcessResult run = together(count, yaml, {"-q"});
    EXPECT_EQ(run.exit_code, code) << run.err << yaml;
    const nlohmann::json several = result();
    const bool threads = start_ == Start::gpu_threads;
    EXPECT_EQ(several.at("processes"), threads ? 1 : count);
    EXPECT_EQ(several.at("gpus"), threads ? count : gpu_ ? 1 : 0);
    EXPECT_EQ(several.at("status"), one.at("status")) << yaml;
    EXPECT_EQ(one.at("memory").at("peak_bytes_most"), one.at("memory").at("peak_bytes"));
    EXPECT_GE(several.at("memory").at("peak_bytes_most"), several.at("memory").at("peak_bytes"));
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

  /// A solve on two ranks ends as said, with that in its results.
  void expect_status(const std::string& yaml, int code, const std::string& status) {
    const ProcessResult run = together(2, yaml, {"-q"});
    EXPECT_EQ(run.exit_code, code) << run.err << yaml;
    EXPECT_EQ(result().at("status"), status) << yaml;
  }

  /// A solve that is ended and resumed has the bits of one that is not. `kept` keeps a checkpoint
  /// in the file `kept`.
  void expect_resumed(int count, const std::string& kept) {
    const std::filesystem::path last = folder_.path() / ("kept." + std::to_string(count - 1));
    EXPECT_EQ(together(count, kept, {"--set", "solver.max_iterations=20"}).exit_code, 3);
    EXPECT_TRUE(std::filesystem::exists(last));
    const std::vector<std::string> resume{"--resume", "--set", "output.directory=resumed"};
    EXPECT_EQ(together(count, kept, resume).exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(last));
    EXPECT_EQ(together(count, kept, {"--set", "output.directory=whole"}).exit_code, 0);
    for (const char* const key : {"iterations", "eigenvalues", "residuals"}) {
      EXPECT_EQ(result("resumed").at(key), result("whole").at(key)) << key;
    }
  }

  /// All ranks end when the last one has lost its checkpoint. Returns what they say.
  std::string expect_a_failure_to_end_all(int count, const std::string& kept) {
    EXPECT_EQ(together(count, kept, {"--set", "solver.max_iterations=5"}).exit_code, 3);
    const std::string lost = "kept." + std::to_string(count - 1);
    EXPECT_TRUE(std::filesystem::remove(folder_.path() / lost));
    const ProcessResult run = together(count, kept, {"--resume"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find(lost + ": no checkpoint can be read"), std::string::npos) << run.err;
    return run.err;
  }

  /// `signal` ends a solve that would go on for minutes, with results. Ranks get it directly,
  /// because not every launcher passes signals on.
  void expect_ended_by(int signal, const std::string& yaml) {
    folder_.write("case.yaml", yaml);
    test::Process process(folder_.path(), launch(2, {"case.yaml"}));
    EXPECT_TRUE(wait_for_iterations(process)) << process.err();
    start_ == Start::gpu_threads ? process.signal(signal) : process.signal_children(signal);
    const ProcessResult run = process.wait();
    EXPECT_EQ(run.exit_code, 130) << run.err;
    EXPECT_EQ(result().at("status"), "interrupted");
  }

  /// Block Lanczos ends a problem with a dense solve of which polynomials would cost more: the
  /// smallest eigenvalues of sixth differences. So does an interval. `device`: a line of YAML.
  void expect_dense_solves(int count, const std::string& device) {
    folder_.write("differences.mtx", sixth_differences(300));
    const std::string matrix = "matrix: differences.mtx";
    expect_same(count, problem(matrix, "nev: 10, max_basis: 80, filter: chebyshev") + device, 0);
    const auto reason = result().at("reason").get<std::string>();
    EXPECT_TRUE(reason.starts_with("solved as a dense problem")) << reason;
    const std::string interval = "which: interval, interval: [0, 1e-3], nev: 40, filter: chebyshev";
    expect_same(count, problem(matrix, interval) + device, 0);
  }

  void expect_refused(const std::string& yaml, int code, const std::string& message,
                      std::vector<std::string> arguments = {}) {
    const ProcessResult run = together(2, yaml, std::move(arguments));
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_NE(run.err.find(": error: "), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
  }

 private:
  heddle::test::TemporaryFolder mpi_folder_;
  Start start_;
  bool gpu_;
};

}  // namespace heddle::apps
