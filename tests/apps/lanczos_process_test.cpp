#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <apps/difference_matrix.hpp>
#include <apps/solver_process.hpp>
#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

using heddle::test::contents;
using heddle::test::listing;
using test::ProcessResult;

class LanczosProcess : public test::SolverProcess {
 protected:
  LanczosProcess() : SolverProcess("heddle-lanczos") {}

  /// The file holds four columns of `rows`.
  void expect_rows(const std::string& name, int rows) {
    const std::string text = file("results/case-block_lanczos/" + name);
    EXPECT_NE(text.find(fmt::format("\n{} 4\n", rows)), std::string::npos) << name;
  }
};

const std::string kGrid =
    "problem: {matrix: {generate: laplace2d, size: [20, 17]}}\n"
    "solver: {type: block_lanczos, nev: 4}\n"
    "threads: 1\n";

const std::string kTriplets =
    "problem: {matrix: d.mtx, transform: normal_equations}\n"
    "solver: {nev: 4}\n"
    "output: {eigenvectors: mtx}\n"
    "threads: 1\n";

TEST_F(LanczosProcess, SolvesAndWritesWhatTheDesignSays) {
  const ProcessResult run = solve(kGrid + "output: {eigenvectors: npy}", {"--profile"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(listing(folder_.path() / "results/case-block_lanczos"),
            (std::set<std::string>{"result.json", "history.csv", "eigenvectors.npy"}));
  const auto json = result();
  EXPECT_EQ(json.at("status"), "converged");
  EXPECT_EQ(json.at("solver"), "block_lanczos");
  EXPECT_EQ(json.at("n"), 340);
  EXPECT_GT(json.at("operator_applications"), json.at("iterations"));
  EXPECT_LE(json.at("orthogonality"), 1e-8);
  const std::vector<double> exact = laplace_smallest_eigenvalues({20, 17}, 4);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_LE(json.at("residuals").at(i), 1e-8);
    EXPECT_NEAR(json.at("eigenvalues").at(i), exact[i], 8.1 * 1e-8);
  }
  const std::string history = contents(folder_.path() / "results/case-block_lanczos/history.csv");
  EXPECT_GE(std::count(history.begin(), history.end(), '\n'),
            1 + static_cast<long>(json.at("iterations").get<Index>()));
  EXPECT_NE(run.err.find("block_lanczos, block of "), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("eigenvalue"), std::string::npos);
  EXPECT_NE(run.out.find("\nspmm "), std::string::npos);
}

TEST_F(LanczosProcess, TheOtherEndAndPrecisions) {
  const std::vector<double> smallest = laplace_smallest_eigenvalues({20, 17}, 4);
  ASSERT_EQ(
      solve(kGrid, {"--set", "solver.which=largest", "--set", "solver.filter=none"}).exit_code, 0);
  // The spectrum is symmetric about 4.
  for (std::size_t i = 0; i < smallest.size(); ++i) {
    EXPECT_NEAR(result().at("eigenvalues").at(i), 8 - smallest[i], 16 * 1e-8);
  }
  for (const std::string precision : {"single", "mixed"}) {
    ASSERT_EQ(solve(kGrid, {"--set", "precision=" + precision}).exit_code, 0) << precision;
    EXPECT_EQ(result().at("precision"), precision);
    const double tolerance = precision == "single" ? 1e-5 : 1e-8;
    for (std::size_t i = 0; i < smallest.size(); ++i) {
      EXPECT_NEAR(result().at("eigenvalues").at(i), smallest[i], 8.1 * tolerance) << precision;
    }
  }
}

TEST_F(LanczosProcess, PencilsWithADiagonalAndWithAnotherMassMatrix) {
  ASSERT_EQ(solve("problem:\n"
                  "  matrix: {generate: mikota_stiffness, size: [300]}\n"
                  "  mass: {generate: mikota_mass, size: [300]}\n"
                  "solver: {nev: 3, which: largest, criterion: relative}\n")
                .exit_code,
            0);
  EXPECT_NEAR(result().at("eigenvalues").at(0), 300.0 * 300.0, 300.0 * 300.0 * 1e-8);
  const std::string blocks =
      "problem:\n"
      "  matrix: {generate: elasticity3d, size: [4, 4, 4]}\n"
      "  mass: {generate: elasticity3d_mass, size: [4, 4, 4]}\n"
      "solver: {nev: 3, which: largest, block_size: 4, criterion: relative, tolerance: 1e-9}\n";
  ASSERT_EQ(solve(blocks).exit_code, 0);
  const auto by_inner_solves = result().at("eigenvalues").get<std::vector<double>>();
  ASSERT_EQ(solve(blocks, {"--set", "solver.filter=chebyshev"}).exit_code, 0);
  const auto filtered = result().at("eigenvalues").get<std::vector<double>>();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(by_inner_solves[i], filtered[i], 1e-8 * by_inner_solves[0]);
  }
}

