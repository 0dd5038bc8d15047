#include <gtest/gtest.h>

#include <apps/process.hpp>
#include <lab/program.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::lab {
namespace {

using apps::test::ProcessResult;

ProcessResult run(std::vector<std::string> arguments) {
  const heddle::test::TemporaryFolder folder;
  arguments.insert(arguments.begin(), {"CUDA_VISIBLE_DEVICES=", test::program("missed_pairs")});
  return apps::test::run_process(folder.path(), arguments);
}

std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// Each family once. The truth agrees with the solver where that converges.
TEST(MissedPairsProgram, RunsEachFamily) {
  const ProcessResult result =
      run({"--seeds", "1", "22", "--large-share", "0", "--jobs", "2", "--show"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_NE(result.err.find("0 wrong"), std::string::npos) << result.err;
  std::set<std::string> families;
  int right = 0;
  for (const nlohmann::json& line : lines_of(result.out)) {
    families.insert(line.at("family"));
    right += int{line.at("kind") == "right"};
    if (line.at("kind") != "right") continue;
    const double value = line.at("values").at(0), truth = line.at("truth").at(0).at(0);
    const double error = line.at("truth").at(0).at(1), bound = line.at("bounds").at(0);
    EXPECT_NEAR(value, truth, error + bound + 1e-12 * std::abs(truth)) << line;
  }
  EXPECT_EQ(families.size(), 11U);
  EXPECT_GE(right, 8);
}

TEST(MissedPairsProgram, ASeedIsACase) {
  const std::vector<std::string> words{"--seeds", "5", "1", "--large-share", "0", "--show"};
  nlohmann::json first = lines_of(run(words).out).at(0), second = lines_of(run(words).out).at(0);
  for (nlohmann::json* line : {&first, &second}) line->erase("seconds");
  EXPECT_EQ(first, second);
}

TEST(MissedPairsProgram, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(run({"--family", "unknown"}).exit_code, 1);
  EXPECT_EQ(run({"--large-share", "2"}).exit_code, 1);
}

}  // namespace
}  // namespace heddle::lab
