#include <gtest/gtest.h>

#include <apps/config_support.hpp>
#include <cmath>
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

TEST(ResultTable, SixDigitsAreShownAndRowsMarkedWhereTheyAreNotCertain) {
  Solution result;
  result.eigenvalues = {1e-17, 621.65, 2.5e9};
  result.residuals.assign(3, 1e-15);
  result.error_bounds = {2e-15, 190, 4e2};
  result.limited_by_rounding = {true, false, false};
  EXPECT_EQ(result_table(result, SolverType::lobpcg),
            "                   eigenvalue          ±   residual\n"
            "    1                       0    2.0e-15    1.0e-15 ~\n"
            "    2             6.21650e+02    1.9e+02    1.0e-15 *\n"
            "    3            2.500000e+09    4.0e+02    1.0e-15\n"
            " *  the error may exceed 1e-6 of the value\n"
            " ~  the error may exceed 1e-6 of the value: rounding allows no more digits\n");
}

/// √λ/2π has half of the relative error of λ. One that rounding has not limited is no zero.
TEST(ResultTable, FrequenciesComeFirst) {
  Solution result;
  result.status = SolveStatus::max_iterations;
  result.eigenvalues = {1e-17, 100, 400, 7, 4e-9, -1e13};
  for (const double lambda : result.eigenvalues) {
    result.frequencies.push_back(std::copysign(std::sqrt(std::abs(lambda)), lambda) / 6.283185307);
  }
  result.residuals = {1e-15, 1e-12, 0.25, 1e-7, 0, 0};
  result.error_bounds = {2e-15, 2e-2, 2e3, 1e-9, 1e-18, 1};
  result.limited_by_rounding = {true, false, false, false, false, false};
  result.converged = {true, true, false, false, true, true};
  EXPECT_EQ(result_table(result, SolverType::lobpcg),
            "          frequency          ±              eigenvalue          ±   residual\n"
            "    1             0    7.6e-09                       0    2.0e-15    1.0e-15 ~\n"
            "    2       1.59155    1.6e-04             1.00000e+02    2.0e-02    1.0e-12 *\n"
            "    3       3.18310    9.5e+00             4.00000e+02    2.0e+03    2.5e-01 *  not "
            "converged\n"
            "    4      0.421084    3.0e-11         7.000000000e+00    1.0e-09    1.0e-07  not "
            "converged\n"
            "    5   1.00658e-05    1.3e-15         4.000000000e-09    1.0e-18    0.0e+00\n"
            "    6       -503292    2.5e-08    -1.0000000000000e+13    1.0e+00    0.0e+00\n"
            " *  the error may exceed 1e-6 of the value\n"
            " ~  the error may exceed 1e-6 of the value: rounding allows no more digits\n");
}

TEST(ResultTable, UnitsOfFrequencies) {
  Solution result;
  result.eigenvalues = {3.94784176e7};
  result.frequencies = {1000};
  result.residuals = {0};
  result.error_bounds = {1};
  const auto shown = [&result](FrequencyUnit unit) {
    const std::string text = result_table(result, SolverType::lobpcg, {unit});
    return text.substr(0, text.find('\n')) + text.substr(text.find('\n') + 1, 30);
  };
  using enum FrequencyUnit;
  EXPECT_EQ(shown(cycles).find("          frequency          ± "), 0u);
  EXPECT_NE(shown(hertz).find("f (Hz)"), std::string::npos);
  EXPECT_NE(shown(hertz).find("    1       1000.00    1.3e-05"), std::string::npos);
  EXPECT_NE(shown(kilohertz).find("f (kHz)"), std::string::npos);
  EXPECT_NE(shown(kilohertz).find("    1       1.00000    1.3e-08"), std::string::npos);
  EXPECT_NE(shown(radians).find("ω (rad/s)"), std::string::npos);
  EXPECT_NE(shown(radians).find("    1       6283.19    8.0e-05"), std::string::npos);
  EXPECT_EQ(shown(none).find("                   eigenvalue"), 0u);
}

TEST(ResultTable, CertainDigitsAreBoldWhereOthersAreShown) {
  Solution result;
  result.eigenvalues = {621.65, 0.5, 2};
  result.residuals.assign(3, 1e-15);
  result.error_bounds = {190, 1e-3, 1e-12};
  result.limited_by_rounding.assign(3, false);
  const std::string text = result_table(result, SolverType::lobpcg, {FrequencyUnit::cycles, true});
  EXPECT_NE(text.find("\x1b[1m6\x1b[0m.21650e+02"), std::string::npos) << text;
  EXPECT_NE(text.find("\x1b[1m5.00\x1b[0m000e-01"), std::string::npos) << text;
  EXPECT_NE(text.find(" 2.000000000000e+00"), std::string::npos) << text;
  EXPECT_NE(text.find("of the value; certain digits are bold\n"), std::string::npos) << text;
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
