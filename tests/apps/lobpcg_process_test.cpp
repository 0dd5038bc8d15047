#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <apps/difference_matrix.hpp>
#include <apps/lobpcg_process.hpp>
#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::apps {
namespace {

using heddle::test::contents;
using heddle::test::listing;
using test::ProcessResult;
using test::run_process;

class LobpcgProcess : public test::LobpcgProcess {
 protected:
  /// A file that is refused, read as the matrix.
  ProcessResult solve_file(const std::string& text) {
    folder_.write("a.mtx", text);
    return solve("problem: {matrix: a.mtx}\nsolver: {nev: 1}");
  }
};

const std::string kGrid =
    "problem: {matrix: {generate: laplace2d, size: [20, 17]}}\n"
    "solver: {nev: 4}\n"
    "threads: 1\n";
const std::string kReal = "%%MatrixMarket matrix coordinate real symmetric\n";

TEST_F(LobpcgProcess, SingularTriplets) {
  const std::string triplets =
      "problem: {matrix: d.mtx, transform: normal_equations}\n"
      "solver: {nev: 3, which: largest}\n"
      "output: {eigenvectors: npy}\n";
  folder_.write("d.mtx", test::difference_matrix(600));
  ASSERT_EQ(solve(triplets).exit_code, 0);
  EXPECT_EQ(listing(folder_.path() / "results/case-lobpcg"),
            (std::set<std::string>{"result.json", "history.csv", "left_vectors.npy",
                                   "right_vectors.npy"}));
  EXPECT_EQ(result().at("solver"), "lobpcg");
  EXPECT_EQ(result().at("preconditioner"), "none");
  const std::vector<double> exact = test::difference_singular_values(600);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(result().at("singular_values").at(i), exact[599 - i], 2.1 * 1e-8);
    EXPECT_LE(result().at("residuals").at(i), 1e-8);
  }
  EXPECT_EQ(solve(triplets, {"--set", "solver.max_iterations=1"}).exit_code, 3);
  EXPECT_EQ(result().at("status"), "max_iterations");
  EXPECT_EQ(result().at("singular_values").size(), 3u);
}

TEST_F(LobpcgProcess, ThreadsFollowTheAffinityUnlessTheUserChose) {
  folder_.write("grid.yaml", "problem: {matrix: {generate: laplace2d, size: [20, 17]}}");
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed)) ++cpu;
  const auto describes = [&](std::vector<std::string> environment, const std::string& threads) {
    std::vector<std::string> words = {"env"};
    words.insert(words.end(), environment.begin(), environment.end());
    for (const std::string& word : command({"grid.yaml", "--validate"})) words.push_back(word);
    words.insert(words.begin(), {"taskset", "-c", std::to_string(cpu)});
    const std::string out = run_process(folder_.path(), words).out;
    EXPECT_NE(out.find(", " + threads + " threads"), std::string::npos) << out;
  };
  describes({"-u", "OMP_NUM_THREADS"}, "1");
  describes({"OMP_NUM_THREADS=3"}, "3");
}

TEST_F(LobpcgProcess, WhatSingularTripletsDoNotGoWith) {
  for (const std::string key :
       {"problem.constraints=y.mtx", "solver.refresh_interval=9",
        "solver.preconditioner.type=jacobi", "solver.preconditioner.type=chebyshev"}) {
    expect_refused(solve("problem: {matrix: d.mtx, transform: normal_equations}", {"--set", key}),
                   1,
                   "--set " + key + ": " + key.substr(0, key.find('=')) +
                       " does not go with transform: normal_equations");
  }
}

