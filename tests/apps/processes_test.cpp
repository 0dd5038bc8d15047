#include <gtest/gtest.h>

#include <algorithm>
#include <apps/difference_matrix.hpp>
#include <apps/executable.hpp>
#include <apps/processes.hpp>
#include <cmath>
#include <filesystem>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

using heddle::test::contents;

class LobpcgOnProcesses : public Processes {};

struct LanczosOnProcesses : Processes {
  LanczosOnProcesses() : Processes("heddle-lanczos") {}
};

struct CgOnProcesses : Processes {
  CgOnProcesses() : Processes("heddle-cg") {}
};

TEST_F(LobpcgOnProcesses, SameResults) {
  for (const int count : {2, 3, 4}) expect_same(count, problem(kGrid, "nev: 4"));
  expect_same(3, problem(kGrid, "nev: 4, which: largest"));
  expect_same(2, problem(kGrid, "nev: 4, preconditioner: {type: jacobi}"));
  expect_same(3, problem(kBeam, "nev: 4"));
  expect_same(4, problem(kBeam, "nev: 4, preconditioner: {type: block_jacobi}"));
  expect_same(2, problem(kBeam, "nev: 4, which: largest"));
  expect_same(3, problem(generated("laplace1d", "9"), "nev: 3"));
  expect_same(3, problem(kGrid, "nev: 4") + "precision: mixed\n");
}

TEST_F(LobpcgOnProcesses, Multigrid) {
  const std::string multigrid = "nev: 4, preconditioner: {type: multigrid}";
  const std::string body = generated("elasticity3d", "8, 7, 6");  // with coordinates of its own
  expect_same(2, problem(kGrid, multigrid), 2);
  expect_same(3, problem(body, multigrid) + "precision: single\n", 2);
  if (has_metis()) expect_same(4, problem(body, multigrid) + "distribution: metis\n", 2);
  const std::string of_nodes = "nev: 4, preconditioner: {type: multigrid, unknowns: 4}";
  expect_same(3, problem(generated("laplace2d", "21, 20"), of_nodes), 2);
}

TEST_F(LobpcgOnProcesses, GraphsWithNullVectors) {
  const std::string laplacian = "transform: laplacian, weights: unit, symmetrize: true";
  expect_same(2, problem(generated("rmat", "7") + ", " + laplacian, "nev: 5"));
  expect_same(3, problem(generated("laplace2d", "15, 17") + ", " + laplacian, "nev: 4"));
}

TEST_F(LobpcgOnProcesses, ComplexMatrices) {
  for (const int count : {2, 3, 4}) expect_same(count, problem(kFlux, "nev: 4"));
  EXPECT_EQ(result().at("problem").at("complex"), true);
  for (const char* const type : {"none", "jacobi", "chebyshev"}) {
    const std::string solver = std::string("nev: 4, preconditioner: {type: ") + type + "}";
    expect_same(3, problem(kComplexPencil, solver), 2);
  }
  if (has_metis()) expect_same(4, problem(kFlux, "nev: 4") + "distribution: metis\n");
  const std::string first =
      problem(kFlux, "nev: 3") + "output: {eigenvectors: npy, directory: a}\n";
  ASSERT_EQ(together(3, first).exit_code, 0);
  expect_same(2, problem(kFlux + ", constraints: a/eigenvectors.npy", "nev: 3"));
  expect_same(3, problem(kFlux + ", initial_guess: a/eigenvectors.npy", "nev: 3"));
}

TEST_F(LobpcgOnProcesses, ConstraintsAndTheBitsOfVectors) {
  const std::string first = problem(kGrid, "nev: 3") + "output: {eigenvectors: npy}\n";
  ASSERT_EQ(together(3, first, {"--set", "output.directory=a"}).exit_code, 0);
  ASSERT_EQ(together(3, first, {"--set", "output.directory=b"}).exit_code, 0);
  EXPECT_EQ(file("a/eigenvectors.npy"), file("b/eigenvectors.npy"));
  EXPECT_EQ(result("a").at("eigenvalues"), result("b").at("eigenvalues"));
  EXPECT_EQ(result("a").at("residuals"), result("b").at("residuals"));
  expect_same(2, problem(kGrid + ", constraints: a/eigenvectors.npy", "nev: 3"));
  expect_same(3, problem(kGrid + ", initial_guess: a/eigenvectors.npy", "nev: 3"));
}

