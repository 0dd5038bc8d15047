#include <gtest/gtest.h>

#include <apps/executable.hpp>
#include <apps/process.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::apps {
namespace {

using test::ProcessResult;

constexpr const char* kDiagonal =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n2 2 3\n3 3 5\n";
constexpr const char* kMass =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 4\n2 2 4\n3 3 4\n";
constexpr const char* kRhs = "%%MatrixMarket matrix array real general\n3 1\n2\n6\n20\n";

/// Programs that take SuiteSparse:GROUP/NAME, with a cache of their own and a folder of programs
/// that stands on the path.
class Collection : public testing::Test {
 protected:
  ProcessResult run(const std::string& program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), test::executable(program));
    arguments.insert(arguments.begin(),
                     {"CUDA_VISIBLE_DEVICES=", "HEDDLE_DATA=" + (folder_.path() / "cache").string(),
                      "PATH=" + folder_.path().string() + ":/usr/bin:/bin"});
    return test::run_process(folder_.path(), arguments);
  }

  /// Puts `text` into the cache as a file of the archive of HB/`name`.
  std::string cache(const std::string& name, const std::string& file, const std::string& text) {
    std::filesystem::create_directories(cached(name));
    return folder_.write("cache/SuiteSparse/HB/" + name + "/" + file, text).string();
  }

  std::filesystem::path cached(const std::string& name) const {
    return folder_.path() / "cache" / "SuiteSparse" / "HB" / name;
  }

  /// Takes the place of heddle-fetch of the Python package.
  void fetches(const std::string& script) {
    std::filesystem::permissions(folder_.write("heddle-fetch", "#!/bin/sh\n" + script),
                                 std::filesystem::perms::owner_all);
  }

  nlohmann::json results(const std::string& directory = "out") const {
    return nlohmann::json::parse(
        heddle::test::contents(folder_.path() / directory / "result.json"));
  }

  heddle::test::TemporaryFolder folder_;
};