TEST_F(LobpcgProcess, SolvesAndWritesWhatTheDesignSays) {
  const ProcessResult run =
      solve(kGrid + "output: {directory: here/out, eigenvectors: npy, history: true}");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(listing(folder_.path() / "here/out"),
            (std::set<std::string>{"result.json", "history.csv", "eigenvectors.npy"}));
  const auto json = result("here/out");
  EXPECT_EQ(json.at("status"), "converged");
  EXPECT_EQ(json.at("solver"), "lobpcg");
  EXPECT_EQ(json.at("device"), "host");
  EXPECT_EQ(json.at("n"), 340);
  EXPECT_EQ(json.at("nnz"), 340 + 2 * (19 * 17 + 20 * 16));
  EXPECT_GT(json.at("iterations"), 0);
  EXPECT_GE(json.at("operator_applications"), json.at("iterations"));
  EXPECT_FALSE(json.at("spmm_kernel").get<std::string>().empty());
  EXPECT_LE(json.at("orthogonality"), 1e-8);
  const std::vector<double> exact = laplace_smallest_eigenvalues({20, 17}, 4);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double residual = json.at("residuals").at(i);
    EXPECT_LE(residual, 1e-8);
    EXPECT_NEAR(json.at("eigenvalues").at(i), exact[i], 8.1 * 1e-8);
  }
  const std::string history = contents(folder_.path() / "here/out/history.csv");
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'),
            2 + static_cast<long>(json.at("iterations").get<Index>()));  // names, iteration 0
  EXPECT_NE(run.out.find("converged: "), std::string::npos);
  EXPECT_NE(run.out.find("results in here/out"), std::string::npos);
  EXPECT_NE(run.err.find("laplace2d [20, 17]: 340 rows"), std::string::npos);
}

TEST_F(LobpcgProcess, PencilsConstraintsAndPrecisions) {
  folder_.write("ones.mtx", [] {
    std::string text = "%%MatrixMarket matrix array real general\n60 1\n";
    for (int i = 0; i < 60; ++i) text += "1\n";
    return text;
  }());
  const std::string mikota =
      "problem:\n"
      "  matrix: {generate: mikota_stiffness, size: [60]}\n"
      "  mass: {generate: mikota_mass, size: [60]}\n"
      "solver: {nev: 3, max_iterations: 3000}\n";
  EXPECT_EQ(solve(mikota).exit_code, 0);
  EXPECT_NEAR(result().at("eigenvalues").at(2), 9.0, 1e-3);
  EXPECT_EQ(solve(mikota, {"--set", "precision=mixed"}).exit_code, 0);
  EXPECT_NEAR(result().at("eigenvalues").at(2), 9.0, 1e-3);
  EXPECT_EQ(result().at("precision"), "mixed");
  const std::string ring =
      "problem: {matrix: {generate: laplace1d, size: [60]}, transform: laplacian, "
      "weights: unit, constraints: ones.mtx}\n"
      "solver: {nev: 1}\n";
  EXPECT_EQ(solve(ring).exit_code, 0);
  const double fiedler = 2 - 2 * std::cos(M_PI / 60);
  EXPECT_NEAR(result().at("eigenvalues").at(0), fiedler, 4e-8);
  EXPECT_EQ(solve(ring, {"--set", "precision=single"}).exit_code, 0);
  EXPECT_NEAR(result().at("eigenvalues").at(0), fiedler, 4e-5);
}

TEST_F(LobpcgProcess, EigenvectorsOfOneRunStartAnother) {
  const auto first_residual = [this] {
    std::istringstream history(file("results/case-lobpcg/history.csv"));
    std::string line;
    std::getline(history, line);  // names
    std::getline(history, line);
    const std::size_t third = line.find(',', line.find(',') + 1) + 1;
    return std::stod(line.substr(third));
  };
  for (const std::string format : {"mtx", "npy"}) {
    EXPECT_EQ(solve(kGrid, {"--set", "output.eigenvectors=" + format}).exit_code, 0);
    const double cold = first_residual();
    const std::string guess = "problem.initial_guess=results/case-lobpcg/eigenvectors." + format;
    EXPECT_EQ(solve(kGrid, {"--set", guess}).exit_code, 0);
    EXPECT_LE(first_residual(), 1e-5 * cold) << format;
  }
}

