#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <heddle/apps/info/pencil_report.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "apps/executable.hpp"
#include "support/temporary_folder.hpp"

namespace heddle::apps {
namespace {

TEST(MatrixArgument, NamesAStructureAndItsParameters) {
  const GallerySpec laplace = detail::parse_generator("laplace3d:64,5,7");
  EXPECT_EQ(laplace.name, "laplace3d");
  EXPECT_EQ(laplace.size, (std::vector<Index>{64, 5, 7}));
  EXPECT_EQ(laplace.density, 0);
  EXPECT_EQ(detail::parse_generator("laplace3d:64x5x7").size, laplace.size);
  const GallerySpec rmat = detail::parse_generator("rmat:16:7.5");
  EXPECT_EQ(rmat.size, std::vector<Index>{16});
  EXPECT_EQ(rmat.density, 7.5);
  EXPECT_TRUE(detail::parse_generator("laplace1d").size.empty());
}

TEST(MatrixArgument, RefusesWhatIsNotANumber) {
  for (const char* bad : {"laplace1d:ten", "laplace2d:4,,4", "laplace2d:4,4,", "laplace2d:4;4",
                          "laplace1d:1e3", "laplace1d:99999999999999999999", "rmat:4:many"}) {
    EXPECT_THROW(detail::parse_generator(bad), InvalidArgument) << bad;
  }
}

TEST(MatrixArgument, PrefersFilesAndSuggestsStructures) {
  HostContext context(1);
  const heddle::test::TemporaryFolder folder;
  const std::string text = "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 5\n";
  EXPECT_EQ(detail::load_matrix(context, folder.write("laplace1d:4", text).string()).cols(), 2);
  EXPECT_EQ(detail::load_matrix(context, "laplace1d:4").cols(), 4);
  EXPECT_THROW(detail::load_matrix(context, "nothing.mtx"), InputError);
  EXPECT_THROW(detail::load_matrix(context, "band"), InvalidArgument);
  try {
    detail::load_matrix(context, "laplase1d:4");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean \"laplace1d\"?"), std::string::npos);
  }
}

MatrixReport report_of(const std::string& argument, const std::vector<Index>& widths = {}) {
  HostContext context(2);
  const HostCsrMatrix<double> A = detail::load_matrix(context, argument);
  return inspect(context, argument, A.view(), widths);
}

TEST(MatrixReport, LaplacianIsSymmetricWithinItsGershgorinInterval) {
  const MatrixReport report = report_of("laplace2d:6,5", {8, 64});
  EXPECT_TRUE(report.symmetric);
  EXPECT_FALSE(report.asymmetry);
  EXPECT_EQ(report.norm_1, 8);
  EXPECT_EQ(report.largest_entry, 4);
  ASSERT_TRUE(report.diagonal);
  EXPECT_EQ(report.diagonal->smallest, 4);
  EXPECT_EQ(report.diagonal->largest, 4);
  EXPECT_EQ(report.diagonal->not_positive, 0);
  ASSERT_TRUE(report.gershgorin);
  EXPECT_EQ(report.gershgorin->lower, 0);
  EXPECT_EQ(report.gershgorin->upper, 8);
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[1].N, 64);
  EXPECT_FALSE(report.kernels[1].host.empty());
  EXPECT_FALSE(report.kernels[1].cuda_reason.empty());
}

TEST(MatrixReport, NamesTheWorstPairOfAnUnsymmetricMatrix) {
  HostContext context(1);
  const std::vector<Triplet<double>> triplets{{0, 0, 1}, {0, 2, 3}, {2, 0, 2}, {1, 1, -4}};
  const auto A = csr_from_triplets<double>(context, 3, 3, triplets);
  const MatrixReport report = inspect(context, "A", A.view(), {});
  EXPECT_FALSE(report.symmetric);
  ASSERT_TRUE(report.asymmetry);
  EXPECT_FALSE(report.gershgorin);
  EXPECT_EQ(report.diagonal->not_positive, 2);
  EXPECT_EQ(report.diagonal->first_not_positive, 1);
  const std::string text = to_text(report);
  EXPECT_NE(text.find("entry (1, 3) is 3"), std::string::npos) << text;
  EXPECT_NE(text.find("pattern      symmetric"), std::string::npos) << text;
  EXPECT_NE(text.find("2 entries zero or negative (first in row 2)"), std::string::npos) << text;
}

