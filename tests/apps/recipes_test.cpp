#include <gtest/gtest.h>

#include <algorithm>
#include <apps/executable.hpp>
#include <apps/process.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

#include "support/source_dir.hpp"

namespace heddle::apps {
namespace {

/// A recipe of configs/.
struct Recipe {
  std::string name;
  std::vector<std::string> overrides{};  ///< for a problem of test size
  std::string method{};  ///< the one that it is an example of; empty: it leaves the choice open
};

const std::vector<Recipe> kRecipes = {
    {"buckling", {"problem.matrix.size=[40]", "problem.geometric_stiffness.size=[40]"}},
    {"continue",
     {"problem.matrix={generate: laplace1d, size: [300]}", "problem.transform=laplacian",
      "problem.weights=unit", "problem.initial_guess=x.mtx", "problem.constraints=ones.mtx",
      "solver.nev=2"}},
    {"fiedler_vectors", {"problem.matrix.size=[2000]"}},
    {"graph_spectrum", {"problem.matrix.size=[2000]"}},
    {"interval", {"problem.matrix.size=[12, 13, 14]"}},
    {"largest", {"problem.matrix.size=[20, 20]"}},
    {"largest_lanczos", {"problem.matrix.size=[12, 13, 14]"}, "block_lanczos"},
    {"least_squares", {"problem.matrix.size=[900, 300]"}},
    {"long_run", {"problem.matrix.size=[12, 13, 14]", "checkpoint.file=state"}},
    {"many_pairs", {"problem.matrix.size=[30, 29]", "solver.nev=60"}},
    {"many_right_hand_sides", {"problem.matrix.size=[5, 5, 5]"}},
    {"matrix_file", {"problem.matrix={generate: wathen, size: [12, 12]}"}},
    {"mixed_precision", {"problem.matrix.size=[12, 12, 12]"}, "lobpcg"},
    {"nearest", {"problem.matrix.size=[5, 5, 5]", "problem.mass.size=[5, 5, 5]"}},
    {"quickstart", {"problem.matrix.size=[12, 12, 12]"}},
    {"singular_values", {"problem.matrix.size=[900, 300]"}},
    {"vibration_modes", {"problem.matrix.size=[5, 5, 5]", "problem.mass.size=[5, 5, 5]"}},
};

/// The program of a method.
std::string program_of(const std::string& method) {
  if (method == "lobpcg") return "heddle-lobpcg";
  return method == "block_cg" ? "heddle-cg" : "heddle-lanczos";
}

const std::filesystem::path kFolder = heddle::test::source_dir() / "configs";

/// A dense Matrix Market file of 300 rows.
template <class Entry>
std::string column(Entry entry) {
  std::string text = "%%MatrixMarket matrix array real general\n300 1\n";
  for (int i = 0; i < 300; ++i) text += std::to_string(entry(i)) + "\n";
  return text;
}

class Recipes : public testing::TestWithParam<Recipe> {
 protected:
  Recipes() {
    folder_.write("ones.mtx", column([](int) { return 1; }));
    folder_.write("x.mtx", column([](int i) { return i; }));
  }

  /// Solves the recipe by `program`, with results in the folder `out`.
  nlohmann::json solve(std::vector<std::string> program, const std::string& out) {
    const Recipe& recipe = GetParam();
    std::vector<std::string> words = {"CUDA_VISIBLE_DEVICES="};
    program.front() = test::executable(program.front());
    words.insert(words.end(), program.begin(), program.end());
    const bool linear = text().find("rhs:") != std::string::npos;
    const std::string vectors = linear ? "output.solution" : "output.eigenvectors";
    words.insert(words.end(), {(kFolder / (recipe.name + ".yaml")).string(), "--set",
                               "output.directory=" + out, "--set", vectors + "=npy"});
    for (const std::string& assignment : recipe.overrides) {
      words.insert(words.end(), {"--set", assignment});
    }
    const test::ProcessResult run = test::run_process(folder_.path(), words);
    EXPECT_EQ(run.exit_code, 0) << run.err << run.out;
    return nlohmann::json::parse(file(out + "/result.json"));
  }

  /// The recipe itself.
  static std::string text() {
    return heddle::test::contents(kFolder / (GetParam().name + ".yaml"));
  }

  std::string file(const std::string& name) const {
    return heddle::test::contents(folder_.path() / name);
  }

  /// history.csv without the column of seconds.
  std::string history(const std::string& out) const {
    constexpr int kSeconds = 3;
    std::istringstream lines(file(out + "/history.csv"));
    std::string text;
    for (std::string line; std::getline(lines, line); text += '\n') {
      std::istringstream cells(line);
      int column = 0;
      for (std::string cell; std::getline(cells, cell, ','); ++column) {
        if (column != kSeconds) text += cell + ",";
      }
    }
    return text;
  }

  heddle::test::TemporaryFolder folder_;
};

TEST_P(Recipes, LeaveTheMethodOpenUnlessTheyAreExamplesOfOne) {
  const std::string& method = GetParam().method;
  const std::size_t type = text().find("\n  type: ");
  if (method.empty()) {
    EXPECT_EQ(type, std::string::npos);
  } else {
    EXPECT_EQ(text().find("\n  type: " + method + "\n"), type);
  }
}

TEST_P(Recipes, ConvergeWithTheSameBitsByTheProgramOfTheMethodAndByHeddleSolve) {
  const nlohmann::json front = solve({"heddle", "solve"}, "front");
  EXPECT_EQ(front.at("status"), "converged");
  const nlohmann::json own = solve({program_of(front.at("solver"))}, "own");
  for (const char* key : {"status", "reason", "solver", "iterations", "operator_applications",
                          "residuals", "block_size", "preconditioner", "spmm_kernel"}) {
    EXPECT_EQ(own.at(key), front.at(key)) << key;
  }
  for (const char* key : {"eigenvalues", "singular_values", "orthogonality", "backward_errors",
                          "residual_norms", "inverse_applications", "matrix_passes"}) {
    EXPECT_EQ(own.value(key, nlohmann::json()), front.value(key, nlohmann::json())) << key;
  }
  EXPECT_EQ(history("own"), history("front"));
  std::size_t vectors = 0;
  for (const std::string& name : heddle::test::listing(folder_.path() / "own")) {
    if (!name.ends_with(".npy")) continue;
    EXPECT_EQ(file("own/" + name), file("front/" + name)) << name;
    vectors += file("own/" + name).size();
  }
  EXPECT_GT(vectors, 1000u);
}

INSTANTIATE_TEST_SUITE_P(All, Recipes, testing::ValuesIn(kRecipes),
                         [](const auto& info) { return info.param.name; });

TEST(RecipeList, HoldsEachOfTheFolder) {
  for (const std::filesystem::path& file : heddle::test::recipe_files()) {
    const auto found = std::find_if(kRecipes.begin(), kRecipes.end(), [&](const Recipe& recipe) {
      return recipe.name == file.stem();
    });
    EXPECT_NE(found, kRecipes.end()) << file;
  }
}

}  // namespace
}  // namespace heddle::apps
