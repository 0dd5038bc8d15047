#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <apps/config_support.hpp>
#include <filesystem>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/config/settings.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <limits>
#include <map>
#include <set>
#include <support/temporary_folder.hpp>

#include "support/source_dir.hpp"

namespace heddle::apps {
namespace {

using test::config_of;

TEST(Config, EveryKeyOfAFullFileIsRead) {
  const Config config = config_of(R"(
problem:
  matrix: ../data/a.mtx.gz
  mass: /data/b.mtx
  transform: none
  constraints: y.mtx
  initial_guess: x.mtx
solver:
  type: lobpcg
  nev: 12
  which: largest
  block_size: 16
  tolerance: 1.0e-6
  criterion: relative
  max_iterations: 77
  time_limit_s: 2.5
  refresh_interval: 9
  preconditioner: {type: chebyshev, degree: 5}
spmm: {kernel: auto}
device: host
precision: mixed
threads: 3
seed: 9007199254740993
output: {directory: out/here, eigenvectors: npy, history: false}
)");
  EXPECT_EQ(config.problem.matrix.path, "data/a.mtx.gz");
  EXPECT_EQ(config.problem.mass->path, "/data/b.mtx");
  EXPECT_EQ(config.problem.constraints, "folder/y.mtx");
  EXPECT_EQ(config.problem.initial_guess, "folder/x.mtx");
  EXPECT_EQ(config.request.nev, 12);
  EXPECT_EQ(config.request.which, Which::largest);
  EXPECT_EQ(config.request.block_size, 16);
  EXPECT_EQ(config.request.tolerance, 1e-6);
  EXPECT_EQ(config.request.criterion, Criterion::relative);
  EXPECT_EQ(config.request.max_iterations, 77);
  EXPECT_EQ(config.request.time_limit_s, 2.5);
  EXPECT_EQ(config.request.refresh_interval, 9);
  EXPECT_EQ(config.request.preconditioner.type, "chebyshev");
  EXPECT_EQ(config.request.preconditioner.options, (OptionValues{{"degree", Index{5}}}));
  EXPECT_EQ(config.request.device, DeviceChoice::host);
  EXPECT_EQ(config.request.precision, Precision::mixed);
  EXPECT_EQ(config.request.threads, 3);
  EXPECT_EQ(config.request.seed, 9007199254740993u);
  EXPECT_EQ(config.output.directory, "out/here");
  EXPECT_EQ(config.output.vectors, VectorFormat::npy);
  EXPECT_EQ(config.output.history, HistoryDetail::none);
}

TEST(Config, DefaultsAreThoseOfTheSolver) {
  const Config config = config_of("problem: {matrix: a.mtx}");
  const Request defaults;
  EXPECT_EQ(config.request.nev, defaults.nev);
  EXPECT_EQ(config.request.which, defaults.which);
  EXPECT_EQ(config.request.block_size, defaults.block_size);
  EXPECT_EQ(config.request.tolerance, defaults.tolerance);
  EXPECT_EQ(config.request.criterion, defaults.criterion);
  EXPECT_EQ(config.request.max_iterations, EigenOptions{}.max_iterations);
  EXPECT_EQ(config.request.time_limit_s, defaults.time_limit_s);
  EXPECT_EQ(config.request.seed, defaults.seed);
  EXPECT_EQ(config.request.refresh_interval, defaults.refresh_interval);
  EXPECT_EQ(config.request.spmm.kernel, SpmmOptions{}.kernel);
  EXPECT_EQ(config.request.spmm.verdict_file, "");
  EXPECT_EQ(config.problem.transform, Transform::none);
  EXPECT_EQ(config.request.preconditioner.type, "auto");
  EXPECT_TRUE(config.request.preconditioner.options.empty());
  EXPECT_EQ(config.request.device, DeviceChoice::automatic);
  EXPECT_EQ(config.request.precision, Precision::full);
  EXPECT_EQ(config.request.threads, 0);
  EXPECT_EQ(config.output.directory, "results/case-lobpcg");
  EXPECT_EQ(config.output.vectors, VectorFormat::none);
  EXPECT_EQ(config.output.history, HistoryDetail::iterations);
  EXPECT_FALSE(config.problem.mass.has_value());
  EXPECT_TRUE(config.problem.constraints.empty());
}

TEST(Config, GeneratedMatrices) {
  const Config config = config_of(
      "problem:\n"
      "  matrix: {generate: random_symmetric, size: [100], density: 7.5, seed: 3}\n"
      "  mass: {generate: laplace2d, size: [10, 10]}\n");
  const GallerySpec& matrix = config.problem.matrix.structure.value();
  EXPECT_EQ(matrix.name, "random_symmetric");
  EXPECT_EQ(matrix.size, std::vector<Index>{100});
  EXPECT_EQ(matrix.density, 7.5);
  EXPECT_EQ(matrix.seed, 3u);
  const GallerySpec& mass = config.problem.mass.value().structure.value();
  EXPECT_EQ(mass.size, (std::vector<Index>{10, 10}));
  EXPECT_EQ(mass.density, GallerySpec{}.density);
  EXPECT_EQ(mass.seed, GallerySpec{}.seed);
  EXPECT_EQ(config.problem.mass->describe(), "laplace2d [10, 10]");
}

TEST(Config, WordsNumbersAndFormsOfEigenvectors) {
  const auto format = [](const std::string& word) {
    return config_of("problem: {matrix: a}\noutput: {eigenvectors: " + word + "}").output.vectors;
  };
  EXPECT_EQ(format("true"), VectorFormat::matrix_market);
  EXPECT_EQ(format("mtx"), VectorFormat::matrix_market);
  EXPECT_EQ(format("npy"), VectorFormat::npy);
  EXPECT_EQ(format("false"), VectorFormat::none);
  const auto tolerance = [](const std::string& text) {
    return config_of("problem: {matrix: a}\nsolver: {tolerance: " + text + "}").request.tolerance;
  };
  EXPECT_EQ(tolerance("1e-7"), 1e-7);
  EXPECT_EQ(tolerance("+1.0E-7"), 1e-7);
  EXPECT_EQ(tolerance(".001"), 1e-3);
  EXPECT_EQ(tolerance("auto"), 0);
  const auto limit = [](const std::string& text) {
    return config_of("problem: {matrix: a}\nsolver: {time_limit_s: " + text + "}")
        .request.time_limit_s;
  };
  EXPECT_EQ(limit("600"), 600);
  EXPECT_EQ(limit("none"), std::numeric_limits<double>::infinity());
}

TEST(Config, AnchorsAliasesAndMerges) {
  const Config config = config_of(R"(
problem:
  matrix: &grid {generate: laplace2d, size: [4, 5], seed: 1}
  mass: {<<: *grid, size: [5, 4]}
solver: {nev: &n 3, block_size: *n}
)");
  EXPECT_EQ(config.problem.mass->structure->name, "laplace2d");
  EXPECT_EQ(config.problem.mass->structure->size, (std::vector<Index>{5, 4}));
  EXPECT_EQ(config.problem.mass->structure->seed, 1u);
  EXPECT_EQ(config.request.block_size, 3);
}

TEST(Config, TheFirstOfSeveralMergedMapsWins) {
  const Config config = config_of(R"(
problem:
  matrix: &a {generate: laplace1d, size: [9]}
  mass: {<<: [{generate: mikota_mass}, *a]}
)");
  EXPECT_EQ(config.problem.mass->structure->name, "mikota_mass");
  EXPECT_EQ(config.problem.mass->structure->size, std::vector<Index>{9});
}

TEST(Config, OverridesReplaceAddAndAreAppliedInOrder) {
  const std::string text = "problem: {matrix: a.mtx}\nsolver: {nev: 4, which: largest}";
  const Config config = config_of(
      text, {"solver.nev=20", "solver.nev=21", "precision=single", "output.directory=x/y",
             "problem.matrix={generate: laplace1d, size: [50]}", "problem.matrix.size=[60]"});
  EXPECT_EQ(config.request.nev, 21);
  EXPECT_EQ(config.request.which, Which::largest);
  EXPECT_EQ(config.request.precision, Precision::single);
  EXPECT_EQ(config.output.directory, "x/y");
  EXPECT_EQ(config.problem.matrix.structure->size, std::vector<Index>{60});
  EXPECT_TRUE(config.problem.matrix.path.empty());
}

TEST(Config, TextInUtf16) {
  std::string wide("\xff\xfe", 2);
  for (const char c : std::string("problem: {matrix: a.mtx}\nsolver: {nev: 7}\n")) {
    wide.append({c, '\0'});
  }
  EXPECT_EQ(config_of(wide).request.nev, 7);
}

TEST(Config, FilesOnTheCommandLineAreRelativeToTheCurrentFolder) {
  const Config config = config_of("problem: {matrix: a.mtx}", {"problem.mass=data/b.mtx"});
  EXPECT_EQ(config.problem.matrix.path, "folder/a.mtx");
  EXPECT_EQ(config.problem.mass->path, "data/b.mtx");
}

TEST(Config, AnOverrideTurnsAFileIntoAGeneratedMatrix) {
  const Config config = config_of("problem: {matrix: a.mtx}",
                                  {"problem.matrix.generate=laplace1d", "problem.matrix.size=[7]"});
  EXPECT_EQ(config.problem.matrix.structure->name, "laplace1d");
}

TEST(Config, ThePrintedConfigurationAsksForTheSame) {
  const std::string text = R"(
problem: {matrix: "odd: name #1.mtx", mass: {generate: mikota_mass, size: [12]}}
solver: {nev: 3, tolerance: 1e-9, time_limit_s: 12.5, preconditioner: {type: none}}
output: {directory: "true", eigenvectors: true}
)";
  const Config config = config_of(text);
  const std::string printed = to_yaml(config.effective);
  const Config again = config_of(printed);
  EXPECT_EQ(to_yaml(again.effective), printed);
  EXPECT_EQ(again.problem.matrix.path, std::filesystem::absolute("folder/odd: name #1.mtx"));
  EXPECT_EQ(again.problem.mass->structure->size, std::vector<Index>{12});
  EXPECT_EQ(again.request.tolerance, 1e-9);
  EXPECT_EQ(again.request.time_limit_s, 12.5);
  EXPECT_EQ(again.request.preconditioner.type, "none");
  EXPECT_EQ(again.output.directory, "true");
}

TEST(Config, APrintedFileNameIsTheSameHoweverOddItIs) {
  for (const std::string_view escaped :
       {R"(\r)", R"(\n)", R"(\t)", R"(\x7f)", R"(\\)", R"(\")", R"(\u0085)", R"(\L)", R"(\uFEFF)",
        "' '", "- ", ": ", " #", "~", "0x1", "é"}) {
    SCOPED_TRACE(escaped);
    const Config config =
        config_of(fmt::format("problem: {{matrix: \"a{}b{}\"}}", escaped, escaped));
    const Config again = config_of(to_yaml(config.effective));
    EXPECT_EQ(again.problem.matrix.path, std::filesystem::absolute(config.problem.matrix.path));
  }
}

TEST(Config, ThePrintedConfigurationHoldsEveryKeyWithADefault) {
  const Config config = config_of("problem: {matrix: a.mtx}");
  for (const KeySpec& spec : config_schema()) {
    if (spec.section() == "checkpoint") continue;  // there where it is asked for
    if (spec.fallback.empty() || !spec.applies_to(SolverType::lobpcg)) continue;
    if (spec.path.rfind("problem.m", 0) == 0) continue;  // keys of generated matrices
    const ConfigNode* node = &config.effective;
    std::string_view rest = spec.path;
    while (node != nullptr && !rest.empty()) {
      const auto dot = rest.find('.');
      node = node->find(rest.substr(0, dot));
      rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    }
    EXPECT_NE(node, nullptr) << spec.path;
  }
}

TEST(Schema, RowsAreCompleteAndUnique) {
  for (const SolverType solver : kSolverTypes) {
    std::set<std::string> paths;
    for (const KeySpec& spec : config_schema()) {
      if (!spec.applies_to(solver)) continue;
      EXPECT_TRUE(paths.insert(spec.path).second) << spec.path << " stands twice";
      EXPECT_FALSE(spec.doc.empty()) << spec.path;
      EXPECT_FALSE(spec.forms.describe().empty()) << spec.path;
      EXPECT_TRUE(spec.section().empty() || paths.count(std::string(spec.section())) == 1)
          << spec.path << " stands before its section";
      if (spec.fallback.empty() || spec.forms.section) continue;
      if (spec.fallback == kSolverPlaceholder) continue;
      const auto source = std::make_shared<const ConfigSource>();
      EXPECT_TRUE(spec.forms.accepts(parse_yaml(spec.fallback, source))) << spec.path;
    }
  }
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Schema, TheListOfKeysNamesAndExplainsEach) {
  for (const SolverType solver : kSolverTypes) {
    const std::string text = describe_keys(solver);
    const bool all = solver == SolverType::automatic;
    std::map<std::string, std::size_t> lines;
    for (const KeySpec& spec : config_schema()) {
      lines[fmt::format(" {}:  # {}\n", spec.name(), spec.doc)] +=
          all || spec.applies_to(solver) ? 1 : 0;
    }
    for (const auto& [line, count] : lines) {
      EXPECT_EQ(occurrences(" " + text, line) + occurrences(text, "\n" + line.substr(1)), count)
          << line;
    }
    EXPECT_NE(text.find(fmt::format("default {}\n", method_name(solver))), std::string::npos);
    EXPECT_NE(text.find("laplace3d [nx, ny, nz]"), std::string::npos);
  }
}

TEST(Schema, TheReferenceOfAllKeysIsUpToDate) {
  const auto path = heddle::test::source_dir() / "docs/configuration.md";
  EXPECT_EQ(heddle::test::contents(path), describe_keys_as_markdown())
      << "heddle config --markdown > docs/configuration.md";
}

TEST(Config, EachSolverIsTheDefaultOfItsExecutable) {
  EXPECT_EQ(config_of("problem: {matrix: a.mtx}").request.method, SolverType::lobpcg);
  EXPECT_EQ(config_of("problem: {matrix: a.mtx}", {}, SolverType::block_lanczos).request.method,
            SolverType::block_lanczos);
  const Config cg = config_of("problem: {matrix: a.mtx, rhs: b.mtx}", {}, SolverType::block_cg);
  EXPECT_EQ(cg.request.method, SolverType::block_cg);
  const BlockCgOptions defaults;
  EXPECT_EQ(cg.request.max_iterations, defaults.max_iterations);
  EXPECT_EQ(cg.request.linear_criterion, defaults.criterion);
  EXPECT_EQ(cg.request.algorithm, defaults.algorithm);
  EXPECT_EQ(cg.request.refresh_interval, defaults.refresh_interval);
  EXPECT_EQ(cg.problem.rhs.path, "folder/b.mtx");
}

TEST(Config, OptionsOfBlockLanczos) {
  const Config config = config_of(
      "problem: {matrix: a.mtx}\n"
      "solver: {type: block_lanczos, nev: 9, max_basis: 64, block_size: 4, filter: none}",
      {}, SolverType::block_lanczos);
  EXPECT_EQ(config.request.nev, 9);
  EXPECT_EQ(config.request.max_basis, 64);
  EXPECT_EQ(config.request.block_size, 4);
  EXPECT_EQ(config.request.filter, LanczosFilter::none);
}

TEST(Config, CheckpointsAreKeptWhereTheyAreAskedFor) {
  const Config without = config_of("problem: {matrix: a.mtx}");
  EXPECT_TRUE(without.request.checkpoint.file.empty());
  const Config with = config_of("problem: {matrix: a.mtx}\ncheckpoint: {file: out/state}");
  EXPECT_EQ(with.request.checkpoint.file, "out/state");
  EXPECT_EQ(with.request.checkpoint.every_s, 300);
  EXPECT_FALSE(with.request.checkpoint.resume);
  const Config often =
      config_of("problem: {matrix: a.mtx}\ncheckpoint: {file: state}", {"checkpoint.every_s=0"});
  EXPECT_EQ(often.request.checkpoint.every_s, 0);
}

TEST(Config, AnOverrideReplacesTheOneKindOfRightHandSides) {
  const auto rhs = [](const std::string& given, const std::vector<std::string>& overrides) {
    return config_of("problem: {matrix: a.mtx, rhs: " + given + "}", overrides,
                     SolverType::block_cg)
        .problem.rhs;
  };
  for (const std::string given : {"{random: 2}", "{unit: [1]}", "b.mtx", "{ones: 5}"}) {
    const RhsConfig ones = rhs(given, {"problem.rhs.ones=3"});
    EXPECT_EQ(ones.ones, 3) << given;
    EXPECT_EQ(ones.random, 0) << given;
    EXPECT_TRUE(ones.unit.empty() && ones.path.empty()) << given;
  }
  EXPECT_EQ(rhs("b.mtx", {"problem.rhs.ones=3", "problem.rhs.random=4"}).random, 4);
}

TEST(Config, OptionsOfBlockCg) {
  const auto cg = [](const std::string& rhs) {
    return config_of("problem: {matrix: a.mtx, rhs: " + rhs +
                         "}\nsolver: {algorithm: pseudo_block, criterion: absolute, tolerance: "
                         "0.01,\n  preconditioner: {type: block_jacobi, block_size: 3}}\n"
                         "output: {solution: npy}",
                     {}, SolverType::block_cg);
  };
  const Config config = cg("{random: 8}");
  EXPECT_EQ(config.problem.rhs.random, 8);
  EXPECT_EQ(config.request.algorithm, CgAlgorithm::pseudo_block);
  EXPECT_EQ(config.request.linear_criterion, LinearCriterion::absolute);
  EXPECT_EQ(config.request.preconditioner.type, "block_jacobi");
  EXPECT_EQ(config.request.preconditioner.options, (OptionValues{{"block_size", Index{3}}}));
  EXPECT_EQ(config.output.vectors, VectorFormat::npy);
  EXPECT_EQ(cg("{ones: 2}").problem.rhs.ones, 2);
  EXPECT_EQ(cg("{unit: [1, 7]}").problem.rhs.unit, (std::vector<Index>{1, 7}));
}

TEST(Recipes, EachIsAValidConfiguration) {
  std::set<SolverType> solvers;
  for (const std::filesystem::path& file : heddle::test::recipe_files()) {
    SCOPED_TRACE(file.filename());
    const Config config = load_config(file, {}, {}, SolverType::automatic);
    const std::string& type = config.effective.find("solver")->find("type")->text;
    EXPECT_TRUE(type == "auto" || type == method_name(config.request.method)) << type;
    const std::string stem = file.stem();
    const std::filesystem::path& folder_of_results = config.output.directory;
    EXPECT_TRUE(folder_of_results.filename() == stem ||
                folder_of_results.filename() ==
                    stem + "-" + std::string(method_name(config.request.method)))
        << folder_of_results;
    solvers.insert(config.request.method);
  }
  EXPECT_EQ(solvers, (std::set{SolverType::automatic, SolverType::lobpcg, SolverType::block_lanczos,
                               SolverType::block_cg}));
}

TEST(TypeAuto, TakesBlockCgWithRightHandSidesAndLeavesTheChoiceOfAnEigensolverOpen) {
  for (const std::string type : {"", "\nsolver: {type: auto}"}) {
    const Config linear =
        config_of("problem: {matrix: a.mtx, rhs: b.mtx}" + type, {}, SolverType::automatic);
    EXPECT_EQ(linear.request.method, SolverType::block_cg);
    EXPECT_EQ(linear.request.max_iterations, LinearOptions{}.max_iterations);
    EXPECT_EQ(linear.method_reason, "there are right-hand sides");
    const Config eigen = config_of("problem: {matrix: a.mtx}" + type, {}, SolverType::automatic);
    EXPECT_EQ(eigen.request.method, SolverType::automatic);
    for (const Config& config : {linear, eigen}) {
      EXPECT_EQ(config.effective.find("solver")->find("type")->text, "auto");
      const Config again = config_of(to_yaml(config.effective), {}, SolverType::automatic);
      EXPECT_EQ(to_yaml(again.effective), to_yaml(config.effective));
    }
  }
}

TEST(TypeAuto, KeysOfTheMethodThatIsNotTakenAreNamedAndHaveNoEffect) {
  const std::string text =
      "problem: {matrix: a.mtx}\n"
      "solver: {type: auto, nev: 9, filter: none, max_basis: 50, algorithm: pseudo_block,\n"
      "  refresh_interval: 7, preconditioner: {type: jacobi}}";
  const Config open = config_of(text, {}, SolverType::automatic);
  EXPECT_EQ(open.unused, (std::vector<std::string>{"solver.algorithm"}));
  const Config lobpcg = settle_method(open, SolverType::lobpcg, "so");
  EXPECT_EQ(lobpcg.method_reason, "so");
  EXPECT_EQ(lobpcg.unused,
            (std::vector<std::string>{"solver.filter", "solver.max_basis", "solver.algorithm"}));
  EXPECT_EQ(lobpcg.request.method, SolverType::lobpcg);
  EXPECT_EQ(lobpcg.request.preconditioner.type, "jacobi");
  EXPECT_EQ(lobpcg.request.refresh_interval, 7);
  EXPECT_EQ(lobpcg.request.max_basis, 0);
  const Config lanczos = settle_method(open, SolverType::block_lanczos, "so");
  EXPECT_EQ(lanczos.unused, (std::vector<std::string>{"solver.algorithm", "solver.refresh_interval",
                                                      "solver.preconditioner"}));
  EXPECT_EQ(lanczos.request.max_basis, 50);
  EXPECT_EQ(lanczos.request.filter, LanczosFilter::none);
  EXPECT_EQ(lanczos.request.preconditioner.type, "auto");
  EXPECT_EQ(lanczos.request.nev, 9);
  // The program of one method takes its own.
  EXPECT_EQ(config_of(text).request.refresh_interval, 7);
  EXPECT_EQ(config_of(text).unused, lobpcg.unused);
}

}  // namespace
}  // namespace heddle::apps
