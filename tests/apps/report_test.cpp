#include <gtest/gtest.h>

#include <apps/config_support.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/progress.hpp>
#include <heddle/apps/report/history_files.hpp>
#include <heddle/apps/report/report.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <support/temporary_folder.hpp>
#include <thread>

namespace heddle::apps {
namespace {

using heddle::test::contents;
using heddle::test::TemporaryFolder;

Config small_config() {
  return test::config_of(
      "problem: {matrix: a.mtx}\nsolver: {nev: 2, tolerance: 1e-9}\noutput: {directory: out}");
}

Report filled_report() {
  Report report;
  report.problem.n = 100;
  report.problem.nnz = 460;
  report.problem.device = "host";
  report.problem.threads = 2;
  report.problem.block_size = 4;
  report.problem.preconditioner = "jacobi of A";
  report.result.status = SolveStatus::converged;
  report.result.reason = "all 2 wanted pairs converged";
  report.result.iterations = 17;
  report.result.operator_applications = 68;
  report.result.eigenvalues = {1.0 / 3.0, 2.0 / 3.0};
  report.result.residuals = {1e-10, 3e-10};
  report.result.error_bounds = {2e-12, 5e-11};
  report.result.limited_by_rounding = {false, true};
  report.result.completeness = {CompletenessMethod::stiff_factor, false};
  report.result.orthogonality = 2e-15;
  report.result.history = {{1, 0, 0.5, 0.01, 4, 8}, {2, 1, 0.25, 0.02, 3, 11}};
  report.result.spmm_kernel = "row_split";
  report.seconds.total = 1.5;
  report.result.solve_seconds = 1.25;
  report.result.peak_bytes = 4096;
  report.result.peak_bytes_most = 8192;
  return report;
}

TEST(ResultJson, HoldsTheKeysThatAreAlwaysThere) {
  const auto json = nlohmann::json::parse(result_json(small_config(), filled_report()));
  EXPECT_EQ(json.at("status"), "converged");
  EXPECT_EQ(json.at("reason"), "all 2 wanted pairs converged");
  EXPECT_EQ(json.at("solver"), "lobpcg");
  EXPECT_EQ(json.at("device"), "host");
  EXPECT_EQ(json.at("precision"), "double");
  EXPECT_EQ(json.at("n"), 100);
  EXPECT_EQ(json.at("nnz"), 460);
  EXPECT_EQ(json.at("iterations"), 17);
  EXPECT_EQ(json.at("operator_applications"), 68);
  EXPECT_EQ(json.at("spmm_kernel"), "row_split");
  EXPECT_EQ(json.at("memory").at("peak_bytes"), 4096);
  EXPECT_EQ(json.at("memory").at("peak_bytes_most"), 8192);
  for (const char* stage : {"total", "setup", "solve", "spmm", "dense"}) {
    EXPECT_TRUE(json.at("seconds").at(stage).is_number()) << stage;
  }
  EXPECT_EQ(json.at("orthogonality").get<double>(), 2e-15);
  EXPECT_EQ(json.at("completeness").at("method"), "factor of stiff rows");
  EXPECT_EQ(json.at("completeness").at("proven"), false);
}

TEST(ResultJson, KeepsEveryBitOfADouble) {
  Report report = filled_report();
  report.result.eigenvalues = {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -0.0};
  const auto json = nlohmann::json::parse(result_json(small_config(), report));
  const auto read = json.at("eigenvalues").get<std::vector<double>>();
  ASSERT_EQ(read.size(), report.result.eigenvalues.size());
  EXPECT_EQ(
      std::memcmp(read.data(), report.result.eigenvalues.data(), read.size() * sizeof(double)), 0);
}

TEST(ResultJson, NumbersThatAreNotFiniteAreNull) {
  Report report = filled_report();
  report.result.eigenvalues = {std::nan(""), std::numeric_limits<double>::infinity()};
  report.result.orthogonality = std::nan("");
  const auto json = nlohmann::json::parse(result_json(small_config(), report));
  EXPECT_TRUE(json.at("eigenvalues").at(0).is_null());
  EXPECT_TRUE(json.at("eigenvalues").at(1).is_null());
  EXPECT_TRUE(json.at("orthogonality").is_null());
}

TEST(ResultJson, HoldsTheConfigurationWithItsTypes) {
  const auto json = nlohmann::json::parse(result_json(small_config(), filled_report()));
  const auto& config = json.at("configuration");
  EXPECT_EQ(config.at("solver").at("nev"), 2);
  EXPECT_EQ(config.at("solver").at("tolerance").get<double>(), 1e-9);
  EXPECT_EQ(config.at("solver").at("block_size"), "auto");
  EXPECT_EQ(config.at("output").at("history"), true);
  EXPECT_TRUE(config.at("problem").at("matrix").is_string());
  EXPECT_FALSE(json.at("versions").at("heddle").get<std::string>().empty());
}

TEST(ResultJson, FileNamesThatAreNotUtf8) {
  Config config = small_config();
  config.problem.matrix.path = "\xff\xfe.mtx";
  EXPECT_TRUE(nlohmann::json::accept(result_json(config, filled_report())));
}

TEST(ResultTable, IsAlignedAndShortened) {
  Solution result = filled_report().result;
  const std::string small = result_table(result, SolverType::lobpcg);
  EXPECT_EQ(small,
            "                   eigenvalue          ±   residual\n"
            "    1       3.33333333333e-01    2.0e-12    1.0e-10\n"
            "    2        6.6666666667e-01    5.0e-11    3.0e-10\n");
  result.eigenvalues.assign(300, 2.0);
  result.residuals.assign(300, 1e-9);
  const std::string large = result_table(result, SolverType::lobpcg);
  EXPECT_EQ(std::count(large.begin(), large.end(), '\n'), 22);
  EXPECT_NE(large.find("280 more"), std::string::npos);
  EXPECT_NE(large.find("\n   16  "), std::string::npos);
  EXPECT_EQ(large.find("\n   17  "), std::string::npos);
  EXPECT_NE(large.find("\n  297  "), std::string::npos);
  EXPECT_NE(large.find("\n  300  "), std::string::npos);
}

/// A report on a linear system with two right-hand sides.
Report linear_report() {
  Report report = filled_report();
  report.problem.rhs = 2;
  report.result.reason = "all columns converged";
  report.result.eigenvalues.clear();
  report.result.matrix_passes = 19;
  report.result.backward_errors = {2e-11, 4e-11};
  report.result.error_estimates = {1e-9, std::numeric_limits<double>::quiet_NaN()};
  report.result.preconditioner = {0.125, 800};
  report.result.preconditioner_precision = {"single", "as asked"};
  return report;
}

TEST(ResultTable, OfALinearSystem) {
  EXPECT_EQ(result_table(linear_report().result, SolverType::block_cg),
            "column  residual  backward error\n"
            "     1   1.0e-10         2.0e-11\n"
            "     2   3.0e-10         4.0e-11\n");
}

TEST(ResultJson, OfALinearSystem) {
  const Config config =
      test::config_of("problem: {matrix: a.mtx, rhs: {random: 2}}", {}, SolverType::block_cg);
  const auto json = nlohmann::json::parse(result_json(config, linear_report()));
  EXPECT_EQ(json.at("solver"), "block_cg");
  EXPECT_EQ(json.at("residuals").size(), 2u);
  EXPECT_EQ(json.at("backward_errors").at(1), 4e-11);
  EXPECT_EQ(json.at("error_estimates").at(0), 1e-9);
  EXPECT_TRUE(json.at("error_estimates").at(1).is_null());
  EXPECT_EQ(json.at("matrix_passes"), 19);
  EXPECT_EQ(json.at("problem").at("rhs"), "random");
  EXPECT_EQ(json.at("problem").at("right_hand_sides"), 2);
  EXPECT_EQ(json.at("preconditioner_setup").at("seconds"), 0.125);
  EXPECT_EQ(json.at("preconditioner_setup").at("bytes"), 800);
  EXPECT_EQ(json.at("preconditioner_precision"), "single");
  EXPECT_EQ(json.at("preconditioner_precision_reason"), "as asked");
  EXPECT_FALSE(json.contains("eigenvalues"));
  EXPECT_FALSE(json.contains("orthogonality"));
  EXPECT_FALSE(json.contains("completeness"));
}

/// A report on least squares with two right-hand sides.
Report least_squares_report() {
  Report report = linear_report();
  report.problem.cols = 7;
  report.result.operator_applications = 40;
  report.result.backward_errors.clear();
  report.result.residual_norms = {1.5, 0};
  return report;
}

TEST(ResultTable, OfLeastSquares) {
  EXPECT_EQ(result_table(least_squares_report().result, SolverType::block_cg),
            "column  residual       |b - A x|\n"
            "     1   1.0e-10    1.500000e+00\n"
            "     2   3.0e-10    0.000000e+00\n");
}

TEST(ResultJson, OfLeastSquares) {
  const Config config =
      test::config_of("problem: {matrix: a.mtx, rhs: {random: 2}, transform: normal_equations}", {},
                      SolverType::block_cg);
  const auto json = nlohmann::json::parse(result_json(config, least_squares_report()));
  EXPECT_EQ(json.at("residuals").size(), 2u);
  EXPECT_EQ(json.at("residual_norms").at(0), 1.5);
  EXPECT_EQ(json.at("problem").at("cols"), 7);
  EXPECT_EQ(json.at("problem").at("right_hand_sides"), 2);
  EXPECT_FALSE(json.contains("backward_errors"));
  EXPECT_FALSE(json.contains("matrix_passes"));
}

TEST(SummaryLine, OfLeastSquares) {
  EXPECT_EQ(summary_line(least_squares_report(), SolverType::block_cg),
            "converged: all columns converged; 1.25 s, 40 columns multiplied by A or A^T\n");
}

TEST(SummaryLine, OfALinearSystem) {
  EXPECT_EQ(summary_line(linear_report(), SolverType::block_cg),
            "converged: all columns converged; 1.25 s, 19 passes over A\n");
}

TEST(SummaryLine, SaysHowItEnded) {
  EXPECT_EQ(summary_line(filled_report(), SolverType::lobpcg),
            "converged: all 2 wanted pairs converged; 1.25 s, orthogonality 2.0e-15\n");
}

TEST(Progress, LineHoldsCountsResidualRateAndTime) {
  Progress progress(ProgressStyle::silent);
  for (int i = 1; i <= 3; ++i) {
    const IterationRecord record{i, i - 1, std::pow(0.5, i), 0.25 * i, 4, 4 * i};
    const MonitorState state{record, 5, {}, {}};
    progress.show(state);
    if (i == 3) {
      const auto line = [&](std::size_t width) { return progress.line(state, width); };
      EXPECT_EQ(line(80),
                "iteration 3: 2 of 5 converged, worst residual 1.2e-01, rate 0.50, 0.8 s");
      EXPECT_EQ(line(66), "iteration 3: 2 of 5 converged, worst residual 1.2e-01, 0.8 s");
      EXPECT_EQ(line(58), "iteration 3: 2 of 5 converged, worst residual 1.2e-01");
      EXPECT_EQ(line(40), "iteration 3: 2 of 5 converged");
      EXPECT_EQ(line(11), "iteration 3");
    }
  }
}

TEST(Progress, PlainLinesGoByTime) {
  const auto shown = [](const std::vector<double>& seconds) {
    testing::internal::CaptureStdout();  // where the log goes if not told otherwise
    Progress progress(ProgressStyle::lines);
    Index iteration = 0;
    for (const double at : seconds) {
      const IterationRecord record{iteration++, 0, 0.5, at, 4, 4};
      progress.show({record, 5, {}, {}});
    }
    const std::string text = testing::internal::GetCapturedStdout();
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(shown({0, 1e-3, 2e-3, 3e-3}), 1);     // many quick iterations
  EXPECT_EQ(shown({0, 0.5, 2.1, 3, 4.2}), 3);     // each two seconds
  EXPECT_EQ(shown({10, 20, 30}), 3);              // cycles that take long
  EXPECT_EQ(shown({1000, 1049, 1051, 1052}), 2);  // a twentieth of what it has taken
  EXPECT_EQ(shown({100000, 100059, 100061}), 2);  // a minute at most
}

/// A stage that goes on is named again and again, and no more once an iteration has been shown.
TEST(Progress, LongStagesAreNamedWhereThereIsNoLiveLine) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto begin = std::chrono::steady_clock::now();
  double periods = 0;  // until an iteration was shown
  {
    Progress progress(ProgressStyle::lines, std::chrono::milliseconds(100));
    progress.begin_stage("ordering A");
    progress.begin_stage("factoring A");
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    const IterationRecord record{1, 0, 0.5, 0.1, 4, 4};
    progress.show({record, 5, {}, {}});
    periods = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 0.1;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  testing::internal::GetCapturedStdout();
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_EQ(shown.find("factoring A, 0 s\n"), 0u) << shown;
  const auto lines = std::count(shown.begin(), shown.end(), '\n');
  EXPECT_GE(lines, 2) << shown;
  EXPECT_LE(static_cast<double>(lines), periods) << shown;
  EXPECT_EQ(shown.find("ordering"), std::string::npos);
  EXPECT_EQ(shown.find("iteration"), std::string::npos);
}

TEST(Progress, TheLiveLineIsRewrittenAndRemoved) {
  testing::internal::CaptureStderr();
  {
    Progress progress(ProgressStyle::live);
    const IterationRecord record{1, 0, 0.5, 0.1, 4, 4};
    progress.show({record, 5, {}, {}});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\x1b[Kiteration 1: 0 of 5 converged, worst residual 5.0e-01, 0.1 s\r\x1b[K");
}

TEST(ExitCodes, FollowTheStatus) {
  EXPECT_EQ(exit_code(SolveStatus::converged), ExitCode{0});
  EXPECT_EQ(exit_code(SolveStatus::max_iterations), ExitCode{3});
  EXPECT_EQ(exit_code(SolveStatus::time_limit), ExitCode{3});
  EXPECT_EQ(exit_code(SolveStatus::breakdown), ExitCode{4});
  EXPECT_EQ(exit_code(SolveStatus::stagnated), ExitCode{4});
  EXPECT_EQ(exit_code(SolveStatus::indefinite), ExitCode{4});
  EXPECT_EQ(exit_code(SolveStatus::verification_failed), ExitCode{6});
  EXPECT_EQ(exit_code(SolveStatus::interrupted), ExitCode{130});
}

TEST(ExitCodes, FollowTheException) {
  const auto failure = [](const auto& exception) {
    return describe_failure(std::make_exception_ptr(exception));
  };
  EXPECT_EQ(failure(InvalidArgument("x")).code, ExitCode{1});
  EXPECT_EQ(failure(ConfigError({}, "x")).code, ExitCode{1});
  EXPECT_EQ(failure(InputError("a.mtx", 7, "x")).code, ExitCode{2});
  EXPECT_EQ(failure(InputError("a.mtx", 7, "x")).message, "a.mtx:7: x");
  EXPECT_EQ(failure(OutOfMemory(5, "asked for 5 bytes")).code, ExitCode{5});
  EXPECT_EQ(failure(DeviceError("x")).code, ExitCode{5});
  EXPECT_EQ(failure(std::bad_alloc()).code, ExitCode{5});
  EXPECT_EQ(failure(std::logic_error("x")).code, ExitCode{4});
  EXPECT_EQ(failure(3).code, ExitCode{4});
}

template <class T>
class Npy : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Npy, Scalars);

TYPED_TEST(Npy, HasNumPysHeaderAndRowsWithoutPadding) {
  const TemporaryFolder folder;
  HostContext context(1);
  MultiVector<TypeParam, HostSpace> X(context, 5, 3);  // padded to ld 4
  for (Index i = 0; i < 5; ++i) {
    for (Index j = 0; j < 3; ++j) X.view()(i, j) = static_cast<TypeParam>(10 * i + j);
  }
  write_npy(folder.path() / "x.npy", std::as_const(X).view());
  const std::string bytes = contents(folder.path() / "x.npy");
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t header =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + header) % 64, 0u);
  const std::string dictionary = bytes.substr(10, header);
  const std::string type = sizeof(TypeParam) == 8 ? "'<f8'" : "'<f4'";
  EXPECT_EQ(
      dictionary.rfind("{'descr': " + type + ", 'fortran_order': False, 'shape': (5, 3), }", 0),
      0u);
  EXPECT_EQ(dictionary.back(), '\n');
  ASSERT_EQ(bytes.size(), 10 + header + 15 * sizeof(TypeParam));
  for (std::size_t k = 0; k < 15; ++k) {
    TypeParam value;
    std::memcpy(&value, bytes.data() + 10 + header + k * sizeof(value), sizeof(value));
    EXPECT_EQ(value, static_cast<TypeParam>(10 * (k / 3) + k % 3));
  }
}

TEST(ProfileTable, SharesAndRates) {
  Profile profile;
  profile.open(Phase::spmm);
  profile.count(4e9, 2e9);
  profile.add_seconds(Phase::spmm, 0.5);
  profile.open(Phase::update);
  profile.count(3e9, 9e9);
  profile.add_seconds(Phase::update, 1.5);
  EXPECT_EQ(profile_table(profile),
            "phase              seconds    share        GB     GB/s   GFLOP/s\n"
            "spmm                0.5000   25.0 %     4.000      8.0       4.0\n"
            "update              1.5000   75.0 %     3.000      2.0       6.0\n"
            "all                 2.0000  100.0 %     7.000      3.5       5.5\n");
  EXPECT_EQ(profile_table(Profile()),
            "phase              seconds    share        GB     GB/s   GFLOP/s\n"
            "all                 0.0000    0.0 %     0.000      0.0       0.0\n");
}

}  // namespace
}  // namespace heddle::apps