/// Processes that make their own rows of a generated matrix get the bits that they get from files,
/// which process 0 reads and sends where a mass matrix does not show that it is definite.
TEST_F(LobpcgOnProcesses, OwnRowsOfGeneratedMatrices) {
  HostContext context(1);
  for (const char* const name : {"elasticity3d", "elasticity3d_mass"}) {
    const auto A = generate<double>(context, {name, {3, 4, 5}});
    write_matrix_market(folder_.path() / (std::string(name) + ".mtx"), A.view());
  }
  const std::string more = "distribution: rows\noutput: {eigenvectors: mtx}\n";
  const std::string made = problem(kBeam, "nev: 4") + more;
  const std::string sent =
      problem("matrix: elasticity3d.mtx, mass: elasticity3d_mass.mtx", "nev: 4") + more;
  for (const int count : {2, 3}) {
    ASSERT_EQ(together(count, made, {"--set", "output.directory=made"}).exit_code, 0);
    ASSERT_EQ(together(count, sent, {"--set", "output.directory=sent"}).exit_code, 0);
    EXPECT_EQ(file("made/eigenvectors.mtx"), file("sent/eigenvectors.mtx"));
    EXPECT_FALSE(file("made/eigenvectors.mtx").empty());
    for (const char* const key : {"eigenvalues", "residuals", "iterations", "nnz", "n"}) {
      EXPECT_EQ(result("made").at(key), result("sent").at(key)) << key;
    }
  }
  expect_same(4, made);
}

/// The same for the right-hand sides of a system, with a file that processes read by parts.
TEST_F(CgOnProcesses, OwnRowsOfGeneratedMatrices) {
  HostContext context(1);
  write_matrix_market(folder_.path() / "grid.mtx",
                      generate<double>(context, {"laplace3d", {5, 6, 20}}).view());
  const std::string more = "distribution: rows\noutput: {solution: npy}\n";
  const std::string jacobi = "preconditioner: {type: jacobi}";
  const std::string made =
      problem(generated("laplace3d", "5, 6, 20") + ", rhs: {random: 3}", jacobi);
  const std::string sent = problem("matrix: grid.mtx, rhs: {random: 3}", jacobi);
  ASSERT_EQ(together(3, made + more, {"--set", "output.directory=made"}).exit_code, 0);
  ASSERT_EQ(together(3, sent + more, {"--set", "output.directory=sent"}).exit_code, 0);
  EXPECT_EQ(file("made/solution.npy"), file("sent/solution.npy"));
  EXPECT_FALSE(file("made/solution.npy").empty());
  EXPECT_EQ(result("made").at("residuals"), result("sent").at("residuals"));
  EXPECT_EQ(result("made").at("memory").at("estimated_bytes"),  // nothing that process 0 would send
            result("sent").at("memory").at("estimated_bytes"));
  const std::string kept = "checkpoint: {file: kept}\n";
  EXPECT_EQ(together(2, made + more + kept, {"--set", "solver.max_iterations=4"}).exit_code, 3);
  EXPECT_EQ(together(2, made + more + kept, {"--resume"}).exit_code, 0);
  expect_same(2, made + more);
}

TEST_F(LanczosOnProcesses, SameResults) {
  expect_same(2, problem(kGrid, "nev: 4, which: largest"));
  expect_same(3, problem(kGrid, "nev: 4, filter: chebyshev"));
  expect_same(4, problem(generated("laplace1d", "10"), "nev: 9"));  // more than rows per process
  const std::string mikota =
      generated("mikota_stiffness", "300") + ", mass: {generate: mikota_mass, size: [300]}";
  expect_same(4, problem(mikota, "nev: 4, filter: chebyshev"));
  expect_same(3, problem(generated("laplace2d", "30, 31"),
                         "nev: 40, which: interval, interval: [0.1, 0.25], filter: chebyshev"));
}

TEST_F(LanczosOnProcesses, ComplexMatrices) {
  constexpr int kAnyCycles = 1000;
  expect_same(3, problem(kFlux, "nev: 4, which: largest"));
  expect_same(2, problem(kFlux, "nev: 4, filter: chebyshev"));
  expect_same(2, problem(kComplexPencil, "nev: 4, which: largest"), 2);
  expect_same(3, problem(kFlux, "which: interval, interval: [5, 5.2]"), kAnyCycles);
  EXPECT_EQ(result().at("completeness").at("proven"), true);
  expect_same(2, problem(kComplexPencil, "which: interval, interval: [0.7, 0.75]"), kAnyCycles);
  expect_same(2, problem(kFlux, "nev: 60, which: interval, interval: [5, 5.2], filter: chebyshev"));
  expect_same(4, problem(kComplexPencil, "nev: 5, which: nearest, sigma: 0.7"), 0);
}