TEST_F(LanczosProcess, TheSmallestEndByAFactorisation) {
  const std::string stiff = "problem: {matrix: {generate: laplace1d, size: [3000]}}\nthreads: 2\n";
  const std::vector<double> exact = laplace_smallest_eigenvalues({3000}, 6);
  for (const std::string filter : {"auto", "inverse"}) {
    ASSERT_EQ(solve(stiff, {"--set", "solver.filter=" + filter}).exit_code, 0) << filter;
    EXPECT_GT(result().at("inverse_applications"), 0) << filter;
    EXPECT_NE(result().at("factor_library"), "") << filter;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(result().at("eigenvalues").at(i), exact[i], 4e-8) << filter;
    }
  }
  const std::vector<std::string> alone{"--set", "solver.filter=chebyshev", "--certify", "no"};
  ASSERT_EQ(solve(kGrid, alone).exit_code, 0);
  EXPECT_EQ(result().at("inverse_applications"), 0);
  EXPECT_EQ(result().at("factor_library"), "");
}

TEST_F(LanczosProcess, ALibraryThatCannotFactorHereIsRefusedAtItsKey) {
  const auto refused = solve(kGrid + "device: host\n", {"--factorization", "cudss"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("--factorization cudss: solver.factorization: cudss factors in"),
            std::string::npos)
      << refused.err;
}

TEST_F(LanczosProcess, TheSmallestEndOfAPencilByAFactorisationOrByInnerSolves) {
  const std::string block =
      "problem:\n"
      "  matrix: {generate: elasticity3d, size: [4, 4, 4]}\n"
      "  mass: {generate: elasticity3d_mass, size: [4, 4, 4]}\n"
      "solver: {nev: 5, tolerance: 1e-9}\n";
  std::vector<double> first;
  for (const std::string filter : {"auto", "inverse", "none", "chebyshev"}) {
    ASSERT_EQ(solve(block, {"--set", "solver.filter=" + filter}).exit_code, 0) << filter;
    const auto values = result().at("eigenvalues").get<std::vector<double>>();
    const bool inverse = filter == "auto" || filter == "inverse";
    EXPECT_EQ(result().at("inverse_applications").get<Index>() > 0, inverse) << filter;
    if (first.empty()) first = values;
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(values[i], first[i], 1e-6 * first[4]) << filter;
  }
}

std::vector<double> eigenvalues_between(double a, double b) {
  std::vector<double> values = laplace_smallest_eigenvalues({20, 17}, 340);
  values.erase(std::remove_if(values.begin(), values.end(),
                              [&](double value) { return value < a || value > b; }),
               values.end());
  return values;
}

const std::vector<std::string> kInterval = {"--set", "solver.which=interval",
                                            "--set", "solver.nev=40",
                                            "--set", "solver.interval=[3.1, 3.5]"};

TEST_F(LanczosProcess, AllPairsInAnInterval) {
  const std::vector<double> exact = eigenvalues_between(3.1, 3.5);
  for (const std::string precision : {"double", "single"}) {
    const ProcessResult run =
        solve(kGrid + "output: {eigenvectors: mtx}\nprecision: " + precision, kInterval);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.err.find("all eigenpairs in [3.1, 3.5], at most 40"), std::string::npos)
        << run.err;
    EXPECT_EQ(listing(folder_.path() / "results/case-block_lanczos"),
              (std::set<std::string>{"result.json", "history.csv", "eigenvectors.mtx"}));
    const auto json = result();
    EXPECT_EQ(json.at("status"), "converged");
    EXPECT_EQ(json.at("configuration").at("solver").at("interval").at(1), 3.5);
    ASSERT_EQ(json.at("eigenvalues").size(), exact.size());
    const double tolerance = precision == "single" ? 1e-5 : 1e-8;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(json.at("eigenvalues").at(i), exact[i], 8.1 * tolerance);
      EXPECT_LE(json.at("residuals").at(i), tolerance);
    }
    const std::string size = fmt::format("\n340 {}\n", exact.size());
    EXPECT_NE(file("results/case-block_lanczos/eigenvectors.mtx").find(size), std::string::npos);
  }
}