TEST_F(Collection, NamesStandForTheFilesOfTheCacheOnTheCommandLine) {
  const std::string K = cache("tiny", "tiny.mtx", kDiagonal);
  const std::string M = cache("tiny", "tiny_M.mtx", kMass);
  const ProcessResult run = this->run("heddle", {"solve", "SuiteSparse:HB/tiny", "--mass",
                                                 "suitesparse:HB/tiny:M", "-n", "1", "-o", "out"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json result = results();
  EXPECT_NEAR(result.at("eigenvalues").at(0).get<double>(), 0.5, 1e-12);
  ASSERT_EQ(result.at("inputs").size(), 2u);
  EXPECT_EQ(result.at("inputs").at(0).at("file"), K);
  EXPECT_EQ(result.at("inputs").at(0).at("bytes"), std::string(kDiagonal).size());
  EXPECT_EQ(result.at("inputs").at(1).at("file"), M);
  EXPECT_EQ(result.at("configuration").at("problem").at("matrix"), "SuiteSparse:HB/tiny");
  EXPECT_NE(this->run("heddle-info", {"SuiteSparse:HB/tiny"}).out.find("3"), std::string::npos);
  EXPECT_EQ(this->run("heddle-spgemm", {"SuiteSparse:HB/tiny", "-o", "square.mtx"}).exit_code, 0);
  EXPECT_NE(heddle::test::contents(folder_.path() / "square.mtx").find("3 3 25"),
            std::string::npos);
}

TEST_F(Collection, NamesStandForFilesInAConfiguration) {
  cache("tiny", "tiny.mtx", kDiagonal);
  cache("tiny", "tiny_b.mtx", kRhs);
  folder_.write("case.yaml",
                "problem: {matrix: SuiteSparse:HB/tiny, rhs: \"SuiteSparse:HB/tiny:b\"}\n"
                "output: {directory: out, solution: mtx}\n");
  const ProcessResult run = this->run("heddle-cg", {"case.yaml"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(results().at("inputs").size(), 2u);
  EXPECT_NE(heddle::test::contents(folder_.path() / "out" / "solution.mtx").find("4"),
            std::string::npos);
  // A configuration is checked and printed without its matrices.
  folder_.write("other.yaml", "problem: {matrix: SuiteSparse:HB/gone}\nsolver: {nev: 1}\n");
  const ProcessResult printed = this->run("heddle", {"solve", "other.yaml", "--print-config"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_NE(printed.out.find("matrix: SuiteSparse:HB/gone\n"), std::string::npos);
}

TEST_F(Collection, WhatIsMissingIsFetched) {
  fetches(
      "[ \"$*\" = '--where HB/tiny:M' ] || exit 1\necho some path\necho progress >&2\n"
      "mkdir -p \"$HEDDLE_DATA/SuiteSparse/HB/tiny\"\n"
      "cp M.mtx \"$HEDDLE_DATA/SuiteSparse/HB/tiny/tiny_M.mtx\"\n");
  folder_.write("M.mtx", kMass);
  folder_.write("K.mtx", kDiagonal);
  const ProcessResult run =
      this->run("heddle", {"solve", "K.mtx", "--mass", "SuiteSparse:HB/tiny:M", "-n", "1", "-q",
                           "--json", "-", "-o", "out"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "progress\n");
  const nlohmann::json result = nlohmann::json::parse(run.out);  // no word of heddle-fetch in it
  EXPECT_NEAR(result.at("eigenvalues").at(0).get<double>(), 0.5, 1e-12);
  EXPECT_EQ(result.at("inputs").at(1).at("file"), (cached("tiny") / "tiny_M.mtx").string());
}

TEST_F(Collection, WhatCannotBeFetchedIsSaid) {
  const std::vector<std::string> solve = {"solve", "SuiteSparse:HB/tiny", "-n", "1", "-o", "out"};
  const std::string missing =
      "SuiteSparse:HB/tiny: is not in the cache (" + (folder_.path() / "cache").string() + ")";
  const ProcessResult alone = run("heddle", solve);
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_NE(alone.err.find(missing + "; heddle fetch HB/tiny fetches it. This command belongs to "
                                     "heddle's Python package"),
            std::string::npos)
      << alone.err;
  EXPECT_EQ(results().at("exit_code"), 2);
  EXPECT_NE(results().at("reason").get<std::string>().find(missing), std::string::npos);
  fetches("echo 'heddle fetch: error: no network' >&2\nexit 2\n");
  const ProcessResult failed = run("heddle", solve);
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_EQ(failed.err.rfind("heddle fetch: error: no network\n", 0), 0u) << failed.err;
  EXPECT_NE(failed.err.find(missing + ", and "), std::string::npos) << failed.err;
  EXPECT_NE(failed.err.find("heddle-fetch --where HB/tiny did not fetch it (exit code 2)"),
            std::string::npos)
      << failed.err;
  EXPECT_EQ(run("heddle-info", {"SuiteSparse:HB/tiny"}).exit_code, 2);
}

TEST_F(Collection, OtherFormsOfANameAreRefused) {
  for (const std::string name : {"SuiteSparse:tiny", "SuiteSparse:HB/", "SuiteSparse:../x/y",
                                 "SuiteSparse:HB/..", "SuiteSparse:a/b/c", "SuiteSparse:HB/tiny:",
                                 "SuiteSparse:HB/tiny:../b", "SuiteSparse:", "SuiteSparse:/tiny"}) {
    for (const ProcessResult& run :
         {this->run("heddle", {"solve", name, "-n", "1"}), this->run("heddle-info", {name})}) {
      EXPECT_EQ(run.exit_code, 1) << name;
      EXPECT_NE(run.err.find("'" + name + "' is no name of a matrix: write SuiteSparse:GROUP/NAME"),
                std::string::npos)
          << run.err;
    }
  }
}

TEST_F(Collection, TheCacheStandsInTheFolderOfTheUser) {
  cache("tiny", "tiny.mtx", kDiagonal);
  std::filesystem::create_directories(folder_.path() / "home" / ".cache");
  std::filesystem::rename(folder_.path() / "cache", folder_.path() / "home" / ".cache" / "heddle");
  const std::string home = (folder_.path() / "home").string();
  const auto exit_code = [&](const std::vector<std::string>& environment) {
    std::vector<std::string> words = {"-u", "HEDDLE_DATA", "-u", "XDG_CACHE_HOME", "-u", "HOME"};
    words.insert(words.end(), environment.begin(), environment.end());
    words.insert(words.end(), {test::executable("heddle-info"), "SuiteSparse:HB/tiny"});
    return test::run_process(folder_.path(), words).exit_code;
  };
  EXPECT_EQ(exit_code({"HOME=" + home}), 0);
  EXPECT_EQ(exit_code({"XDG_CACHE_HOME=" + home + "/.cache"}), 0);
  EXPECT_EQ(exit_code({"HOME=" + home, "XDG_CACHE_HOME=relative"}), 0);
  EXPECT_EQ(exit_code({"HEDDLE_DATA=" + home + "/.cache/heddle"}), 0);
  EXPECT_EQ(exit_code({"HOME=" + home, "HEDDLE_DATA=elsewhere"}), 2);
  EXPECT_EQ(exit_code({"PATH=/usr/bin"}), 1);
}

}  // namespace
}  // namespace heddle::apps