/// Each process searches a part of the interval, in cycles of its own. Of pairs nearest to a
/// number, process 0 does all.
TEST_F(LanczosOnProcesses, SolveByFactors) {
  constexpr int kAnyCycles = 1000;
  const std::string interval = "which: interval, interval: [0.5, 2.5]";
  expect_same(3, problem(kGrid, interval), kAnyCycles);
  EXPECT_EQ(result().at("completeness").at("method"), "inertia");
  EXPECT_EQ(result().at("completeness").at("proven"), true);
  expect_same(2, problem(kBeam, "which: interval, interval: [0, 20]"), kAnyCycles);
  if (has_metis()) expect_same(4, problem(kGrid, interval) + "distribution: metis\n", kAnyCycles);
  expect_same(2, problem(kBeam, "nev: 5, which: nearest, sigma: 10"), 0);
  ASSERT_EQ(together(2, problem(kGrid, "nev: 3") + "output: {eigenvectors: npy, directory: a}\n")
                .exit_code,
            0);
  expect_same(
      3, problem(kGrid + ", constraints: a/eigenvectors.npy", "nev: 3, which: nearest, sigma: 0.1"),
      0);
  expect_status(problem(kGrid, interval + ", time_limit_s: 1e-9"), 3, "time_limit");
}

/// K_g has both signs, so that K alone is definite.
TEST_F(LanczosOnProcesses, LoadFactorsOfBothSigns) {
  HostContext context(1);
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < 300; ++i) entries.push_back({i, i, i % 3 == 0 ? 0.5 : -1.0});
  const auto KG = csr_from_triplets<double>(context, 300, 300, entries);
  write_matrix_market(folder_.path() / "KG.mtx", KG.view());
  const std::string column = generated("laplace1d", "300") + ", geometric_stiffness: KG.mtx";
  const std::string output = "output: {directory: " + directory() + "}\n";
  for (const std::string side : {"above", "below", "both"}) {
    expect_same(3, problem(column, "nev: 4, side: " + side) + output, 0);
    EXPECT_EQ(result().at("completeness").at("proven"), true) << side;
  }
}

TEST_F(LanczosOnProcesses, SolveDenselyWhereOneDoes) {
  for (const int count : {2, 3}) expect_dense_solves(count, "");
}

TEST_F(LobpcgOnProcesses, Statuses) {
  expect_status(problem(kGrid, "nev: 4, max_iterations: 1"), 3, "max_iterations");
  expect_status(problem(kGrid, "nev: 4, time_limit_s: 1e-9"), 3, "time_limit");
  expect_status(problem(kGrid, "nev: 4, tolerance: 1e-18"), 4, "stagnated");
}

TEST_F(CgOnProcesses, Statuses) {
  folder_.write("ring.mtx", ring(40));
  folder_.write("saddle.mtx", matrix_market(3, {"1 1 -0.5", "2 2 0.5", "3 3 1.5"}));
  const std::string random = kGrid + ", rhs: {random: 2}";
  expect_status(problem(random, "tolerance: 1e-19"), 4, "stagnated");
  expect_status(problem("matrix: ring.mtx, rhs: {ones: 1}", "preconditioner: {type: none}"), 4,
                "breakdown");
  expect_status(problem("matrix: saddle.mtx, rhs: {ones: 1}", ""), 4, "indefinite");
}

TEST_F(CgOnProcesses, SameSolutions) {
  const std::string random = kGrid + ", rhs: {random: 3}";
  expect_same(2, problem(random, ""));
  expect_same(3, problem(random, "preconditioner: {type: jacobi}"));
  expect_same(4, problem(random, "preconditioner: {type: multigrid}"), 2);
  const std::string pseudo =
      problem(kGrid + ", rhs: {ones: 2}", "algorithm: pseudo_block") + "output: {solution: npy}\n";
  ASSERT_EQ(solve(pseudo, {"--set", "output.directory=one"}).exit_code, 0);
  ASSERT_EQ(together(4, pseudo, {"--set", "output.directory=four"}).exit_code, 0);
  HostContext context(1);
  const auto X = read_block<double>(context, folder_.path() / "one/solution.npy");
  const auto Y = read_block<double>(context, folder_.path() / "four/solution.npy");
  ASSERT_EQ(Y.rows(), 990);
  ASSERT_EQ(Y.cols(), 2);
  for (Index i = 0; i < X.rows(); ++i) EXPECT_NEAR(X.view()(i, 1), Y.view()(i, 1), 1e-5);
}

