#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <apps/solver_process.hpp>
#include <array>
#include <cmath>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

using heddle::test::contents;
using heddle::test::listing;
using test::Process;
using test::ProcessResult;

const std::string kGrid =
    "problem: {matrix: {generate: laplace2d, size: [17, 20]}}\n"
    "solver: {nev: 3}\nthreads: 1\n";
/// A solve that would go on for minutes.
const std::string kLong =
    "problem: {matrix: {generate: laplace2d, size: [200, 201]}}\n"
    "solver: {nev: 4, tolerance: 1e-15, max_iterations: 1000000000, preconditioner: {type: none}}\n"
    "threads: 1\noutput: {directory: out, history: pairs}\n";

using Strings = std::set<std::string>;

class OutputProcess : public test::SolverProcess {
 protected:
  OutputProcess() : SolverProcess("heddle-lobpcg") {}

  std::vector<std::string> lines(const std::string& path) {
    std::istringstream text(file(path));
    std::vector<std::string> all;
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }

  /// diag(values) as a Matrix Market file.
  void write_diagonal(const std::string& name, const std::vector<double>& values) {
    std::ostringstream text;
    text.precision(17);
    text << "%%MatrixMarket matrix coordinate real symmetric\n"
         << values.size() << ' ' << values.size() << ' ' << values.size() << '\n';
    for (std::size_t i = 0; i < values.size(); ++i) {
      text << i + 1 << ' ' << i + 1 << ' ' << values[i] << '\n';
    }
    folder_.write(name, text.str());
  }
};