TEST_F(LobpcgProcess, GraphsAreReadFromListsOfEdges) {
  std::string ring;  // 40 vertices numbered 100, 103, …; every edge once, of weight 2.5
  for (int i = 0; i < 40; ++i) {
    ring +=
        std::to_string(100 + 3 * i) + "\t" + std::to_string(100 + 3 * ((i + 1) % 40)) + " 2.5\n";
  }
  folder_.write("ring.txt", "# a ring\n" + ring);
  folder_.write("undirected.txt", "# Undirected graph: a ring\n" + ring);
  const std::string problem = "problem: {transform: laplacian, matrix: ";
  expect_refused_beginning(
      solve(problem + "ring.txt}\nsolver: {nev: 3}\n"), 2,
      "ring.txt: the graph is directed: entry (1, 2) is 2.5, entry (2, 1) is 0");
  const double fiedler = 2.5 * (2 - 2 * std::cos(2 * M_PI / 40));
  for (const std::string graph : {"ring.txt, symmetrize: true", "undirected.txt"}) {
    EXPECT_EQ(solve(problem + graph + "}\nsolver: {nev: 3}\n").exit_code, 0) << graph;
    EXPECT_NEAR(result().at("eigenvalues").at(0), 0, 1e-7);
    EXPECT_NEAR(result().at("eigenvalues").at(1), fiedler, 1e-7);
    EXPECT_NEAR(result().at("eigenvalues").at(2), fiedler, 1e-7);
  }
}

TEST_F(LobpcgProcess, TheSameSeedGivesTheSameBits) {
  const auto digest = [this](const std::string& seed, const std::string& threads) {
    EXPECT_EQ(solve(kGrid, {"--set", "seed=" + seed, "--set", "output.eigenvectors=npy", "--set",
                            "threads=" + threads})
                  .exit_code,
              0);
    return result().at("eigenvalues").dump() +
           contents(folder_.path() / "results/case-lobpcg/eigenvectors.npy");
  };
  const std::string first = digest("1", "1");
  EXPECT_EQ(digest("1", "1"), first);
  EXPECT_EQ(digest("1", "2"), first);
  EXPECT_NE(digest("2", "1"), first);
}

