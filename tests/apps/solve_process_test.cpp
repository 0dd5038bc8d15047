#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <apps/solver_process.hpp>
#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::apps {
namespace {

using heddle::test::contents;
using heddle::test::listing;
using test::ProcessResult;

/// Runs `heddle solve` in a folder of its own.
class HeddleSolve : public test::SolverProcess {
 protected:
  HeddleSolve() : SolverProcess("heddle") {}

  ProcessResult run_solve(std::vector<std::string> arguments, const std::string& out = "") {
    arguments.insert(arguments.begin(), "solve");
    return run(arguments, out);
  }

  /// Runs a line of shell in which $heddle is the program.
  ProcessResult shell(const std::string& line) {
    return test::run_process(
        folder_.path(),
        {"CUDA_VISIBLE_DEVICES=", "heddle=" + test::executable("heddle"), "/bin/sh", "-c", line});
  }

  void expect_error(const ProcessResult& run, int code, const std::string& message) {
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_EQ(run.err, "heddle solve: error: " + message + "\n");
    EXPECT_EQ(run.out, "");
  }

  /// The matrix diag(1 … n).
  static std::string diagonal(int n) {
    std::string text =
        fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} {0}\n", n);
    for (int i = 1; i <= n; ++i) text += fmt::format("{0} {0} {0}\n", i);
    return text;
  }
};

TEST_F(HeddleSolve, TheResultSaysWhatShowsThatNoPairIsMissing) {
  const auto completeness = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--threads", "1", "-o", "out"});
    const ProcessResult run = run_solve(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const auto json = result("out").at("completeness");
    return std::pair(json.at("method").get<std::string>(), json.at("proven").get<bool>());
  };
  using Evidence = std::pair<std::string, bool>;
  const std::string small = "laplace2d:9,8", large = "laplace2d:80,70";
  EXPECT_EQ(completeness({small, "-n", "4"}), Evidence("dense", true));
  EXPECT_EQ(completeness({small, "--interval", "0.1", "0.9"}), Evidence("dense", true));
  EXPECT_EQ(completeness({small, "-n", "60", "--solver", "lobpcg"}), Evidence("dense", true));
  EXPECT_EQ(completeness({small, "-n", "3", "--transform", "normal_equations"}),
            Evidence("dense", true));
  EXPECT_EQ(completeness({"rmat:8:8", "-n", "1", "--transform", "laplacian"}),
            Evidence("graph", true));
  EXPECT_EQ(completeness({large, "-n", "4", "--solver", "lobpcg"}),
            Evidence("random search", false));
  EXPECT_EQ(completeness({large, "-n", "4", "--which", "largest", "--solver", "block_lanczos"}),
            Evidence("random block", false));
  EXPECT_EQ(completeness({large, "-n", "4", "--solver", "block_lanczos", "--filter", "inverse"}),
            Evidence("random search", false));
}

TEST_F(HeddleSolve, ARangeOfFrequenciesGivesThePairsOfItsInterval) {
  std::vector<double> inside;
  for (const double value : laplace_smallest_eigenvalues({20, 17}, 340)) {
    const double f = std::sqrt(value) / (2 * std::acos(-1.0));
    if (0.1 <= f && f <= 0.15) inside.push_back(value);
  }
  ASSERT_EQ(run_solve({"laplace2d:20,17", "--range-hz", "0.1", "0.15", "-n", "60"}).exit_code, 0);
  const auto found =
      result("results/laplace2d-block_lanczos").at("eigenvalues").get<std::vector<double>>();
  ASSERT_EQ(found.size(), inside.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], inside[i], 8e-8);
  expect_error(run_solve({"laplace2d:20,17", "--range-hz", "1", "2", "--interval", "1", "2"}), 1,
               "--range-hz and --interval are two ways to give solver.interval");
}