TEST_F(OutputProcess, TwoSolversDoNotOverwriteEachOther) {
  EXPECT_EQ(solve(kGrid).exit_code, 0);
  const std::string first = file("results/case-lobpcg/result.json");
  const ProcessResult other = test::run_process(
      folder_.path(), {"CUDA_VISIBLE_DEVICES=", test::executable("heddle-lanczos"), "case.yaml"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(listing(folder_.path() / "results"), (Strings{"case-lobpcg", "case-block_lanczos"}));
  EXPECT_EQ(file("results/case-lobpcg/result.json"), first);
  EXPECT_EQ(result("results/case-block_lanczos").at("solver"), "block_lanczos");
}

TEST_F(OutputProcess, LoadFactorsDoNotOverwriteModes) {
  write_diagonal("K.mtx", {2, 3, 4});
  write_diagonal("M.mtx", {1, 2, 1});
  write_diagonal("KG.mtx", {-1, -1, -1});
  const auto run = [&](const std::string& option, const std::string& name) {
    return test::run_process(folder_.path(), {"CUDA_VISIBLE_DEVICES=", test::executable("heddle"),
                                              "solve", "K.mtx", option, name, "-n", "1"});
  };
  EXPECT_EQ(run("--mass", "M.mtx").exit_code, 0);
  EXPECT_EQ(run("--buckling", "KG.mtx").exit_code, 0);
  EXPECT_EQ(listing(folder_.path() / "results"), (Strings{"K-block_lanczos", "K-buckling"}));
}

TEST_F(OutputProcess, NamesInBracesAreReplaced) {
  const auto directory = [](const std::string& text) {
    return std::vector<std::string>{"--set", "output.directory=\"" + text + "\""};
  };
  EXPECT_EQ(solve(kGrid, directory("a/{name}+{solver}/{matrix}_{date}")).exit_code, 0);
  const Strings made = listing(folder_.path() / "a/case+lobpcg");
  ASSERT_EQ(made.size(), 1u);
  EXPECT_TRUE(std::regex_match(
      *made.begin(), std::regex("laplace2d_20\\d\\d-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\dZ")))
      << *made.begin();
  EXPECT_EQ(
      result("a/case+lobpcg/" + *made.begin()).at("configuration").at("output").at("directory"),
      "a/case+lobpcg/" + *made.begin());
  write_diagonal("k.stiff.mtx", {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(
      solve("problem: {matrix: k.stiff.mtx}\nsolver: {nev: 1}\n", directory("{matrix}")).exit_code,
      0);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "k.stiff/result.json"));
  for (const auto& [text, found] : {std::pair{"x/{nme}", "{nme}"}, {"x/{name", "{"}, {"x}", "}"}}) {
    expect_refused(solve(kGrid, directory(text)), 1,
                   "--set output.directory=\"" + std::string(text) + "\": output.directory: '" +
                       found +
                       "' stands for nothing here, known are {name}, {solver}, {matrix}, {date}");
  }
}

TEST_F(OutputProcess, TheResultSaysWhereItComesFrom) {
  write_diagonal("a.mtx", {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5});
  const std::time_t before = std::time(nullptr);
  EXPECT_EQ(solve("problem: {matrix: a.mtx}\nsolver: {nev: 2}\n", {"--quiet"}).exit_code, 0);
  const nlohmann::json json = result();
  EXPECT_EQ(json.at("schema_version"), 1);
  EXPECT_EQ(json.at("exit_code"), 0);
  EXPECT_EQ(json.at("converged"), (std::vector<bool>{true, true}));
  const auto& run = json.at("run");
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  EXPECT_EQ(run.at("host"), host.data());
  EXPECT_FALSE(run.at("cpu").get<std::string>().empty());
  EXPECT_EQ(run.at("current_folder"), std::filesystem::canonical(folder_.path()).string());
  EXPECT_EQ(run.at("command_line"),
            (std::vector<std::string>{test::executable("heddle-lobpcg"), "case.yaml", "--quiet"}));
  std::tm started{};
  const std::string date = run.at("started");
  ASSERT_EQ(strptime(date.c_str(), "%Y-%m-%dT%H:%M:%SZ", &started), date.c_str() + date.size());
  EXPECT_GE(timegm(&started), before);
  EXPECT_LE(timegm(&started), std::time(nullptr));
  const std::string text = file("a.mtx");
  const auto& inputs = json.at("inputs");
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].at("key"), "problem.matrix");
  EXPECT_EQ(inputs[0].at("bytes"), text.size());
  EXPECT_EQ(std::stoul(inputs[0].at("crc32").get<std::string>(), nullptr, 16),
            crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
  const auto& commit = json.at("versions").at("commit");
  EXPECT_TRUE(commit.is_null() || !commit.get<std::string>().empty());
  for (const auto& [name, bytes] : json.at("memory").items()) {
    EXPECT_TRUE(bytes.is_number_integer()) << name;
  }
  for (const auto& phase : json.at("phases")) {
    EXPECT_TRUE(phase.at("bytes").is_number_integer()) << phase;
  }
}

TEST_F(OutputProcess, TwoRunsDifferInTimesMemoryAndTheObjectRunOnly) {
  const auto same = [this] {
    EXPECT_EQ(solve(kGrid).exit_code, 0);
    nlohmann::json json = result();
    for (const char* key : {"run", "seconds", "memory"}) json.erase(key);
    for (auto& phase : json.at("phases")) phase.erase("seconds");
    json.at("preconditioner_setup").erase("seconds");
    return json.dump();
  };
  const std::string first = same();
  EXPECT_EQ(same(), first);
}

TEST_F(OutputProcess, ModesOfAPencilHaveFrequencies) {
  constexpr double kPi = 3.14159265358979323846;
  std::vector<double> stiffness, mass;
  for (int f = 1; f <= 12; ++f) {  // omega = 2 pi f
    mass.push_back(0.5 * f);
    stiffness.push_back(mass.back() * 4 * kPi * kPi * f * f);
  }
  stiffness[4] = -4 * kPi * kPi * 49 * mass[4];
  stiffness[7] = 0;
  write_diagonal("k.mtx", stiffness);
  write_diagonal("m.mtx", mass);
  const ProcessResult run =
      solve("problem: {matrix: k.mtx, mass: m.mtx}\nsolver: {nev: 4, tolerance: 1e-13}\n");
  EXPECT_LE(run.exit_code, 4) << run.err;
  const auto frequencies = result().at("frequencies").get<std::vector<double>>();
  ASSERT_EQ(frequencies.size(), 4u);
  EXPECT_NEAR(frequencies[0], -7, 1e-9);
  EXPECT_NEAR(frequencies[1], 0, 1e-4);  // the square root of the rounding errors of 0
  EXPECT_NEAR(frequencies[2], 1, 1e-9);
  EXPECT_NEAR(frequencies[3], 2, 1e-9);
  EXPECT_EQ(run.out.find("          frequency          ± "), 0u) << run.out;
  EXPECT_NE(run.out.find("\n    1      -7.00000  "), std::string::npos) << run.out;
  EXPECT_EQ(solve("problem: {matrix: k.mtx}\nsolver: {nev: 2}\n").exit_code, 0);
  EXPECT_FALSE(result().contains("frequencies"));
}

TEST_F(OutputProcess, RowsThatHaveNotConvergedAreMarked) {
  const ProcessResult whole = solve(kGrid);
  EXPECT_EQ(whole.out.find("not converged"), std::string::npos);
  // One pair far below the others converges long before them.
  std::vector<double> values{1e-3};
  for (int i = 0; i < 400; ++i) values.push_back(1 + i / 400.0);
  write_diagonal("a.mtx", values);
  const ProcessResult run = solve(
      "problem: {matrix: a.mtx}\n"
      "solver: {nev: 2, block_size: 2, tolerance: 1e-9, max_iterations: 24, preconditioner: "
      "{type: none}}\n");
  EXPECT_EQ(run.exit_code, 3) << run.out;
  EXPECT_EQ(result().at("converged"), (std::vector<bool>{true, false})) << run.out;
  std::istringstream text(run.out);
  std::vector<std::string> rows;
  for (std::string line; std::getline(text, line);) rows.push_back(line);
  ASSERT_GE(rows.size(), 3u);
  EXPECT_EQ(rows[1].find("not converged"), std::string::npos) << run.out;
  EXPECT_NE(rows[2].find("  not converged"), std::string::npos) << run.out;
}

TEST_F(OutputProcess, AFailureLeavesItsReasonAndTheEarlierResults) {
  const Strings kEarlier{"result.json", "history.csv", "eigenvectors.npy"};
  EXPECT_EQ(solve(kGrid, {"--set", "output.eigenvectors=npy"}).exit_code, 0);
  const std::string earlier = file(directory() + "/result.json");
  for (int i = 0; i < 2; ++i) {
    const ProcessResult run = solve("problem: {matrix: gone.mtx}\n");
    EXPECT_EQ(run.exit_code, 2);
    const auto json = result();
    EXPECT_EQ(json.at("status"), "error");
    EXPECT_EQ(json.at("exit_code"), 2);
    EXPECT_EQ(json.at("schema_version"), 1);
    EXPECT_EQ(run.err, "heddle-lobpcg: error: " + json.at("reason").get<std::string>() + "\n");
    EXPECT_EQ(json.at("run").at("command_line").at(1), "case.yaml");
    EXPECT_EQ(listing(folder_.path() / directory()), (Strings{"result.json", "previous"}));
    EXPECT_EQ(listing(folder_.path() / directory() / "previous"), kEarlier);
    EXPECT_EQ(file(directory() + "/previous/result.json"), earlier);
  }
  EXPECT_EQ(solve(kGrid, {"--set", "solver.max_iterations=1"}).exit_code, 3) << "has results";
  EXPECT_EQ(listing(folder_.path() / directory()), (Strings{"result.json", "history.csv"}));
}

TEST_F(OutputProcess, AnInputThatCannotBeReadLeavesNothingUnlessAFolderIsNamed) {
  EXPECT_EQ(solve("problem: {matrix: gone.mtx}\n").exit_code, 2);
  EXPECT_EQ(listing(folder_.path()), Strings{"case.yaml"});
  EXPECT_EQ(solve("problem: {matrix: gone.mtx}\n", {"-o", "out"}).exit_code, 2);
  EXPECT_EQ(result("out").at("status"), "error");
}

TEST_F(OutputProcess, ResultsOfAnotherProblemAreNotReplacedInSilence) {
  const auto said = [this](const std::string& yaml) {
    const ProcessResult run = solve(yaml + "output: {directory: out}\n", {"--quiet"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out.substr(run.out.find("results in "));
  };
  const std::string another = "results in out, replacing those of ";
  write_diagonal("a.mtx", {1, 2, 3, 4, 5, 6, 7, 8});
  write_diagonal("b.mtx", {1, 1, 1, 1, 1, 1, 1, 2});
  const std::string kA = (folder_.path() / "a.mtx").string();
  EXPECT_EQ(said("problem: {matrix: a.mtx}\nsolver: {nev: 2}\n"), "results in out\n");
  EXPECT_EQ(said("problem: {matrix: a.mtx}\nsolver: {nev: 2, tolerance: 1e-9}\n"),
            "results in out\n")
      << "the same question";
  EXPECT_EQ(said("problem: {matrix: a.mtx, mass: b.mtx}\nsolver: {nev: 2}\n"),
            another + "no problem.mass\n");
  EXPECT_EQ(said("problem: {matrix: b.mtx}\nsolver: {nev: 3}\n"),
            another + "problem.mass: " + (folder_.path() / "b.mtx").string() +
                ", problem.matrix: " + kA + ", solver.nev: 2\n");
  EXPECT_EQ(said("problem: {matrix: a.mtx}\nsolver: {nev: 3}\n"),
            another + "problem.matrix: " + (folder_.path() / "b.mtx").string() + "\n");
  write_diagonal("a.mtx", {9, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(said("problem: {matrix: a.mtx}\nsolver: {nev: 3}\n"),
            another + "other contents of a.mtx\n");
  // A run that fails in between hides nothing.
  EXPECT_EQ(solve("problem: {matrix: gone.mtx}\noutput: {directory: out}\n").exit_code, 2);
  EXPECT_EQ(said("problem: {matrix: a.mtx}\nsolver: {nev: 2}\n"), another + "solver.nev: 3\n");
}

TEST_F(OutputProcess, TheHistoryGrowsWhileASolveRunsAndOutlivesItsDeath) {
  EXPECT_EQ(solve(kGrid, {"--set", "output.directory=out"}).exit_code, 0);
  const std::string earlier = file("out/history.csv");
  folder_.write("case.yaml", kLong);
  Process process(folder_.path(), command({"case.yaml"}));
  ASSERT_TRUE(wait_for_iterations(process)) << process.err();
  std::size_t before = 0;
  for (int i = 0; i < 1200 && before < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (std::filesystem::exists(folder_.path() / "out/pairs.csv")) {
      before = lines("out/history.csv").size();
    }
  }
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait().exit_code, -SIGKILL);
  EXPECT_EQ(listing(folder_.path() / "out"), (Strings{"history.csv", "pairs.csv", "previous"}));
  EXPECT_EQ(file("out/previous/history.csv"), earlier);
  const std::vector<std::string> history = lines("out/history.csv");
  ASSERT_GE(history.size(), 3u);
  EXPECT_EQ(history[0],
            "iteration,converged,worst_residual,seconds,active_columns,operator_applications");
  EXPECT_EQ(history[1].rfind("0,", 0), 0u) << history[1];
  const std::vector<std::string> pairs = lines("out/pairs.csv");
  EXPECT_EQ(pairs[0], "iteration,pair,value,residual");
  EXPECT_EQ(pairs[4].rfind("0,4,", 0), 0u) << pairs[4];
}

TEST_F(OutputProcess, PairsOfEachIterationAgreeWithTheHistory) {
  for (const char* program : {"heddle-lobpcg", "heddle-lanczos", "heddle-cg"}) {
    SCOPED_TRACE(program);
    const bool linear = std::string(program) == "heddle-cg";
    folder_.write(
        "case.yaml",
        linear ? "problem: {matrix: {generate: laplace2d, size: [30, 31]}, rhs: {random: 3}}\n"
               : "problem: {matrix: {generate: laplace2d, size: [30, 31]}}\n"
                 "solver: {nev: 3}\n");
    const ProcessResult run = test::run_process(
        folder_.path(), {"CUDA_VISIBLE_DEVICES=", test::executable(program), "case.yaml", "--set",
                         "output.directory=out", "--set", "output.history=pairs"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(listing(folder_.path() / "out"),
              (Strings{"result.json", "history.csv", "pairs.csv"}));
    std::map<int, double> worst;
    double last_value = 0;
    for (const std::string& line : lines("out/pairs.csv")) {
      int iteration = 0, pair = 0, used = 0;
      double value = 0, residual = 0;
      if (linear
              ? std::sscanf(line.c_str(), "%d,%d,,%lf%n", &iteration, &pair, &residual, &used) == 3
              : std::sscanf(line.c_str(), "%d,%d,%lf,%lf%n", &iteration, &pair, &value, &residual,
                            &used) == 4) {
        EXPECT_EQ(static_cast<std::size_t>(used), line.size());
        worst[iteration] = std::max(worst[iteration], residual);
        if (pair == 1) last_value = value;
      }
    }
    if (!linear) {
      EXPECT_NEAR(last_value, result("out").at("eigenvalues").at(0), 1e-6);
    }
    const std::vector<std::string> history = lines("out/history.csv");
    ASSERT_EQ(history.size(), worst.size() + 1);
    for (std::size_t k = 1; k < history.size(); ++k) {
      int iteration = 0, converged = 0;
      double residual = 0;
      ASSERT_EQ(std::sscanf(history[k].c_str(), "%d,%d,%lf", &iteration, &converged, &residual), 3);
      EXPECT_EQ(worst.at(iteration), residual) << history[k];
    }
  }
}

TEST_F(OutputProcess, ALogFileHoldsWhatWasSaid) {
  const std::vector<std::string> log{"--quiet", "--log", "logs/{name}.log"};
  const ProcessResult run = solve(kGrid, log);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  const std::string first = file("logs/case.log");
  for (const char* text :
       {"loading laplace2d [17, 20]", "setting up", "first iteration", "heddle-lobpcg ",
        "  problem ", "iteration 0: ", "converged: all ", "results in results/case-lobpcg"}) {
    EXPECT_NE(first.find(text), std::string::npos) << text << "\n" << first;
  }
  EXPECT_TRUE(std::regex_search(
      first, std::regex("^20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d\\d\\dZ  ")));
  EXPECT_EQ(solve("problem: {matrix: gone.mtx}\n", log).exit_code, 2);
  const std::string both = file("logs/case.log");
  EXPECT_EQ(both.rfind(first, 0), 0u) << "a log file is appended to";
  EXPECT_NE(both.find("error: ", first.size()), std::string::npos) << both;
  std::filesystem::remove_all(folder_.path() / "results");
  expect_refused(solve(kGrid, {"--set", "output.log=case.yaml/log"}), 2,
                 "case.yaml/log: cannot be written as the log file");
}

}  // namespace
}  // namespace heddle::apps