TEST_F(LobpcgProcess, QuietSaysNothingButTheResult) {
  const ProcessResult run = solve(kGrid, {"--quiet"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("eigenvalue"), std::string::npos);
}

TEST_F(LobpcgProcess, TheProfileAccountsForTheSolve) {
  const ProcessResult run = solve(kGrid, {"--quiet", "--profile"});
  EXPECT_EQ(run.exit_code, 0);
  for (const char* phase : {"spmm", "preconditioner", "orthogonalize", "rayleigh_ritz", "all"}) {
    EXPECT_NE(run.out.find(std::string("\n") + phase + " "), std::string::npos) << run.out;
  }
  const auto json = result();
  double phases = 0;
  for (const auto& phase : json.at("phases")) phases += phase.at("seconds").get<double>();
  EXPECT_LE(phases, json.at("seconds").at("total").get<double>());
  EXPECT_GT(phases, json.at("seconds").at("solve").get<double>() / 2);
}

TEST_F(LobpcgProcess, ValidateAndPrintConfigSolveNothing) {
  const ProcessResult valid = solve(kGrid, {"--validate"});
  EXPECT_EQ(valid.exit_code, 0);
  EXPECT_EQ(valid.out.rfind("case.yaml is valid and asks for\n", 0), 0u);
  EXPECT_NE(valid.out.find("memory"), std::string::npos);
  const ProcessResult printed = solve(kGrid, {"--print-config", "--set", "solver.nev=7"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_NE(printed.out.find("nev: 7\n"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "results"));
  EXPECT_EQ(solve(printed.out, {"--print-config"}).out, printed.out);
  expect_refused(
      solve("problem: {matrix: gone.mtx}", {"--print-config", "--set", "a=1"}), 1,
      "--set a=1: unknown key 'a' at the top level (did you mean 'problem.matrix'?); "
      "valid keys: problem, solver, spmm, device, devices, precision, threads, distribution, seed, "
      "output, checkpoint");
}

TEST_F(LobpcgProcess, HelpAndVersion) {
  for (const char* flag : {"--help", "--version", "--help-config"}) {
    const ProcessResult run = this->run({flag});
    EXPECT_EQ(run.exit_code, 0) << flag;
    EXPECT_FALSE(run.out.empty()) << flag;
    EXPECT_EQ(run.err, "") << flag;
  }
  EXPECT_NE(run({"--help"}).out.find("130  interrupted"), std::string::npos);
}

TEST_F(LobpcgProcess, UsageErrors) {
  expect_refused(run({}), 1,
                 "a configuration file is missing; usage: heddle-lobpcg CONFIG.yaml "
                 "[--set KEY=VALUE ...], see heddle-lobpcg --help");
  expect_refused_beginning(run({"a.yaml", "--nonsense"}), 1, "");
  expect_refused_beginning(run({"a.yaml", "--set"}), 1, "");
  expect_refused(run({"gone.yaml"}), 1, "gone.yaml: no such file");
}

TEST_F(LobpcgProcess, BadConfigurations) {
  expect_refused(solve("problem: {matrix: a.mtx}\nsolver: {nve: 10}"), 1,
                 "case.yaml:2:10: unknown key 'nve' in solver (did you mean 'nev'?); valid keys: "
                 "type, nev, which, block_size, tolerance, criterion, max_iterations, "
                 "time_limit_s, start, refresh_interval, certify, preconditioner");
  expect_refused(
      solve("problem: {matrix: a.mtx}\nsolver: {nev: ten}"), 1,
      "case.yaml:2:15: solver.nev: expected auto or an integer of at least 1, got 'ten'");
  expect_refused_beginning(solve("problem: {matrix: [a.mtx\n"), 1,
                           "case.yaml:2:1: not readable as YAML: ");
  expect_refused(solve(""), 1, "case.yaml: is empty");
  expect_refused(solve(kGrid, {"--set", "solver.nev=341"}), 1,
                 "--set solver.nev=341: solver.nev is 341, but the matrix has order 340: nev must "
                 "be at most 340");
}

TEST_F(LobpcgProcess, BadMatrixFiles) {
  expect_refused_beginning(solve("problem: {matrix: gone.mtx}"), 2, "gone.mtx: ");
  expect_refused_beginning(solve_file(""), 2, "a.mtx: ");
  expect_refused_beginning(solve_file("%%MatrixMarket matrix coordinate real\n"), 2, "a.mtx:1: ");
  expect_refused_beginning(solve_file("%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n"),
                           2, "a.mtx:1: ");
  expect_refused_beginning(
      solve_file("%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 0 1\n"), 2,
      "a.mtx:3: ");
  expect_refused_beginning(solve_file(kReal + "2 2 2\n1 1 1\n"), 2, "a.mtx");
  expect_refused_beginning(solve_file(kReal + "2 2 1\n1 1 1\n2 2 1\n"), 2, "a.mtx:4: ");
  expect_refused_beginning(solve_file(kReal + "2 2 2\n1 1 1\n3 2 1\n"), 2, "a.mtx:4: ");
  expect_refused_beginning(solve_file(kReal + "2 2 2\n1 1 nan\n2 2 1\n"), 2, "a.mtx:3: ");
  expect_refused_beginning(solve_file(kReal + "2 2 2\n1 1 1\n2 2 inf\n"), 2, "a.mtx:4: ");
  expect_refused_beginning(solve_file(kReal + "2 2 2\n1 1 1\n1 2 1\n"), 2, "a.mtx:4: ");
  expect_refused(solve_file("%%MatrixMarket matrix coordinate real general\n"
                            "2 2 3\n1 1 1\n2 2 1\n1 2 0.5\n"),
                 2, "a.mtx: the matrix is not symmetric: entry (1, 2) is 0.5, entry (2, 1) is 0");
}

TEST_F(LobpcgProcess, BadMassMatrices) {
  folder_.write("b.mtx", kReal + "3 3 3\n1 1 1\n2 2 -1\n3 3 1\n");
  expect_refused(solve("problem: {matrix: {generate: laplace1d, size: [3]}, mass: b.mtx}\n"
                       "solver: {nev: 1}"),
                 2, "b.mtx: the mass matrix is not positive definite: diagonal entry (2, 2) is -1");
  expect_refused(solve("problem: {matrix: {generate: laplace1d, size: [4]}, mass: b.mtx}\n"
                       "solver: {nev: 1}"),
                 2, "b.mtx: the mass matrix has order 3, the matrix has order 4");
}

/// 1 on the diagonal and 0.9 beside it: every 2x2 minor is positive, the matrix is not.
std::string hidden_indefinite(int n) {
  std::string text = kReal + fmt::format("{} {} {}\n1 1 1\n", n, n, 2 * n - 1);
  for (int i = 2; i <= n; ++i) text += fmt::format("{0} {1} 0.9\n{0} {0} 1\n", i, i - 1);
  return text;
}

TEST_F(LobpcgProcess, AMassMatrixThatItsFactorisationRefuses) {
  folder_.write("b.mtx", hidden_indefinite(40));
  expect_refused_beginning(
      solve("problem: {matrix: {generate: laplace1d, size: [40]}, mass: b.mtx}"), 2,
      "b.mtx: the mass matrix is not positive definite: its factorisation ");
}

TEST_F(LobpcgProcess, ALargeMassMatrixWithANegativeRitzValue) {
  constexpr int kTooLargeToFactorise = 20001;
  folder_.write("b.mtx", hidden_indefinite(kTooLargeToFactorise));
  expect_refused_beginning(
      solve(fmt::format("problem: {{matrix: {{generate: laplace1d, size: [{}]}}, mass: b.mtx}}",
                        kTooLargeToFactorise)),
      2, "b.mtx: the mass matrix is not positive definite: x'Bx = -0.");
}

TEST_F(LobpcgProcess, NothingOfAnEarlierRunStandsBesideTheResult) {
  EXPECT_EQ(solve(kGrid, {"--set", "output.eigenvectors=npy"}).exit_code, 0);
  EXPECT_EQ(solve(kGrid, {"--set", "output.eigenvectors=mtx"}).exit_code, 0);
  EXPECT_EQ(listing(folder_.path() / "results/case-lobpcg"),
            (std::set<std::string>{"result.json", "history.csv", "eigenvectors.mtx"}));
  EXPECT_EQ(solve(kGrid, {"--set", "output.history=false"}).exit_code, 0);
  EXPECT_EQ(listing(folder_.path() / "results/case-lobpcg"), std::set<std::string>{"result.json"});
}

TEST_F(LobpcgProcess, AFolderInThePlaceOfAResult) {
  std::filesystem::create_directories(folder_.path() / "results/case-lobpcg/result.json");
  folder_.write("results/case-lobpcg/history.csv", "old");
  const ProcessResult run = solve(kGrid, {"--quiet"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(
      run.err,
      "heddle-lobpcg: error: results/case-lobpcg/result.json: cannot be written: Is a directory\n");
  EXPECT_EQ(run.out, "") << "refused before the solve";
  EXPECT_EQ(file("results/case-lobpcg/history.csv"), "old");
}

TEST_F(LobpcgProcess, LimitsEndWithResults) {
  EXPECT_EQ(solve(kGrid, {"--set", "solver.max_iterations=2"}).exit_code, 3);
  EXPECT_EQ(result().at("status"), "max_iterations");
  EXPECT_EQ(result().at("iterations"), 2);
  EXPECT_EQ(listing(folder_.path() / "results/case-lobpcg"),
            (std::set<std::string>{"result.json", "history.csv"}));
  EXPECT_EQ(solve(kGrid, {"--set", "solver.time_limit_s=1e-9"}).exit_code, 3);
  EXPECT_EQ(result().at("status"), "time_limit");
}

TEST_F(LobpcgProcess, ADeviceThatIsNotThere) {
  expect_refused_beginning(solve(kGrid + "device: cuda\n"), 5,
                           "case.yaml:4:9: device: cuda cannot be used: ");
}

TEST_F(LobpcgProcess, WithoutAGpuAutoGoesOnWithTheHostAndSaysWhy) {
  const ProcessResult run = solve(kGrid + "device: auto\n");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.err.find("precision (auto: "), std::string::npos) << run.err;
  EXPECT_EQ(result().at("device"), "host");
  const std::string note = result().at("device_note");
  EXPECT_EQ(note.rfind("auto: ", 0), 0u) << note;
  EXPECT_EQ(solve(kGrid + "device: host\n").exit_code, 0);
  EXPECT_EQ(result().at("device_note"), "");
}

TEST_F(LobpcgProcess, WaysToChooseAKernelAndNames) {
  for (const char* way : {"auto", "rule", "measure", "row_split"}) {
    EXPECT_EQ(solve(kGrid, {"--set", std::string("spmm.kernel=") + way}).exit_code, 0) << way;
    EXPECT_EQ(result().at("spmm_kernel"), "row_split");
  }
  std::filesystem::remove_all(folder_.path() / "results");
  const std::string unknown =
      "spmm.kernel: merge_path is not known on the host; known: auto, rule, rule_row_mean, "
      "measure, row_split, reference";
  expect_refused(solve(kGrid, {"--set", "spmm.kernel=merge_path"}), 1,
                 "--set spmm.kernel=merge_path: " + unknown);
  expect_refused(solve("spmm: {kernel: merge_path}\n" + kGrid, {"--validate"}), 1,
                 "case.yaml:1:16: " + unknown);
}

TEST_F(LobpcgProcess, MoreMemoryThanThereIs) {
  folder_.write("case.yaml",
                "problem: {matrix: {generate: laplace1d, size: [200000]}}\n"
                "solver: {nev: 199999, block_size: 199999}\n");
  const ProcessResult run = this->run({"case.yaml"});
  EXPECT_EQ(run.exit_code, 5);
  EXPECT_NE(run.err.find(" bytes"), std::string::npos) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_EQ(result().at("status"), "error");
  EXPECT_EQ(result().at("exit_code"), 5);
}

TEST_F(LobpcgProcess, UnwritableOutput) {
  folder_.write("results", "a file, not a folder");
  const ProcessResult run = solve(kGrid);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err, "heddle-lobpcg: error: results/case-lobpcg: cannot be the output folder: " +
                         (folder_.path() / "results").string() + " is a file\n");
  EXPECT_EQ(contents(folder_.path() / "results"), "a file, not a folder");
}

TEST_F(LobpcgProcess, OutputThatNobodyMayWrite) {
  // /proc takes no folders from anyone, root included.
  const ProcessResult run = solve(kGrid + "output: {directory: /proc/heddle}");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err.rfind("heddle-lobpcg: error: /proc/heddle: cannot be written: ", 0), 0u)
      << run.err;
}

TEST_F(LobpcgProcess, AFullDisk) {
  // A limit on the size of files stands for the disk: the first write beyond it fails.
  folder_.write("case.yaml", kGrid + "output: {directory: out, eigenvectors: mtx}");
  const ProcessResult run =
      run_process(folder_.path(), {"CUDA_VISIBLE_DEVICES=", "/bin/sh", "-c",
                                   "trap '' XFSZ; ulimit -f 4; exec \"$0\" case.yaml",
                                   test::executable("heddle-lobpcg")});
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_NE(run.err.find("out/eigenvectors.mtx: cannot be written: File too large\n"),
            std::string::npos)
      << run.err;
  EXPECT_NE(run.out.find("converged: "), std::string::npos) << "the results are still told";
  EXPECT_EQ(run.out.find("results in"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out/eigenvectors.mtx"));
  const auto left = folder_.path() / "out/result.json";
  EXPECT_TRUE(!std::filesystem::exists(left) || result("out").at("status") == "error");
}

TEST_F(LobpcgProcess, StandardOutputThatCannotBeWritten) {
  folder_.write("case.yaml", kGrid);
  const ProcessResult run = this->run({"case.yaml", "--quiet"}, "/dev/full");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err, "heddle-lobpcg: error: standard output: cannot be written\n");
  EXPECT_EQ(result().at("status"), "converged");
}

}  // namespace
}  // namespace heddle::apps