/// Without -n: the number of pairs is counted. The mass of 4 takes frequencies to their halves.
TEST_F(HeddleSolve, ARangeOfFrequenciesOfAPencil) {
  const Index n = 340;
  std::string mass =
      fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} {0}\n", n);
  for (Index i = 1; i <= n; ++i) mass += fmt::format("{0} {0} 4\n", i);
  folder_.write("mass.mtx", mass);
  std::vector<double> inside;
  for (const double value : laplace_smallest_eigenvalues({20, 17}, n)) {
    const double f = std::sqrt(value / 4) / (2 * std::acos(-1.0));
    if (0.05 <= f && f <= 0.075) inside.push_back(value / 4);
  }
  const ProcessResult run = run_solve(
      {"laplace2d:20,17", "--mass", "mass.mtx", "--range-hz", "0.05", "0.075", "-o", "here"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = result("here");
  const auto found = json.at("eigenvalues").get<std::vector<double>>();
  ASSERT_EQ(found.size(), inside.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], inside[i], 1e-9);
  EXPECT_EQ(json.at("completeness").at("method"), "inertia");
  EXPECT_EQ(json.at("completeness").at("proven"), true);
}

/// The pairs of K = T ⊗ I + I ⊗ T nearest to (2π f)², by their frequencies √λ/2π.
TEST_F(HeddleSolve, PairsNearestToAFrequencyAreShownInTheUnitAskedFor) {
  const double sigma = 4 * std::pow(std::acos(-1.0) * 0.2, 2);
  std::vector<double> values = laplace_smallest_eigenvalues({20, 17}, 340);
  std::sort(values.begin(), values.end(),
            [sigma](double a, double b) { return std::abs(a - sigma) < std::abs(b - sigma); });
  values.resize(3);
  std::sort(values.begin(), values.end());
  const ProcessResult run =
      run_solve({"laplace2d:20,17", "--sigma-hz", "0.2", "-n", "3", "--unit", "kHz", "-o", "near"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("f (kHz)"), std::string::npos) << run.out;
  const auto found = result("near").at("frequencies").get<std::vector<double>>();
  ASSERT_EQ(found.size(), values.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], std::sqrt(values[i]) / (2 * std::acos(-1.0)), 1e-8);
  }
  const ProcessResult plain = run_solve({"laplace2d:20,17", "-n", "3", "-o", "plain"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out.find("frequency"), std::string::npos) << plain.out;
  EXPECT_FALSE(result("plain").contains("frequencies"));
}