TEST_F(CgOnProcesses, ComplexMatrices) {
  const std::string random = kFlux + ", rhs: {random: 3}";
  expect_same(2, problem(random, ""));
  expect_same(3, problem(random, "preconditioner: {type: jacobi}"));
  const std::string solved = problem(random, "") + "output: {solution: npy}\n";
  ASSERT_EQ(solve(solved, {"--set", "output.directory=one"}).exit_code, 0);
  ASSERT_EQ(together(3, solved, {"--set", "output.directory=three"}).exit_code, 0);
  HostContext context(1);
  using Complex = std::complex<double>;
  const auto X = read_block<Complex>(context, folder_.path() / "one/solution.npy");
  const auto Y = read_block<Complex>(context, folder_.path() / "three/solution.npy");
  for (Index i = 0; i < 504; ++i) EXPECT_LT(std::abs(X.view()(i, 1) - Y.view()(i, 1)), 1e-5);
}

/// A partition by METIS gives the rows another order, which shows nowhere but in the halo.
TEST_F(CgOnProcesses, DistributionsGiveTheSameSolutions) {
  const std::string random = problem(generated("wathen", "9, 11") + ", rhs: {random: 2}", "") +
                             "output: {solution: npy}\n";
  ASSERT_EQ(solve(random, {"--set", "output.directory=one"}).exit_code, 0);
  HostContext context(1);
  const auto X = read_block<double>(context, folder_.path() / "one/solution.npy");
  for (const std::string asked : {"metis", "rows", "auto"}) {
    const ProcessResult run =
        together(3, random, {"--set", "output.directory=three", "--set", "distribution=" + asked});
    if (run.err.find("this build has no METIS") != std::string::npos) continue;
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto reason = result("three").at("distribution").get<std::string>();
    EXPECT_EQ(reason.starts_with("METIS"), asked == "metis") << reason;
    const auto Y = read_block<double>(context, folder_.path() / "three/solution.npy");
    ASSERT_EQ(Y.rows(), X.rows());
    double largest = 0, difference = 0;
    for (Index i = 0; i < X.rows(); ++i) {
      largest = std::max(largest, std::abs(X.view()(i, 1)));
      difference = std::max(difference, std::abs(X.view()(i, 1) - Y.view()(i, 1)));
    }
    EXPECT_LE(difference, 1e-6 * largest) << asked;
  }
}

TEST_F(LobpcgOnProcesses, DistributionsGiveTheSamePairs) {
  if (!has_metis()) GTEST_SKIP() << "skipped: this build has no METIS";
  const std::string first = problem(kGrid, "nev: 3") + "output: {eigenvectors: npy}\n";
  ASSERT_EQ(solve(first, {"--set", "output.directory=a"}).exit_code, 0);
  const std::string metis = "distribution: metis\n";
  expect_same(2, problem(kGrid + ", constraints: a/eigenvectors.npy", "nev: 3") + metis);
  expect_same(3, problem(kGrid + ", initial_guess: a/eigenvectors.npy", "nev: 3") + metis);
  expect_same(3, problem(kGrid, "nev: 4, which: largest") + metis);
  expect_same(3, problem(kBeam, "nev: 4, preconditioner: {type: jacobi}") + metis);
}

TEST_F(LobpcgOnProcesses, CheckpointsPerProcess) {
  expect_resumed(2, problem(kGrid, kUnpreconditioned) + kKept);
  expect_resumed(2, problem(kFlux, kUnpreconditioned) + kKept);
}

TEST_F(LobpcgOnProcesses, CheckpointsFitTheirNumberOfProcesses) {
  const std::string kept = problem(kGrid, kUnpreconditioned) + kKept;
  EXPECT_EQ(together(2, kept, {"--set", "solver.max_iterations=5"}).exit_code, 3);
  const ProcessResult one = solve(kept, {"--resume"});
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_NE(one.err.find("with process: 0 of 2 in place of nothing"), std::string::npos) << one.err;
  const ProcessResult three = together(3, kept, {"--resume"});
  EXPECT_EQ(three.exit_code, 2);
  // The first process that finds its file unfit ends the others, before these may say so.
  const bool other_count = three.err.find("of 2 in place of process: ") != std::string::npos ||
                           three.err.find("kept.2: no checkpoint can be read") != std::string::npos;
  EXPECT_TRUE(other_count) << three.err;
}

