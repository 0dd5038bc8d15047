#include <gtest/gtest.h>

#include <apps/config_support.hpp>
#include <heddle/apps/report/history_files.hpp>
#include <heddle/apps/report/report.hpp>
#include <nlohmann/json.hpp>
#include <vector>

namespace heddle::apps {
namespace {

TEST(ResultJson, HoldsTheErrorBounds) {
  Report report;
  report.result.error_bounds = {2e-12, 5e-11};
  report.result.limited_by_rounding = {false, true};
  const Config config = test::config_of("problem: {matrix: a.mtx}");
  const auto json = nlohmann::json::parse(result_json(config, report));
  EXPECT_EQ(json.at("error_bounds").get<std::vector<double>>(),
            (std::vector<double>{2e-12, 5e-11}));
  EXPECT_EQ(json.at("limited_by_rounding").get<std::vector<bool>>(),
            (std::vector<bool>{false, true}));
}

TEST(ResultJson, MarksTheValuesAtTheEndsOfAnInterval) {
  Report report;
  report.result.eigenvalues = {1, 2};
  report.result.straddles = {false, true};
  const auto marks = [&report](const std::string& solver) {
    const Config config = test::config_of("problem: {matrix: a.mtx}\nsolver: " + solver, {},
                                          SolverType::block_lanczos);
    return nlohmann::json::parse(result_json(config, report)).value("straddles", nlohmann::json());
  };
  EXPECT_EQ(marks("{type: block_lanczos, which: interval, interval: [0, 2]}"),
            nlohmann::json({false, true}));
  EXPECT_TRUE(marks("{type: block_lanczos}").is_null());
}

TEST(HistoryCsv, ALineAnIteration) {
  EXPECT_EQ(history_csv({{1, 0, 0.5, 0.01, 4, 8}, {2, 1, 0.25, 0.02, 3, 11}}),
            "iteration,converged,worst_residual,seconds,active_columns,operator_applications\n"
            "1,0,0.5,0.01,4,8\n"
            "2,1,0.25,0.02,3,11\n");
}

TEST(ResultTable, MarksValuesOfFewDigits) {
  Solution result;
  result.eigenvalues = {1e-17, 24336.44, 2.5e9};
  result.residuals.assign(3, 1e-15);
  result.error_bounds = {2e-15, 1.7e3, 4e2};
  result.limited_by_rounding = {true, false, false};
  EXPECT_EQ(result_table(result, SolverType::lobpcg),
            "                   eigenvalue          ±   residual\n"
            "    1                       0    2.0e-15    1.0e-15 ~\n"
            "    2                 2.4e+04    1.7e+03    1.0e-15 *\n"
            "    3            2.500000e+09    4.0e+02    1.0e-15\n"
            " *  the error may exceed 1e-6 of the value\n"
            " ~  the error may exceed 1e-6 of the value: rounding allows no more digits\n");
}

/// √λ/2π has half of the relative error of λ.
TEST(ResultTable, RowsThatHaveNotConvergedAreMarkedAndShowTwoDigits) {
  Solution result;
  result.status = SolveStatus::max_iterations;
  result.eigenvalues = {1e-17, 100, 400, 7};
  result.frequencies = {5.03e-10, 1.5915494, 3.1830989, 0.42109};
  result.residuals = {1e-15, 1e-12, 0.25, 1e-7};
  result.error_bounds = {2e-15, 2e-2, 2e3, 1e-9};
  result.limited_by_rounding = {true, false, false, false};
  result.converged = {true, true, false, false};
  EXPECT_EQ(result_table(result, SolverType::lobpcg),
            "                   eigenvalue          ±   residual     frequency\n"
            "    1                       0    2.0e-15    1.0e-15             0 ~\n"
            "    2               1.000e+02    2.0e-02    1.0e-12    1.5915e+00 *\n"
            "    3                 4.0e+02    2.0e+03    2.5e-01       3.2e+00 *  not converged\n"
            "    4         7.000000000e+00    1.0e-09    1.0e-07   4.21090e-01  not converged\n"
            " *  the error may exceed 1e-6 of the value\n"
            " ~  the error may exceed 1e-6 of the value: rounding allows no more digits\n");
}

TEST(ResultTable, MarksTheValuesAtTheEndsOfAnInterval) {
  Solution result;
  result.eigenvalues = {1, 3e-13};
  result.residuals.assign(2, 1e-15);
  result.error_bounds = {2e-12, 5e-13};
  result.limited_by_rounding = {false, true};
  result.straddles = {false, true};
  EXPECT_EQ(result_table(result, SolverType::block_lanczos),
            "                   eigenvalue          ±   residual\n"
            "    1       1.00000000000e+00    2.0e-12    1.0e-15\n"
            "    2                       0    5.0e-13    1.0e-15 ~ |\n"
            " ~  the error may exceed 1e-6 of the value: rounding allows no more digits\n"
            " |  an end of the interval lies within the error\n");
}

}  // namespace
}  // namespace heddle::apps
