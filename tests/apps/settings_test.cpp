#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/apps/command_line.hpp>
#include <heddle/apps/config/settings.hpp>
#include <heddle/apps/config/subject.hpp>
#include <heddle/linalg/base/error.hpp>
#include <limits>
#include <set>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::apps {
namespace {

const KeySpec& key(const std::string& path) {
  const auto& schema = config_schema();
  return *std::find_if(schema.begin(), schema.end(),
                       [&](const KeySpec& spec) { return spec.path == path; });
}

/// The configuration of a matrix with options of the command line.
Config config_of(const std::vector<std::pair<std::string, std::vector<std::string>>>& options,
                 const std::vector<std::string>& overrides = {}) {
  std::vector<Setting> settings;
  for (const auto& [path, words] : options) settings.push_back({&key(path), words});
  return load_config("laplace2d:20,17", settings, overrides, SolverType::automatic);
}

std::string error_of(const std::string& path, const std::vector<std::string>& words) {
  try {
    config_of({{path, words}});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Settings, AMatrixAndOptionsAreAConfiguration) {
  const Config config = config_of({{"problem.mass", {"odd name #1.mtx"}},
                                   {"solver.nev", {"4"}},
                                   {"solver.tolerance", {"1e-5"}},
                                   {"solver.preconditioner.type", {"jacobi"}},
                                   {"output.directory", {"a: b"}}},
                                  {"solver.nev=5"});
  EXPECT_EQ(config.problem.matrix.describe(), "laplace2d [20, 17]");
  EXPECT_EQ(config.problem.mass->path, "odd name #1.mtx");
  EXPECT_EQ(config.request.nev, 5);  // --set comes last
  EXPECT_EQ(config.request.tolerance, 1e-5);
  EXPECT_EQ(config.request.preconditioner.type, "jacobi");
  EXPECT_EQ(config.output.directory, "a: b");
  EXPECT_EQ(config.name, "laplace2d");
}

FrequencyOption frequency_option(std::string_view name) {
  for (const FrequencyOption& option : frequency_options(SolverType::automatic)) {
    if (option.name == name) return option;
  }
  ADD_FAILURE() << name;
  return {};
}

/// λ = (2π f)², with the sign of f.
TEST(Settings, ARangeOfFrequenciesIsAnInterval) {
  const FrequencyOption range = frequency_option("--range-hz");
  const auto interval = [&range](const std::vector<std::string>& words) {
    const Config config =
        load_config("laplace2d:20,17", {setting_of(range, words)}, {}, SolverType::automatic);
    EXPECT_EQ(origin_of(config, "solver.interval").describe(),
              "--range-hz " + words[0] + " " + words[1]);
    return *config.request.interval;
  };
  constexpr double kPi = 3.14159265358979323846;
  EXPECT_DOUBLE_EQ(interval({"0.25", "3"}).lower, kPi * kPi / 4);
  EXPECT_DOUBLE_EQ(interval({"0.25", "3"}).upper, 36 * kPi * kPi);
  EXPECT_DOUBLE_EQ(interval({"-1", "inf"}).lower, -4 * kPi * kPi);
  EXPECT_EQ(interval({"0", "inf"}).lower, 0);
  EXPECT_EQ(interval({"0", "inf"}).upper, std::numeric_limits<double>::infinity());
  EXPECT_THROW(setting_of(range, {"1", "fast"}), InvalidArgument);
}

TEST(Settings, AFrequencyIsANumberToFindTheNearestPairsOf) {
  const FrequencyOption near = frequency_option("--sigma-hz");
  constexpr double kPi = 3.14159265358979323846;
  for (const double f : {3.0, -0.5}) {
    const std::string word = std::to_string(f);
    const Config config =
        load_config("laplace2d:20,17", {setting_of(near, {word})}, {}, SolverType::automatic);
    EXPECT_EQ(origin_of(config, "solver.sigma").describe(), "--sigma-hz " + word);
    EXPECT_DOUBLE_EQ(*config.request.sigma, (f < 0 ? -4 : 4) * kPi * kPi * f * f);
    EXPECT_EQ(config.effective.find("solver")->find("which")->text, "nearest");
  }
  EXPECT_THROW(setting_of(near, {"fast"}), InvalidArgument);
  EXPECT_THROW(load_config("laplace2d:20,17", {setting_of(near, {"inf"})}, {}, SolverType::lobpcg),
               ConfigError);
}

TEST(Settings, SolversOfLinearSystemsTakeNoFrequencies) {
  EXPECT_TRUE(frequency_options(SolverType::block_cg).empty());
}

TEST(Settings, SingularValuesHaveNoUnit) {
  const std::pair<std::string, std::vector<std::string>> transform = {"problem.transform",
                                                                      {"normal_equations"}};
  EXPECT_THROW(config_of({transform, {"output.unit", {"kHz"}}}), ConfigError);
  EXPECT_EQ(config_of({transform, {"output.unit", {"none"}}}).output.unit, FrequencyUnit::none);
}

TEST(Settings, IntervalsRightHandSidesAndGeneratedMasses) {
  const Config interval = config_of({{"solver.interval", {"-1", "2.5"}}});
  EXPECT_EQ(interval.request.interval->lower, -1);
  EXPECT_EQ(interval.request.interval->upper, 2.5);
  EXPECT_EQ(config_of({{"problem.rhs", {"random:3"}}}).problem.rhs.random, 3);
  EXPECT_EQ(config_of({{"problem.rhs", {"unit:1,17"}}}).problem.rhs.unit,
            (std::vector<Index>{1, 17}));
  EXPECT_EQ(config_of({{"problem.rhs", {"b.mtx"}}}).problem.rhs.path, "b.mtx");
  const Config pencil = config_of({{"problem.mass", {"random_symmetric:100:7.5"}}});
  EXPECT_EQ(pencil.problem.mass->structure->density, 7.5);
  EXPECT_EQ(config_of({{"problem.mass", {"-"}}}).problem.mass->path, "-");
}

/// An option that sets another key, too, leaves what an option for this key says.
TEST(Settings, AnEndOfTheSpectrumDoesNotGoWithANumberInIt) {
  EXPECT_EQ(config_of({{"solver.sigma", {"2.5"}}}).request.sigma, 2.5);
  for (const std::string end : {"smallest", "largest"}) {
    try {
      config_of({{"solver.which", {end}}, {"solver.sigma", {"2.5"}}});
      ADD_FAILURE() << end;
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(),
                   "--sigma 2.5: solver.sigma does not go with an end of the spectrum, use which: "
                   "nearest");
    }
  }
  EXPECT_THROW(config_of({{"solver.which", {"interval"}}, {"solver.sigma", {"2.5"}}}), ConfigError);
  EXPECT_THROW(config_of({{"solver.which", {"smallest"}}, {"solver.interval", {"1", "2"}}}),
               ConfigError);
}

TEST(Settings, WrongValuesNameTheOption) {
  EXPECT_EQ(error_of("solver.nev", {"0"}),
            "--nev 0: solver.nev: expected auto or an integer of at least 1, got '0'");
  for (const std::string word : {"nan", "inf"}) {
    EXPECT_EQ(
        error_of("solver.sigma", {word}),
        "--sigma " + word + ": solver.sigma: expected a number that is finite, got '" + word + "'");
  }
  EXPECT_EQ(error_of("solver.which", {"smalest"}),
            "--which smalest: solver.which: expected smallest, largest, interval or nearest, got "
            "'smalest' (did you mean 'smallest'?)");
  EXPECT_EQ(error_of("solver.interval", {"2", "1"}),
            "--interval 2 1: solver.interval: expected a list of two numbers or -inf or inf, the "
            "larger one last, "
            "got the list [2, 1]");
  EXPECT_EQ(error_of("problem.mass", {"laplace1d"}),
            "--mass laplace1d: problem.mass.size is missing: its sizes, e.g. [64, 64, 64]");
}

TEST(Settings, EachProgramTakesTheOptionsOfItsKeys) {
  for (const SolverProgram& program : solver_programs()) {
    std::set<std::string> names;
    for (const OptionHelp& option : help_of(program).options) {
      EXPECT_FALSE(option.text.empty());
      for (const std::string& name : option.names) EXPECT_TRUE(names.insert(name).second) << name;
    }
    for (const KeySpec& spec : config_schema()) {
      if (spec.option.empty()) continue;
      const auto& schema = config_schema();
      const bool takes = std::any_of(schema.begin(), schema.end(), [&](const KeySpec& row) {
        return row.path == spec.path &&
               (program.solver == SolverType::automatic || row.applies_to(program.solver));
      });
      const std::string last(spec.option.substr(spec.option.rfind(',') + 1));
      EXPECT_EQ(names.count(last), takes ? 1u : 0u) << program.name << " " << last;
    }
    EXPECT_EQ(names.count("--rhs") == 1,
              program.solver == SolverType::automatic || program.solver == SolverType::block_cg);
  }
}

TEST(Subject, FilesAreToldApartByTheirContent) {
  const heddle::test::TemporaryFolder folder;
  const auto is_matrix = [&folder](const std::string& name, const std::string& text) {
    try {
      read_subject(folder.write(name, text), SolverType::lobpcg);
    } catch (const ConfigError& error) {
      return std::string(error.what())
                 .find(
                     "is a matrix, heddle-lobpcg expects a configuration; "
                     "run heddle solve") != std::string::npos;
    }
    return false;
  };
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"K.mtx", "%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 2\n"},
           {"K", "%%matrixmarket matrix coordinate real symmetric\n1 1 1\n1 1 2\n"},
           {"graph.txt", "# nodes 4\n0 1\n1 2\n"},
           {"edges.yaml", "1 2 0.5\n"},
           {"K.npz", "PK\x03\x04..."},
           {"x.npy", "\x93NUMPY..."},
           {"K.mtx.gz", "\x1f\x8b..."},
           {"empty.mtx", ""}}) {
    EXPECT_TRUE(is_matrix(name, text)) << name;
  }
  for (const std::string text :
       {"problem: {matrix: a.mtx}\n", "# 1 2\nproblem: {}\n", "{problem: {}}", "12\n", "1: 2"}) {
    EXPECT_FALSE(is_matrix("case", text)) << text;
  }
  EXPECT_FALSE(is_matrix("case.yaml", ""));
}

}  // namespace
}  // namespace heddle::apps