TEST_F(LobpcgOnProcesses, AProcessThatFailsEndsAll) {
  const std::string said =
      expect_a_failure_to_end_all(3, problem(kGrid, kUnpreconditioned) + kKept);
  EXPECT_NE(said.find("heddle-lobpcg: process 2: error: "), std::string::npos) << said;
}

TEST_F(LobpcgOnProcesses, ASignalEndsTheSolveWithResults) {
  expect_ended_by(SIGUSR1, problem(generated("laplace3d", "60, 60, 60"), kUnending));
}

TEST_F(LobpcgOnProcesses, Refusals) {
  EXPECT_EQ(together(2, problem(kGrid, "nev: 2"), {"--validate"}).exit_code, 0);
  expect_refused(problem("matrix: missing.mtx", "nev: 2"), 2, "missing.mtx: cannot be opened");
  expect_refused(problem(kGrid, "nev: 2, preconditioner: {type: incomplete_cholesky}"), 1,
                 "incomplete_cholesky needs the whole matrix in one process; use chebyshev");
  expect_refused(problem(kGrid + ", transform: normal_equations", "nev: 2, which: largest") +
                     "distribution: metis\n",
                 1, "metis orders rows and columns alike");
  expect_refused(problem(kGrid, "nev: 2") + "device: cuda\n", 5, "device: cuda cannot be used: ");
  expect_refused(problem(kGrid, "nev: 2") + "devices: 2\n", 1,
                 "case.yaml:4:10: devices: 2 GPUs were asked for, but a launcher started 2 "
                 "processes, and each has one");
  const ProcessResult run = together(4, problem(generated("laplace1d", "3"), "nev: 1"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("there are 4 processes or GPUs, but the matrix has 3 rows"),
            std::string::npos)
      << run.err;
}

/// A file in which something is wrong has the message of one process, with the line.
TEST_F(LobpcgOnProcesses, WrongFilesHaveTheMessagesOfOneProcess) {
  const auto file = [](const std::string& kind, const std::string& lines) {
    return "%%MatrixMarket matrix coordinate real " + kind + "\n4 4 5\n1 1 2\n2 2 2\n3 3 2\n" +
           lines;
  };
  for (const std::string& text :
       {file("symmetric", "4 4 2\n5 1 1\n"), file("symmetric", "4 4 2\n3 4 1\n"),
        file("symmetric", "4 4 2\n4 3 nan\n"), file("symmetric", "4 4 2\n4 3 1\n4 2 1\n"),
        file("symmetric", "4 4 2\n"), file("symmetric", "4 4 2\n4"),
        file("symmetric", "1 1 1e308\n1 1 1e308\n"), file("general", "4 4 2\n4 3 1\n"),
        file("skew-symmetric", "4 4 2\n4 3 1\n")}) {
    folder_.write("wrong.mtx", text);
    const std::string yaml = problem("matrix: wrong.mtx", "nev: 2, which: largest");
    const ProcessResult one = solve(yaml, {"-q"});
    EXPECT_EQ(one.exit_code, 2) << text;
    expect_refused(yaml, 2, one.err, {"-q"});
  }
}

/// Options of another process would be ignored, as only process 0 reads them.
TEST_F(LobpcgOnProcesses, RefuseOtherArgumentsThanThoseOfProcess0) {
  folder_.write("case.yaml", problem(kGrid, "nev: 2"));
  std::vector<std::string> words = launch(2, {"case.yaml"});
  const std::vector<std::string> other = command({"case.yaml", "--set", "solver.nev=3"});
  words.insert(words.end(), {":", "-n", "1"});
  words.insert(words.end(), other.begin() + 1, other.end());
  const ProcessResult run = test::run_process(folder_.path(), words);
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.err.find("but process 2 is \""), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("case.yaml --set solver.nev=3\": start all processes from the same build"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(run.err.find("process 1"), std::string::npos) << run.err;
}

/// A launcher of one process changes nothing, although MPI could not begin a second time under it.
TEST_F(LobpcgOnProcesses, OneProcessLeavesMpiAlone) {
  folder_.write("case.yaml", problem(kGrid, "nev: 2"));
  std::string twice;
  for (const std::string& word : command({"case.yaml", "-q"})) twice += word + " ";
  twice += "&& " + twice;
  const ProcessResult run = test::run_process(
      folder_.path(), {"env", HEDDLE_MPIEXEC, "--allow-run-as-root", "-n", "1", "sh", "-c", twice});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

/// A launcher of another MPI: each of its processes would solve the whole problem.
TEST_F(LobpcgOnProcesses, RefuseALauncherThatMpiDoesNotKnow) {
  folder_.write("case.yaml", problem(kGrid, "nev: 2"));
  std::vector<std::string> words = command({"case.yaml"});
  // Open MPI looks for ssh when a process is on its own. It frees not all of its memory.
  words.insert(words.begin() + 1, {"PMI_SIZE=4", "PMI_RANK=1", "OMPI_MCA_plm_rsh_agent=true",
                                   "ASAN_OPTIONS=detect_leaks=0"});
  const ProcessResult run = test::run_process(folder_.path(), words);
  EXPECT_EQ(run.exit_code, 5);
  EXPECT_NE(run.err.find("a launcher started 4 processes, but MPI finds one"), std::string::npos)
      << run.err;
}

/// Programs that do not divide their work run once.
TEST_F(LobpcgOnProcesses, ProcessZeroAloneRunsProgramsForMatricesAndProducts) {
  const auto run = [&](const char* program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"ASAN_OPTIONS=detect_leaks=0", HEDDLE_MPIEXEC, "--oversubscribe",
                      "--allow-run-as-root", "-n", "3", test::executable(program)});
    return test::run_process(folder_.path(), arguments);
  };
  const auto count = [](const std::string& text, const std::string& word) {
    int found = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
  };
  const ProcessResult info = run("heddle-info", {"laplace2d:5,7", "--json"});
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_EQ(count(info.out, "\"nnz\""), 1) << info.out;
  const ProcessResult product = run("heddle-spmm", {"laplace2d:5,7", "--columns", "2", "--json"});
  EXPECT_EQ(product.exit_code, 0) << product.err;
  EXPECT_EQ(count(product.out, "\"nnz\""), 1) << product.out;
  const ProcessResult power = run("heddle-spgemm", {"laplace2d:5,7", "-o", "C.mtx"});
  EXPECT_EQ(power.exit_code, 0) << power.err;
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "C.mtx"));
  const ProcessResult wrong = run("heddle-spmm", {"laplace2d:5,7", "--columns", "0"});
  EXPECT_EQ(wrong.exit_code, 1) << wrong.err;
  EXPECT_EQ(count(wrong.err, "--columns: 0 is not"), 1) << wrong.err;
}