/// The Laplacian of a path shifted by s has the eigenvalues 4 sin²(kπ/2(n + 1)) − s.
TEST(MatrixReport, SaysWhatIsKnownOfTheSignsOfEigenvalues) {
  HostContext context(1);
  constexpr Index n = 30;
  const auto said = [&context](double shift, double factor = 1) {
    std::vector<Triplet<double>> entries;
    for (Index i = 0; i < n; ++i) {
      entries.push_back({i, i, factor * (2 - shift)});
      if (i > 0) entries.insert(entries.end(), {{i, i - 1, -factor}, {i - 1, i, -factor}});
    }
    const auto A = csr_from_triplets<double>(context, n, n, entries);
    const MatrixReport report = inspect(context, "A", A.view(), {});
    const double lowest = 4 * std::pow(std::sin(M_PI / 2 / (n + 1)), 2) - shift;
    if (factor > 0) {
      EXPECT_GE(report.ritz->lower, lowest - 1e-12);
      EXPECT_LE(report.ritz->lower, lowest + 0.1);
    }
    return definiteness(report);
  };
  EXPECT_EQ(said(-1), "positive definite (Gershgorin)");
  EXPECT_EQ(said(0), "at least positive semidefinite (Gershgorin)");
  EXPECT_EQ(said(0.005), "no negative eigenvalue was seen, which proves nothing");
  EXPECT_EQ(said(1), "no, eigenvalues of both signs");
  EXPECT_EQ(said(-1, -1), "negative definite (Gershgorin)");
}