TEST_F(HeddleSolve, AMatrixWithOptionsGivesTheBitsOfItsConfiguration) {
  const ProcessResult run = run_solve({"laplace2d:20,17", "-n", "4", "--tol", "1e-7", "--threads",
                                       "1", "--preconditioner", "jacobi", "--solver", "lobpcg",
                                       "--eigenvectors", "npy", "-o", "here/out"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<double> exact = laplace_smallest_eigenvalues({20, 17}, 4);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(result("here/out").at("eigenvalues").at(i), exact[i], 8.1e-7);
  }
  folder_.write("case.yaml",
                "problem: {matrix: {generate: laplace2d, size: [20, 17]}}\n"
                "solver: {type: lobpcg, nev: 4, tolerance: 1e-7, preconditioner: {type: jacobi}}\n"
                "threads: 1\noutput: {eigenvectors: npy, directory: there}\n");
  const ProcessResult old = test::run_process(
      folder_.path(), {"CUDA_VISIBLE_DEVICES=", test::executable("heddle-lobpcg"), "case.yaml"});
  ASSERT_EQ(old.exit_code, 0) << old.err;
  EXPECT_EQ(file("here/out/eigenvectors.npy"), file("there/eigenvectors.npy"));
  EXPECT_EQ(result("here/out").at("eigenvalues"), result("there").at("eigenvalues"));
  EXPECT_EQ(run_solve({"case.yaml", "-n", "2", "-o", "fewer"}).exit_code, 0);
  EXPECT_EQ(result("fewer").at("eigenvalues").size(), 2u);
}

/// A path of three vertices and an edge, with weights: two components, whose null vectors follow
/// from the degrees that the transformation knows.
TEST_F(HeddleSolve, LaplaciansEndAtOnceWhereComponentsAreEnough) {
  folder_.write("graph.el", "1 2 0.5\n2 3 4\n4 5 0.3\n");
  for (const std::string transform : {"laplacian", "normalized_laplacian"}) {
    const ProcessResult run = run_solve(
        {"graph.el", "--transform", transform, "--symmetrize", "true", "-n", "2", "-o", transform});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const nlohmann::json found = result(transform);
    EXPECT_EQ(found.at("null_vectors"), 2);
    EXPECT_EQ(found.at("iterations"), 0);
    for (const double value : found.at("eigenvalues")) EXPECT_NEAR(value, 0, 1e-15);
  }
}

TEST_F(HeddleSolve, FilesThatAreNoConfigurationAreNamedAndNotReadAsOne) {
  const std::string harwell_boeing =
      "1SYMMETRIC STRUCTURE, FEAPLATE                                          CAN   24\n"
      "             9             2             7             0             0\n"
      "PSA                       24            24            92             0\n";
  const std::vector<std::tuple<std::string, std::string, std::string>> files = {
      {"k.rsa", harwell_boeing, "is a Harwell-Boeing file"},
      {"k", harwell_boeing, "is a Harwell-Boeing file"},
      {"k.mat", "MATLAB 5.0 MAT-file", "is a MATLAB file"},
      {"k.mtx.xz",
       std::string("\xFD"
                   "7zXZ\0",
                   6),
       "is compressed by xz"},
      {"k.mtx.bz2", "BZh91AY&SY", "is compressed by bzip2"},
      {"k.h5", "\x89HDF\r\n\x1a\n", "is an HDF5 file"},
      {"k.csv", "from,to\n1,2\n", "is a CSV file"},
      {"k.data", "1;2\n2;3\n", "is a CSV file"},
      {"k.mtx", "<html>404</html>\n", "is a web page"},
      {"page", "<!DOCTYPE html>\n", "is a web page"},
      {"k.npz", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n",
       "is a pointer of Git LFS"},
      {"k.yaml", "\xFF\xFEp", "is text in UTF-16"},
      {"k.bin", std::string("\1\0\0\2", 4), "neither its first bytes nor its name show a format"},
      {"K.MTX", "problem: {matrix: a.mtx}\n", "is not a Matrix Market file"},
      {"k.txt", "problem: {matrix: a.mtx}\n", "the vertex 'problem:' is not an integer"},
      {"k.npy", "problem: {matrix: a.mtx}\n", "is not a NumPy array"}};
  for (const auto& [name, content, words] : files) {
    folder_.write(name, content);
    const ProcessResult run = run_solve({name});
    EXPECT_EQ(run.exit_code, 2) << name << ": " << run.err;
    EXPECT_NE(run.err.find(name), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  }
}

TEST_F(HeddleSolve, AByteOrderMarkChangesNothing) {
  folder_.write("d.mtx", "\xEF\xBB\xBF" + diagonal(9));
  folder_.write("d.txt", "\xEF\xBB\xBF# Undirected\n1 2\n2 3\n");
  folder_.write("case.yaml", "\xEF\xBB\xBFproblem: {matrix: d.mtx}\nsolver: {nev: 1}\n");
  for (const std::string name : {"d.mtx", "d.txt", "case.yaml"}) {
    const ProcessResult run = run_solve({name, "-n", "1", "-o", "out"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
}

TEST_F(HeddleSolve, AFirstLineOfSizesNeedsAWord) {
  folder_.write("k.txt", "3 3 3\n1 1 5\n2 2 6\n3 3 7\n");
  const std::string message =
      "k.txt:1: '3 3 3' may be an edge, or the sizes of the list, as 3 lines and numbers up to 3 "
      "follow: say first_line: edge (--first-line edge) or first_line: sizes (--first-line sizes)";
  expect_error(run_solve({"k.txt", "-n", "1"}), 2, message);
  EXPECT_NE(shell("$heddle info k.txt").err.find(message), std::string::npos);
  ASSERT_EQ(run_solve({"k.txt", "-n", "3", "--first-line", "sizes", "-o", "s"}).exit_code, 0);
  EXPECT_EQ(result("s").at("nnz"), 3);
  EXPECT_NEAR(result("s").at("eigenvalues").at(2), 7, 1e-6);
  ASSERT_EQ(run_solve({"k.txt", "-n", "3", "--first-line", "edge", "-o", "e"}).exit_code, 0);
  EXPECT_NEAR(result("e").at("eigenvalues").at(2), 10, 1e-6);  // 7 + 3
  EXPECT_EQ(shell("$heddle info k.txt --first-line sizes").exit_code, 0);
  EXPECT_EQ(shell("$heddle info k.txt --first-line maybe").exit_code, 1);
}

/// A and B as six digits of what is symmetric, with another last digit on one side.
TEST_F(HeddleSolve, SymmetrizeTakesTheAverageAndSaysByHowMuch) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n2 2 4\n";
  folder_.write("k.mtx", head + "1 1 2\n2 2 2\n1 2 0.999999\n2 1 1.000001\n");
  folder_.write("m.mtx", head + "1 1 1\n2 2 1\n1 2 1e-7\n2 1 -1e-7\n");
  const ProcessResult refused = run_solve({"k.mtx", "-n", "2"});
  expect_error(refused, 2,
               "k.mtx: the matrix is not symmetric: entry (1, 2) is 0.999999, entry (2, 1) is "
               "1.000001; symmetrize: average takes (A + A^T)/2");
  const ProcessResult run =
      run_solve({"k.mtx", "--mass", "m.mtx", "-n", "2", "--symmetrize", "average", "-o", "out"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("A: (i, j) and (j, i) differed by up to 1.0e-06 of the largest entry"),
            std::string::npos)
      << run.err;
  const nlohmann::json found = result("out");
  EXPECT_NEAR(found.at("problem").at("asymmetry"), 1e-6, 1e-12);
  EXPECT_NEAR(found.at("problem").at("mass_asymmetry"), 2e-7, 1e-12);
  EXPECT_NEAR(found.at("eigenvalues").at(0), 1, 1e-12);
  EXPECT_NEAR(found.at("eigenvalues").at(1), 3, 1e-12);
  const ProcessResult linear =
      run_solve({"k.mtx", "--rhs", "ones:1", "--symmetrize", "average", "-o", "linear"});
  EXPECT_EQ(linear.exit_code, 0) << linear.err;
  EXPECT_FALSE(result("linear").at("problem").contains("mass_asymmetry"));
}

TEST_F(HeddleSolve, TakesTheMethodThatSuitsTheProblemAndSaysWhy) {
  struct Case {
    std::vector<std::string> arguments;
    std::string solver;
  };
  for (const auto& [arguments, solver] :
       {Case{{"laplace1d:60", "--rhs", "random:2"}, "block_cg"},
        Case{{"laplace1d:60", "-n", "2", "--which", "largest"}, "block_lanczos"},
        Case{{"laplace1d:60", "--interval", "-1", "0.1", "-n", "20"}, "block_lanczos"},
        Case{{"d.mtx", "-n", "2", "--mass", "massless.mtx"}, "block_lanczos"}}) {
    folder_.write("d.mtx", diagonal(9));
    folder_.write("massless.mtx",
                  "%%MatrixMarket matrix coordinate real symmetric\n9 9 8\n1 1 1\n2 2 1\n3 3 1\n"
                  "4 4 1\n5 5 1\n6 6 1\n7 7 1\n8 8 1\n");
    std::vector<std::string> words = arguments;
    words.insert(words.end(), {"-o", "out"});
    const ProcessResult run = run_solve(words);
    SCOPED_TRACE(run.err);
    EXPECT_EQ(run.exit_code, 0);
    const nlohmann::json json = result("out");
    EXPECT_EQ(json.at("solver"), solver);
    const std::string reason = json.at("solver_reason");
    EXPECT_FALSE(reason.empty());
    EXPECT_NE(run.err.find("auto: " + reason), std::string::npos);
    EXPECT_EQ(json.at("configuration").at("solver").at("type"), "auto");
  }
  EXPECT_EQ(run_solve({"laplace1d:60", "--solver", "lobpcg", "--which", "largest", "-o", "named"})
                .exit_code,
            0);
  EXPECT_EQ(result("named").at("solver"), "lobpcg");
  EXPECT_FALSE(result("named").contains("solver_reason"));
}

TEST_F(HeddleSolve, NamesKeysThatHaveNoEffect) {
  const std::string yaml =
      "problem: {matrix: {generate: laplace1d, size: [60]}}\n"
      "solver: {type: auto, nev: 2, which: largest, preconditioner: {type: jacobi}}\n";
  folder_.write("case.yaml", yaml);
  const ProcessResult run = run_solve({"case.yaml"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.err.find("solver.preconditioner has no effect: solver.type: auto takes "
                         "block_lanczos\n"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(run_solve({"case.yaml", "-q"}).err, "");
}

TEST_F(HeddleSolve, ReadsMatricesAndConfigurationsFromStandardInput) {
  folder_.write("d.mtx", diagonal(50));
  for (const std::string line :
       {"$heddle solve - -n 2 -o out < d.mtx", "cat d.mtx | $heddle solve - -n 2 -o out",
        "gzip -c d.mtx | $heddle solve - -n 2 -o out",
        "cat d.mtx | $heddle solve laplace1d:50 --mass - -n 2 -o out",
        "echo 'problem: {matrix: d.mtx}' | $heddle solve - -n 2 -o out",
        "cat d.mtx | $heddle info - --json=info.json"}) {
    const ProcessResult run = shell(line);
    EXPECT_EQ(run.exit_code, 0) << line << run.err;
  }
  EXPECT_NEAR(result("out").at("eigenvalues").at(1), 2, 1e-6);
  EXPECT_EQ(nlohmann::json::parse(file("info.json")).at("rows"), 50);
  EXPECT_EQ(shell("echo 'problem: {matrix: d.mtx}' | $heddle solve - -n 2").exit_code, 0);
  EXPECT_EQ(listing(folder_.path() / "results").begin()->rfind("stdin", 0), 0u);
}

TEST_F(HeddleSolve, WhatIsWrongOnStandardInputIsNamed) {
  folder_.write("d.mtx", diagonal(50));
  expect_error(shell("cat d.mtx | $heddle solve - --mass -"), 1,
               "standard input is named twice, for problem.matrix and for problem.mass");
  expect_error(shell("echo 'problem: {matrix: -}' | $heddle solve -"), 1,
               "standard input is named twice, for the configuration and for problem.matrix");
  expect_error(shell("echo 'problem: {matrx: d.mtx}' | $heddle solve -"), 1,
               "standard input:1:11: unknown key 'matrx' in problem (did you mean 'matrix'?); "
               "valid keys: matrix, mass, geometric_stiffness, transform, weights, symmetrize, "
               "first_line, constraints, initial_guess, coordinates, near_null, rhs");
  const ProcessResult cut = shell("head -n 9 d.mtx | $heddle solve -");
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_EQ(cut.err.rfind("heddle solve: error: standard input:", 0), 0u) << cut.err;
}

TEST_F(HeddleSolve, JsonOnStandardOutputIsAllThatStandsThere) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--json", "laplace1d:40"},
                                             {"laplace1d:40", "--json", "-"},
                                             {"--json=-", "laplace1d:40", "--profile"},
                                             {"laplace1d:40", "--json", "-q"}}) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"-n", "2", "-o", "out"});
    const ProcessResult run = run_solve(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, file("out/result.json"));
    EXPECT_EQ(nlohmann::json::parse(run.out).at("status"), "converged");
    const bool quiet = words.back() == "-q";
    EXPECT_EQ(run.err.find("eigenvalue  ") == std::string::npos, quiet) << run.err;
  }
  const ProcessResult run =
      run_solve({"laplace1d:40", "--json", "copy.json", "-n", "2", "-o", "file"});
  EXPECT_NE(run.out.find("converged: "), std::string::npos);
  EXPECT_EQ(file("copy.json"), file("file/result.json"));
}

TEST_F(HeddleSolve, JsonTellsTheCommandLineAndFailures) {
  folder_.write("d.mtx", diagonal(50));
  ASSERT_EQ(run_solve({"d.mtx", "-n", "2", "-o", "out"}).exit_code, 0);
  const std::vector<std::string> command = result("out").at("run").at("command_line");
  EXPECT_EQ(std::vector<std::string>(command.begin() + 1, command.end()),
            (std::vector<std::string>{"solve", "d.mtx", "-n", "2", "-o", "out"}));
  const ProcessResult gone = run_solve({"gone.mtx", "--json", "-o", "failed"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_EQ(gone.out, file("failed/result.json"));
  EXPECT_EQ(nlohmann::json::parse(gone.out).at("exit_code"), 2);
  const ProcessResult nowhere = run_solve({"d.mtx", "--json=no/folder/a.json", "-o", "nowhere"});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_EQ(nowhere.err.rfind("heddle solve: error: no/folder/a.json: cannot be written: there is "
                              "no folder ",
                              0),
            0u)
      << nowhere.err;
  EXPECT_EQ(nowhere.out, "");
}

TEST_F(HeddleSolve, AMatrixAfterJsonIsNotOverwritten) {
  folder_.write("d.mtx", diagonal(50));
  EXPECT_EQ(run_solve({"--json", "d.mtx", "-n", "2"}).exit_code, 0);
  EXPECT_EQ(file("d.mtx"), diagonal(50));
}

TEST_F(HeddleSolve, TellsMoreOrLess) {
  const ProcessResult more = run_solve({"laplace1d:40", "-n", "2", "-v"});
  EXPECT_NE(more.err.find("max_iterations: 1000"), std::string::npos) << more.err;
  EXPECT_NE(more.err.find("kernel "), std::string::npos) << more.err;
  const ProcessResult less = run_solve({"laplace1d:40", "-n", "2", "-q"});
  EXPECT_EQ(less.err, "");
  EXPECT_NE(less.out.find("converged: "), std::string::npos);
  EXPECT_EQ(run_solve({"laplace1d:40", "-v", "-q"}).exit_code, 1);
}

TEST_F(HeddleSolve, WhatIsRefused) {
  expect_error(run_solve({}), 1,
               "a configuration or a matrix is missing; usage: heddle solve CONFIG.yaml or heddle "
               "solve MATRIX.mtx [-n PAIRS ...], see heddle solve --help");
  expect_error(run_solve({"K.mtx", "M.mtx"}), 1,
               "M.mtx is one file too many: run heddle solve once per file, or say what M.mtx is, "
               "such as the mass matrix: --mass M.mtx; see heddle solve --help");
  expect_error(run_solve({"K.mtx", "M.mtx", "--masses"}), 1,
               "heddle solve has no option --masses; see heddle solve --help");
  expect_error(run_solve({"gone.yaml"}), 1, "gone.yaml: no such file");
  expect_error(run_solve({"laplace1d:40", "--nev", "many"}), 1,
               "--nev many: solver.nev: expected auto or an integer of at least 1, got 'many'");
  expect_error(run_solve({"laplace1d:40", "--nev", "41"}), 1,
               "--nev 41: solver.nev is 41, but the matrix has order 40: nev must be at most 40");
  EXPECT_EQ(run_solve({"laplace9d:40"}).exit_code, 1);
  EXPECT_TRUE(listing(folder_.path()).empty());
  EXPECT_EQ(run_solve({"gone.mtx"}).exit_code, 2);
}

TEST_F(HeddleSolve, TheProgramOfAMethodNamesTheRightOne) {
  folder_.write("d.mtx", diagonal(50));
  const auto lobpcg = [this](const std::string& argument) {
    return test::run_process(folder_.path(), {test::executable("heddle-lobpcg"), argument});
  };
  EXPECT_EQ(lobpcg("d.mtx").err,
            "heddle-lobpcg: error: d.mtx: is a matrix, heddle-lobpcg expects a configuration; run "
            "heddle solve d.mtx --solver lobpcg\n");
  EXPECT_EQ(lobpcg("laplace1d:50").exit_code, 1);
  folder_.write("cg.yaml", "problem: {matrix: d.mtx, rhs: {ones: 1}}\nsolver: {type: block_cg}");
  const ProcessResult other = lobpcg("cg.yaml");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(other.err,
            "heddle-lobpcg: error: cg.yaml:2:16: solver.type is block_cg, heddle-lobpcg solves "
            "with lobpcg; run heddle-cg, or heddle solve for any type\n");
  EXPECT_EQ(run_solve({"cg.yaml"}).exit_code, 0);
  folder_.write("auto.yaml",
                "problem: {matrix: d.mtx}\nsolver: {type: auto, nev: 2, filter: none}\n"
                "output: {directory: own}");
  const ProcessResult own = lobpcg("auto.yaml");
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_EQ(result("own").at("solver"), "lobpcg");
  EXPECT_NE(own.err.find("solver.filter has no effect"), std::string::npos);
}

}  // namespace
}  // namespace heddle::apps