/// Rows and columns have ranges of their own. The smaller matrices are decomposed by process 0.
TEST_F(LanczosOnProcesses, SameTriplets) {
  for (const bool wide : {false, true}) {
    for (const Index n : {60, 1100}) {
      folder_.write("difference.mtx", test::difference_matrix(n, wide));
      const std::string yaml =
          problem("matrix: difference.mtx, transform: normal_equations", "nev: 3, which: largest") +
          "output: {eigenvectors: npy}\n";
      expect_same(wide ? 2 : 3, yaml);
      const std::vector<double> exact = test::difference_singular_values(n);
      for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_NEAR(result().at("singular_values").at(j), exact[exact.size() - 1 - j], 2e-8);
      }
      HostContext context(1);
      const Index longer = n + 1;
      EXPECT_EQ(
          read_block<double>(context, folder_.path() / directory() / "left_vectors.npy").rows(),
          wide ? n : longer);
      EXPECT_EQ(
          read_block<double>(context, folder_.path() / directory() / "right_vectors.npy").rows(),
          wide ? longer : n);
    }
  }
}

TEST_F(CgOnProcesses, SameLeastSquares) {
  folder_.write("difference.mtx", test::difference_matrix(40));
  const std::string random =
      "matrix: difference.mtx, transform: normal_equations, rhs: {random: 3}";
  expect_same(2, problem(random, ""));
  expect_same(4, problem(random, "preconditioner: {type: none}"));
}

TEST_F(LanczosOnProcesses, RefusesFactors) {
  expect_refused(problem(kGrid, "nev: 2, filter: inverse"), 1, "factors A - sigma B");
}

}  // namespace
}  // namespace heddle::apps