TEST(MatrixReport, EmptyAndRectangularMatricesHaveNoSpectrum) {
  HostContext context(1);
  for (const auto& [rows, cols] : std::vector<std::pair<Index, Index>>{{0, 0}, {0, 3}, {3, 0}}) {
    const auto A = csr_from_triplets<double>(context, rows, cols, {});
    const MatrixReport report = inspect(context, "A", A.view(), {1, 8});
    EXPECT_FALSE(report.gershgorin);
    EXPECT_EQ(report.symmetric, rows == cols);
    EXPECT_NE(to_text(report).find("entries      0\n"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(to_json(report))["nnz"], 0);
  }
  const MatrixReport wide = report_of("random_uniform:4,9:2");
  EXPECT_FALSE(wide.symmetric);
  EXPECT_FALSE(wide.diagonal);
  EXPECT_NE(to_text(wide).find("not square"), std::string::npos);
}

/// K = tridiag(-1, 2, -1) of order n. M = diag(m), with zeros for the rows `massless`.
struct Chain {
  static constexpr Index n = 20;

  static HostCsrMatrix<double> stiffness(HostContext& context, Index without = n) {
    std::vector<Triplet<double>> entries;
    for (Index i = 0; i < n; ++i) {
      if (i == without) continue;
      entries.push_back({i, i, 2});
      if (i > 0 && i - 1 != without) {
        entries.insert(entries.end(), {{i, i - 1, -1}, {i - 1, i, -1}});
      }
    }
    return csr_from_triplets<double>(context, n, n, entries);
  }

  static HostCsrMatrix<double> mass(HostContext& context, double m, std::set<Index> massless = {}) {
    std::vector<Triplet<double>> entries;
    for (Index i = 0; i < n; ++i) entries.push_back({i, i, massless.contains(i) ? 0 : m});
    return csr_from_triplets<double>(context, n, n, entries);
  }
};

/// The eigenvalues are 4 sin²(kπ/2(n + 1)) / m.
TEST(PencilReport, QuotientsOfDiagonalsBoundTheEnds) {
  HostContext context(1);
  const auto K = Chain::stiffness(context);
  const auto M = Chain::mass(context, 0.25);
  const PencilReport report = inspect_pencil(context, "K", K.view(), "M", M.view());
  EXPECT_TRUE(report.diagonal);
  EXPECT_EQ(report.sum, 0.25 * Chain::n);
  EXPECT_EQ(report.massless, 0);
  ASSERT_TRUE(report.quotients);
  EXPECT_EQ(report.quotients->lower, 8);
  EXPECT_EQ(report.quotients->upper, 8);
  EXPECT_LE(16 * std::pow(std::sin(M_PI / 2 / (Chain::n + 1)), 2), report.quotients->lower);
  const std::string text = to_text(inspect(context, "K", K.view(), {}), report);
  const std::string cycles = fmt::format("{:.6g}", std::sqrt(8.0) / (2 * M_PI));
  for (const std::string& part : std::vector<std::string>{
           "\n\nmass         M\n", "form         diagonal\n", "sum          5 of all entries",
           "massless     no row\n", "lowest at most " + cycles}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST(PencilReport, CountsRowsWithoutMass) {
  HostContext context(1);
  const auto K = Chain::stiffness(context, 7);
  const auto M = Chain::mass(context, 3, {4, 7, 9});
  const PencilReport report = inspect_pencil(context, "K", K.view(), "M", M.view());
  EXPECT_EQ(report.massless, 3);
  EXPECT_EQ(report.first_massless, 4);
  EXPECT_EQ(report.empty, 1);
  EXPECT_EQ(report.first_empty, 7);
  EXPECT_FALSE(report.quotients);
  const std::string text = to_text(inspect(context, "K", K.view(), {}), report);
  EXPECT_NE(text.find("massless     3 rows (first is row 5): each makes an eigenvalue infinite; of "
                      "these, empty in the matrix, too: 1 (first is row 8), to remove\n"),
            std::string::npos)
      << text;
}

/// An M of eigenvalues of both signs, whose diagonal is positive: no bounds.
TEST(PencilReport, AnIndefiniteMassHasNoQuotients) {
  HostContext context(1);
  const std::vector<Triplet<double>> springs{{0, 0, 2}, {1, 1, 2}};
  const auto K = csr_from_triplets<double>(context, 2, 2, springs);
  const std::vector<Triplet<double>> entries{{0, 0, 1}, {0, 1, 3}, {1, 0, 3}, {1, 1, 1}};
  const auto M = csr_from_triplets<double>(context, 2, 2, entries);
  const PencilReport report = inspect_pencil(context, "K", K.view(), "M", M.view());
  EXPECT_FALSE(report.diagonal);
  EXPECT_FALSE(report.quotients);
}

/// What a run of heddle-info left behind.
struct Outcome {
  int exit_code = -1;
  std::string output;  ///< stdout and stderr
};

Outcome heddle_info(const std::string& arguments) {
  Outcome run;
  FILE* pipe =
      popen(("{ " + test::executable("heddle-info") + " " + arguments + "; } 2>&1").c_str(), "r");
  std::array<char, 4096> chunk;
  for (std::size_t count = 0; (count = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) {
    run.output.append(chunk.data(), count);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  return run;
}

TEST(HeddleInfo, DescribesAGeneratedMatrix) {
  const Outcome run = heddle_info("laplace3d:8,9,10");
  EXPECT_EQ(run.exit_code, 0);
  for (const char* part : {"720 rows, 720 columns", "yes, to the last bit", "[0, 12] (Gershgorin)",
                           "at least positive semidefinite (Gershgorin)"}) {
    EXPECT_NE(run.output.find(part), std::string::npos) << part << " is not in:\n" << run.output;
  }
  for (const char* part : {"longest 7", "on the host", "on a GPU"}) {
    EXPECT_EQ(run.output.find(part), std::string::npos) << part;
    EXPECT_NE(heddle_info("laplace3d:8,9,10 --products").output.find(part), std::string::npos);
  }
}

TEST(HeddleInfo, WritesJson) {
  const Outcome run = heddle_info("--json --products random_geometric:50:4 --transform laplacian");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const nlohmann::json json = nlohmann::json::parse(run.output);
  EXPECT_EQ(json["rows"], 50);
  EXPECT_EQ(json["symmetric"], true);
  EXPECT_EQ(json["gershgorin"][0], 0.0);
  EXPECT_EQ(json["kernels"].size(), 6u);
}

/// Counts of the bins and their standard deviations against the eigenvalues themselves, which may
/// count in part in the bin beside theirs within a hundredth of the spectrum's width.
void expect_counts(const nlohmann::json& bins, const std::vector<double>& eigenvalues) {
  const double blur = 0.01 * (eigenvalues.back() - eigenvalues.front());
  const auto between = [&](double a, double b) {
    return static_cast<double>(
        std::count_if(eigenvalues.begin(), eigenvalues.end(),
                      [&](double value) { return a <= value && value <= b; }));
  };
  for (const nlohmann::json& bin : bins) {
    const double from = bin["from"];
    const double to = bin["to"];
    const double slack = 4 * bin["deviation"].get<double>();
    EXPECT_GE(bin["count"], between(from + blur, to - blur) - slack) << bin;
    EXPECT_LE(bin["count"], between(from - blur, to + blur) + slack) << bin;
  }
}

TEST(HeddleInfo, CountsEigenvaluesInBins) {
  const std::vector<double> eigenvalues = laplace_smallest_eigenvalues({30, 29}, 870);
  const Outcome run = heddle_info("laplace2d:30,29 --spectrum --bins 8 --json");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const nlohmann::json bins = nlohmann::json::parse(run.output)["spectrum"];
  ASSERT_EQ(bins.size(), 8u);
  EXPECT_LE(bins.front()["from"], eigenvalues.front());
  EXPECT_GE(bins.back()["to"], eigenvalues.back());
  double total = 0;
  for (const nlohmann::json& bin : bins) total += bin["count"].get<double>();
  EXPECT_NEAR(total, 870, 1e-6);
  expect_counts(bins, eigenvalues);
}

TEST(HeddleInfo, ShowsTheSpectrumOnlyWhereAsked) {
  const std::string title = "Estimated numbers of eigenvalues";
  const Outcome asked = heddle_info("random_geometric:200:6 --transform laplacian --spectrum");
  ASSERT_EQ(asked.exit_code, 0) << asked.output;
  const std::size_t table = asked.output.find(title);
  ASSERT_NE(table, std::string::npos) << asked.output;
  const auto rest = asked.output.begin() + static_cast<std::ptrdiff_t>(table);
  EXPECT_EQ(std::count(rest, asked.output.end(), '\n'), 2 + 20);
  EXPECT_EQ(asked.output.substr(asked.output.size() - 6), "200.0\n");
  const Outcome not_asked = heddle_info("laplace1d:9");
  EXPECT_EQ(not_asked.output.find(title), std::string::npos);
}

TEST(HeddleInfo, ShowsTheLevelsOfMultigrid) {
  const Outcome text = heddle_info("elasticity3d:6,6,6 --multigrid");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.output.find("Levels of multigrid\nlevel "), std::string::npos) << text.output;
  const auto report =
      nlohmann::json::parse(heddle_info("elasticity3d:6,6,6 --multigrid --json").output);
  const auto& levels = report.at("multigrid").at("levels");
  ASSERT_GT(levels.size(), 1U);
  EXPECT_EQ(levels[0].at("rows"), report.at("rows"));
  EXPECT_EQ(levels[0].at("nnz"), report.at("nnz"));
  // Six motions per aggregate, since a generated body brings the positions of its nodes.
  EXPECT_EQ(levels[1].at("rows"), 6 * levels[0].at("aggregates").get<int>());
  double entries = 0;
  for (const auto& level : levels) entries += level.at("nnz").get<double>();
  EXPECT_DOUBLE_EQ(report.at("multigrid").at("operator_complexity").get<double>(),
                   entries / report.at("nnz").get<double>());
  const heddle::test::TemporaryFolder folder;
  const auto points = folder.write(
      "points.mtx", "%%MatrixMarket matrix array real general\n2 3\n0\n1\n0\n0\n0\n2\n");
  EXPECT_EQ(
      heddle_info("elasticity3d:6,6,6 --multigrid --coordinates " + points.string()).exit_code, 1);
  EXPECT_EQ(heddle_info("random_uniform:30,30 --multigrid").exit_code, 1);
  EXPECT_EQ(heddle_info("laplace1d:30 --coordinates " + points.string()).exit_code, 1);
}

TEST(HeddleInfo, DescribesAPencil) {
  const std::string arguments = "elasticity3d:4,4,4 --mass elasticity3d_mass:4,4,4";
  const Outcome text = heddle_info(arguments);
  ASSERT_EQ(text.exit_code, 0) << text.output;
  EXPECT_NE(text.output.find("mass         elasticity3d_mass:4,4,4\n"), std::string::npos);
  const auto json = nlohmann::json::parse(heddle_info(arguments + " --json").output);
  EXPECT_EQ(json.at("mass").at("rows"), json.at("rows"));
  EXPECT_EQ(json.at("pencil").at("massless_rows"), 0);
  const double lower = json.at("pencil").at("quotients").at(0);
  EXPECT_DOUBLE_EQ(json.at("pencil").at("frequencies").at(0), std::sqrt(lower) / (2 * M_PI));
}

TEST(HeddleInfo, ListsEveryGenerator) {
  const Outcome run = heddle_info("--list-generators");
  EXPECT_EQ(run.exit_code, 0);
  for (const GalleryStructure& structure : gallery_structures()) {
    EXPECT_NE(("\n" + run.output).find("\n" + std::string(structure.name) + " "), std::string::npos)
        << structure.name;
  }
}

TEST(HeddleInfo, HelpAndVersionSucceed) {
  EXPECT_EQ(heddle_info("--help").exit_code, 0);
  EXPECT_NE(heddle_info("--help").output.find("Examples:"), std::string::npos);
  EXPECT_EQ(heddle_info("--version").output.rfind("heddle-info ", 0), 0u);
}

TEST(HeddleInfo, VersionNamesTheInstructionSetThatTheUserChose) {
  setenv("HEDDLE_ISA", "base", 1);
  const std::string version = heddle_info("--version").output;
  setenv("HEDDLE_ISA", "mmx", 1);
  const Outcome unknown = heddle_info("--version");
  unsetenv("HEDDLE_ISA");
  EXPECT_NE(version.find("instruction set of the host kernels: base"), std::string::npos);
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.output.find("HEDDLE_ISA=mmx: this build on this CPU can use: base"),
            std::string::npos)
      << unknown.output;
}

/// One line "heddle-info: error: …" that holds `part`, and the exit code.
void expect_failure(const std::string& arguments, int exit_code, const std::string& part) {
  const Outcome run = heddle_info(arguments);
  EXPECT_EQ(run.exit_code, exit_code) << arguments;
  EXPECT_EQ(run.output.rfind("heddle-info: error: ", 0), 0u) << run.output;
  EXPECT_EQ(run.output.find('\n'), run.output.size() - 1) << run.output;
  EXPECT_NE(run.output.find(part), std::string::npos) << run.output;
}

TEST(HeddleInfo, FullDiskExitsWithTwo) {
  expect_failure("--list-generators >/dev/full", 2, "standard output");
  expect_failure("laplace1d:9 --json >/dev/full", 2, "standard output");
}

TEST(HeddleInfo, BadUsageExitsWithOne) {
  expect_failure("", 1, "a matrix is missing");
  expect_failure("--no-such-option", 1, "--no-such-option");
  expect_failure("laplace3d:4,4", 1, "[nx, ny, nz]");
  expect_failure("laplace3d:4,four,4", 1, "four");
  expect_failure("laplac3d:4,4,4", 1, "did you mean \"laplace3d\"?");
  expect_failure("laplace3d:5000,5000,5000", 1, "125000000000 rows");
  expect_failure("laplace1d:4 --transform fourier", 1, "fourier");
  expect_failure("random_uniform:4,5:2 --transform laplacian", 1, "4 rows and 5 columns");
  expect_failure(
      "laplace1d:4 --transform laplacian", 1,
      "laplace1d:4: a graph Laplacian takes no negative weights, but entry (1, 2) is -1");
  EXPECT_EQ(heddle_info("laplace1d:4 --transform laplacian --weights unit").exit_code, 0);
  expect_failure("random_uniform:9,9:2 --transform normalized_laplacian --weights unit", 1,
                 "the graph is directed");
  EXPECT_EQ(heddle_info("random_uniform:9,9:2 --transform laplacian --weights unit --symmetrize")
                .exit_code,
            0);
  expect_failure("random_uniform:4,5:2 --spectrum", 1,
                 "random_uniform:4,5:2: the spectrum is that of a symmetric matrix, this one has 4 "
                 "rows and 5 columns");
  expect_failure("random_uniform:20,20:2 --spectrum", 1, "of this one entry (");
  expect_failure("laplace1d:9 --spectrum --bins 0", 1, "--bins");
  expect_failure("laplace1d:9 --spectrum --bins 101", 1, "--bins");
  expect_failure("laplace1d:9 --bins 10", 1, "--spectrum");
  expect_failure("laplace1d:9 --mass laplace1d:8", 1,
                 "laplace1d:9 is 9 x 9, the mass matrix laplace1d:8 is 8 x 8");
  expect_failure("random_uniform:4,5:2 --mass laplace1d:4", 1, "a pencil needs a square matrix");
  expect_failure("laplace1d:9 --mass laplace1d:9 --spectrum", 1,
                 "--spectrum does not go with --mass");
  expect_failure("laplace1d:9 --mass laplace1d:9 --transform laplacian", 1,
                 "--transform does not go with --mass");
  expect_failure("laplace1d:9 laplace1d:9", 1, "--mass laplace1d:9");
}

TEST(HeddleInfo, BadFilesExitWithTwo) {
  const heddle::test::TemporaryFolder folder;
  const std::string header = "%%MatrixMarket matrix coordinate real general\n";
  expect_failure((folder.path() / "missing.mtx").string(), 2, "missing.mtx");
  expect_failure(folder.write("short.mtx", header + "2 2 3\n1 1 1\n").string(), 2, "short.mtx");
  expect_failure(folder.write("outside.mtx", header + "2 2 1\n3 1 1\n").string(), 2,
                 "outside.mtx:3");
}

}  // namespace
}  // namespace heddle::apps