TEST_F(LanczosProcess, PairsNearestToANumber) {
  const double sigma = 3.3;
  std::vector<double> exact = eigenvalues_between(-1, 9);
  std::sort(exact.begin(), exact.end(),
            [&](double a, double b) { return std::abs(a - sigma) < std::abs(b - sigma); });
  exact.resize(7);
  std::sort(exact.begin(), exact.end());
  for (const std::string precision : {"double", "single"}) {
    const ProcessResult run =
        solve(kGrid + "precision: " + precision, {"--sigma", "3.3", "--set", "solver.nev=7"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.err.find("7 eigenpairs nearest to 3.3"), std::string::npos) << run.err;
    const auto json = result();
    EXPECT_EQ(json.at("status"), "converged");
    EXPECT_EQ(json.at("completeness").at("method"), "inertia");
    EXPECT_EQ(json.at("configuration").at("solver").at("which"), "nearest");
    ASSERT_EQ(json.at("eigenvalues").size(), exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(json.at("eigenvalues").at(i), exact[i], precision == "single" ? 1e-4 : 1e-10);
    }
  }
  const ProcessResult bare = solve(kGrid, {"--set", "solver.which=nearest"});
  EXPECT_EQ(bare.exit_code, 1);
  EXPECT_NE(bare.err.find("solver.which: nearest needs a solver.sigma"), std::string::npos);
}

TEST_F(LanczosProcess, AnIntervalWithoutEigenvaluesAndOneWithTooMany) {
  ASSERT_EQ(eigenvalues_between(-2, -1).size(), 0u);
  std::vector<std::string> empty = kInterval;
  empty.back() = "solver.interval=[-2, -1]";
  EXPECT_EQ(solve(kGrid + "output: {eigenvectors: npy}", empty).exit_code, 0);
  EXPECT_EQ(result().at("status"), "converged");
  EXPECT_EQ(result().at("eigenvalues").size(), 0u);
  std::vector<std::string> few = kInterval;
  few[3] = "solver.nev=2";
  EXPECT_EQ(solve(kGrid, few).exit_code, 3);
  EXPECT_EQ(result().at("status"), "max_iterations");
  EXPECT_NE(result().at("reason").get<std::string>().find("more than nev = 2"), std::string::npos);
}

TEST_F(LanczosProcess, AnIntervalWithoutAnEndAndTheWholeSpectrum) {
  for (const std::string words : {"[-inf, 3.1]", "[-.inf, 3.1]", "[-inf, inf]"}) {
    std::vector<std::string> all = kInterval;
    all[3] = "solver.nev=340";
    all.back() = "solver.interval=" + words;
    EXPECT_EQ(solve(kGrid, all).exit_code, 0) << words;
    const double upper = words == "[-inf, inf]" ? 9 : 3.1;
    EXPECT_EQ(result().at("eigenvalues").size(), eigenvalues_between(-1, upper).size()) << words;
  }
  EXPECT_EQ(solve(kGrid, {"--set", "solver.nev=340"}).exit_code, 0);
  EXPECT_EQ(result().at("eigenvalues").size(), 340u);
}

/// What a message calls the setting KEY=VALUE: the key, with the value where another one would do.
std::string named_in_refusal(const std::string& setting) {
  if (setting == "precision=mixed") return "precision: mixed";
  if (setting == "solver.filter=none") return "solver.filter: none";
  return setting.substr(0, setting.find('='));
}

TEST_F(LanczosProcess, WhatAnIntervalDoesNotGoWith) {
  expect_refused(solve(kGrid, {"--set", "solver.which=interval"}), 1,
                 "--set solver.which=interval: solver.which: interval needs a solver.interval");
  expect_refused(solve(kGrid, {"--set", "solver.interval=[1, 2]"}), 1,
                 "--set solver.interval=[1, 2]: solver.interval does not go with an end of the "
                 "spectrum, use which: interval");
  for (const std::string bad :
       {"[2, 1]", "[1]", "[1, 2, 3]", "[1, x]", "[1, .nan]", "[inf, -inf]"}) {
    expect_refused(
        solve(kGrid, {"--set", "solver.interval=" + bad}), 1,
        "--set solver.interval=" + bad +
            ": solver.interval: expected a list of two numbers or -inf or inf, the larger "
            "one last, "
            "got the list " +
            bad);
  }
  for (const std::string key : {"problem.initial_guess=x.mtx", "solver.max_basis=90",
                                "solver.filter=none", "precision=mixed"}) {
    std::vector<std::string> words = kInterval;
    words.insert(words.end(), {"--set", key});
    expect_refused(
        solve(kGrid, words), 1,
        "--set " + key + ": " + named_in_refusal(key) + " does not go with which: interval");
  }
}

TEST_F(LanczosProcess, SingularTripletsOfBothEndsAndShapes) {
  const std::vector<double> exact = test::difference_singular_values(600);
  for (const bool wide : {false, true}) {
    folder_.write("d.mtx", test::difference_matrix(600, wide));
    for (const std::string which : {"largest", "smallest"}) {
      SCOPED_TRACE(which + (wide ? " of a wide matrix" : " of a tall matrix"));
      const ProcessResult run = solve(kTriplets, {"--set", "solver.which=" + which});
      ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
      EXPECT_NE(run.out.find("singular value"), std::string::npos) << run.out;
      EXPECT_NE(run.err.find("4 " + which + " singular triplets of "), std::string::npos);
      EXPECT_EQ(listing(folder_.path() / "results/case-block_lanczos"),
                (std::set<std::string>{"result.json", "history.csv", "left_vectors.mtx",
                                       "right_vectors.mtx"}));
      const auto json = result();
      EXPECT_EQ(json.at("n"), wide ? 600 : 601);
      EXPECT_EQ(json.at("problem").at("cols"), wide ? 601 : 600);
      for (std::size_t i = 0; i < 4; ++i) {
        const double sigma = json.at("singular_values").at(i);
        EXPECT_NEAR(sigma, exact[which == "largest" ? 599 - i : i], 2.1 * 1e-8);
        EXPECT_DOUBLE_EQ(json.at("eigenvalues").at(i), sigma * sigma);
        EXPECT_LE(json.at("residuals").at(i), 1e-8);
      }
      EXPECT_LE(json.at("orthogonality"), 1e-8);
      const auto& rungs = json.at("orthogonalization");
      EXPECT_GT(rungs.at("cholqr").get<int>() + rungs.at("cholqr2").get<int>(), 0);
      expect_rows("left_vectors.mtx", wide ? 600 : 601);
      expect_rows("right_vectors.mtx", wide ? 601 : 600);
    }
  }
}

TEST_F(LanczosProcess, SingularTripletsInSinglePrecisionAndOfASmallMatrix) {
  folder_.write("d.mtx", test::difference_matrix(300));
  ASSERT_EQ(
      solve(kTriplets, {"--set", "precision=single", "--set", "solver.which=largest"}).exit_code,
      0);
  EXPECT_NEAR(result().at("singular_values").at(0), test::difference_singular_values(300).back(),
              2.1 * 1e-5);
  folder_.write("d.mtx", test::difference_matrix(4));
  ASSERT_EQ(solve(kTriplets).exit_code, 0);
  const std::vector<double> exact = test::difference_singular_values(4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(result().at("singular_values").at(i), exact[i], 2.1 * 1e-8);
  }
  EXPECT_EQ(solve(kGrid).exit_code, 0);
  EXPECT_EQ(listing(folder_.path() / "results/case-block_lanczos"),
            (std::set<std::string>{"result.json", "history.csv"}));
}

TEST_F(LanczosProcess, WhatSingularTripletsDoNotGoWith) {
  folder_.write("d.mtx", test::difference_matrix(6));
  expect_refused(solve(kTriplets, {"--set", "solver.nev=7"}), 1,
                 "--set solver.nev=7: solver.nev is 7, but a matrix of 7 x 6 has 6 singular "
                 "values");
  for (const std::string key : {"problem.mass=b.mtx", "problem.initial_guess=x.mtx",
                                "solver.max_basis=90", "solver.filter=none", "precision=mixed"}) {
    const std::string named = key == "solver.filter=none" ? "solver.filter" : named_in_refusal(key);
    expect_refused(solve(kTriplets, {"--set", key}), 1,
                   "--set " + key + ": " + named + " does not go with transform: normal_equations");
  }
  std::vector<std::string> interval = kInterval;
  expect_refused(solve(kTriplets, interval), 1,
                 "--set solver.interval=[3.1, 3.5]: solver.interval does not go with transform: "
                 "normal_equations");
  folder_.write("d.mtx", "%%MatrixMarket matrix coordinate real general\n4 0 0\n");
  expect_refused(solve(kTriplets), 2, "d.mtx: the matrix is 4 x 0, it has no entries");
}

TEST_F(LanczosProcess, TheSameSeedGivesTheSameBits) {
  const auto digest = [this](const std::string& seed, const std::string& threads) {
    EXPECT_EQ(solve(kGrid, {"--set", "seed=" + seed, "--set", "threads=" + threads}).exit_code, 0);
    return result().at("eigenvalues").dump() + result().at("residuals").dump();
  };
  const std::string first = digest("1", "1");
  EXPECT_EQ(digest("1", "2"), first);
  EXPECT_NE(digest("2", "1"), first);
}

TEST_F(LanczosProcess, ValidateAndHelpSolveNothing) {
  const ProcessResult valid = solve(kGrid, {"--validate"});
  EXPECT_EQ(valid.exit_code, 0);
  EXPECT_EQ(valid.out.rfind("case.yaml is valid and asks for\n", 0), 0u);
  const ProcessResult printed = solve(kGrid, {"--print-config"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_NE(printed.out.find("type: block_lanczos\n"), std::string::npos);
  EXPECT_EQ(solve(printed.out, {"--print-config"}).out, printed.out);
  EXPECT_NE(run({"--help-config"}).out.find("max_basis:"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "results"));
}

TEST_F(LanczosProcess, WhatIsRefused) {
  expect_refused(solve(kGrid, {"--set", "solver.type=lobpcg"}), 1,
                 "--set solver.type=lobpcg: solver.type is lobpcg, heddle-lanczos solves with "
                 "block_lanczos; run heddle-lobpcg, or heddle solve for any type");
  expect_refused(solve(kGrid, {"--set", "problem.constraints=y.mtx"}), 1,
                 "--set problem.constraints=y.mtx: problem.constraints belongs to lobpcg and to "
                 "which: nearest, the method is block_lanczos");
  expect_refused(solve(kGrid, {"--set", "solver.nev=341"}), 1,
                 "--set solver.nev=341: solver.nev is 341, but the matrix has order 340: nev must "
                 "be at most 340");
  expect_refused(solve(kGrid, {"--set", "solver.max_basis=10"}), 1,
                 "--set solver.max_basis=10: solver.max_basis is 10, but nev and two blocks of 8 "
                 "need at least 20");
  expect_refused(solve(kGrid, {"--set", "solver.filter=inverse", "--set", "solver.which=largest"}),
                 1, "--set solver.filter=inverse: solver.filter: inverse is for the smallest end");
  expect_refused_beginning(solve("problem: {matrix: gone.mtx}"), 2, "gone.mtx: ");
  expect_refused_beginning(solve(kGrid + "device: cuda\n"), 5,
                           "case.yaml:4:9: device: cuda cannot be used: ");
  expect_refused_beginning(solve("problem: {matrix: {generate: laplace1d, size: [300000]}}\n"
                                 "solver: {nev: 200000}\n"),
                           5, "the solve needs ");
}

TEST_F(LanczosProcess, AnIllConditionedMassMatrixIsFactored) {
  // D T D with T = tridiag(−0.9999, 2, −0.9999) and D over six decades.
  constexpr int kOrder = 400;
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} {1}\n",
                                 kOrder, 2 * kOrder - 1);
  const auto scale = [](int i) { return std::pow(10.0, i % 13 - 6); };
  for (int i = 1; i <= kOrder; ++i) {
    text += fmt::format("{0} {0} {1}\n", i, 2 * scale(i));
    if (i == kOrder) break;
    text += fmt::format("{} {} {}\n", i + 1, i, -0.9999 * std::sqrt(scale(i) * scale(i + 1)));
  }
  folder_.write("b.mtx", text);
  const std::string pencil = "problem: {matrix: {generate: laplace1d, size: [400]}, mass: b.mtx}\n";
  EXPECT_EQ(solve(pencil + "solver: {which: largest}", {"--quiet"}).exit_code, 0);
  EXPECT_EQ(solve(pencil, {"--quiet"}).exit_code, 0) << "the smallest end divides by A alone";
}

TEST_F(LanczosProcess, InfiniteEigenvaluesAreCountedAndLeftOut) {
  folder_.write("b.mtx", "%%MatrixMarket matrix coordinate real symmetric\n5 5 2\n2 2 1\n4 4 1\n");
  const std::string pencil = "problem: {matrix: {generate: laplace1d, size: [5]}, mass: b.mtx}\n";
  ASSERT_EQ(solve(pencil + "solver: {nev: 2}").exit_code, 0);
  EXPECT_EQ(result().at("infinite_eigenvalues"), 3);
  EXPECT_NEAR(result().at("eigenvalues").at(0), 0.5, 1e-12);  // of ½ [[2, −1], [−1, 2]]
  EXPECT_NEAR(result().at("eigenvalues").at(1), 1.5, 1e-12);
  const nlohmann::json bounds = result().at("error_bounds");
  for (const auto& bound : bounds) {
    ASSERT_TRUE(bound.is_number()) << "in the space of the inverse, as B has none";
    EXPECT_LE(bound, 1e-12);
  }
  const ProcessResult many = solve(pencil + "solver: {nev: 3}");
  EXPECT_EQ(many.exit_code, 1);
  EXPECT_NE(many.err.find("solver.nev is 3, but 2 of the eigenvalues are finite"),
            std::string::npos)
      << many.err;
}

TEST_F(LanczosProcess, LimitsEndWithResults) {
  EXPECT_EQ(solve(kGrid, {"--set", "solver.max_iterations=1"}).exit_code, 3);
  EXPECT_EQ(result().at("status"), "max_iterations");
  EXPECT_EQ(result().at("eigenvalues").size(), 4u);
  EXPECT_EQ(solve(kGrid, {"--set", "solver.time_limit_s=1e-9"}).exit_code, 3);
  EXPECT_EQ(result().at("status"), "time_limit");
}

TEST_F(LanczosProcess, ASignalEndsTheSolveWithTheResultsSoFar) {
  const ProcessResult run = interrupt(
      "problem: {matrix: {generate: laplace2d, size: [200, 201]}}\n"
      "solver: {nev: 4, filter: none, tolerance: 1e-15, max_iterations: 1000000000,\n"
      "  time_limit_s: 300}\n"
      "threads: 1\n",
      SIGINT);
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_EQ(result().at("status"), "interrupted");
  EXPECT_EQ(result().at("eigenvalues").size(), 4u);
}

}  // namespace
}  // namespace heddle::apps
