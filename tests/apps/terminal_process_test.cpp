#include <gtest/gtest.h>
#include <sys/stat.h>

#include <apps/solver_process.hpp>
#include <apps/terminal_process.hpp>
#include <set>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

using heddle::test::listing;
using test::ProcessResult;
using test::TerminalProcess;

/// Solves that would go on for minutes.
const std::string kLobpcg =
    "problem: {matrix: {generate: laplace2d, size: [200, 201]}}\n"
    "solver: {nev: 4, tolerance: 1e-15, max_iterations: 1000000000, preconditioner: {type: none}}\n"
    "threads: 1\noutput: {directory: out}\n";
const std::string kFilter =
    "problem: {matrix: {generate: laplace1d, size: [60000]}}\n"
    "solver: {nev: 10, tolerance: 1e-12, filter: chebyshev}\n"
    "threads: 1\noutput: {directory: out}\n";
const std::string kInterval =
    "problem: {matrix: {generate: laplace2d, size: [300, 301]}}\n"
    "solver: {which: interval, interval: [4, 4.0001], nev: 200, filter: chebyshev}\n"
    "threads: 1\noutput: {directory: out}\n";
const std::string kFactorisation =
    "problem: {matrix: {generate: laplace3d, size: [44, 45, 46]}}\n"
    "solver: {nev: 4, filter: inverse}\n"
    "threads: 1\noutput: {directory: out}\n";

class Terminal : public test::SolverProcess {
 protected:
  Terminal() : SolverProcess("heddle-lobpcg") {}

  std::vector<std::string> words(const std::string& program, const std::string& yaml,
                                 std::vector<std::string> more = {}) {
    folder_.write("case.yaml", yaml);
    more.insert(more.begin(), {"CUDA_VISIBLE_DEVICES=", test::executable(program), "case.yaml"});
    return more;
  }

  std::set<std::string> results() { return listing(folder_.path() / "out"); }
};

/// The texts that the live line showed, each from one removal of the line to the next.
std::vector<std::string> live_lines(const std::string& shown) {
  const std::string clear = "\r\x1b[K";
  std::vector<std::string> lines;
  for (std::size_t at = shown.find(clear); at != std::string::npos;) {
    const std::size_t begin = at + clear.size();
    at = shown.find(clear, begin);
    if (at != std::string::npos) lines.push_back(shown.substr(begin, at - begin));
  }
  return lines;
}

TEST_F(Terminal, CtrlCIsAnsweredAndEndsTheSolveWithTheResultsSoFar) {
  TerminalProcess process(folder_.path(), words("heddle-lobpcg", kLobpcg));
  ASSERT_TRUE(process.wait_for("iteration ")) << process.shown();
  process.press_ctrl_c();
  EXPECT_TRUE(process.wait_for("stopping after this product; again to quit"));
  EXPECT_EQ(process.wait(), 130) << process.shown();
  EXPECT_EQ(result("out").at("status"), "interrupted");
  EXPECT_EQ(result("out").at("exit_code"), 130);
  EXPECT_EQ(result("out").at("eigenvalues").size(), 4u);
  EXPECT_NE(process.shown().find("not converged"), std::string::npos) << process.shown();
}

TEST_F(Terminal, CtrlCWithinAPolynomialIsObeyed) {
  TerminalProcess process(folder_.path(), words("heddle-lanczos", kFilter));
  ASSERT_TRUE(process.wait_for("iteration ")) << process.shown();
  process.press_ctrl_c();
  EXPECT_TRUE(process.wait_for("again to quit"));
  EXPECT_EQ(process.wait(), 130) << process.shown();
  EXPECT_EQ(result("out").at("status"), "interrupted");
}

TEST_F(Terminal, CtrlCWithinTheFilterOfAnIntervalIsObeyed) {
  TerminalProcess process(folder_.path(), words("heddle-lanczos", kInterval));
  ASSERT_TRUE(process.wait_for("estimating the density of eigenvalues")) << process.shown();
  process.press_ctrl_c();
  EXPECT_TRUE(process.wait_for("again to quit"));
  EXPECT_EQ(process.wait(), 130) << process.shown();
  EXPECT_EQ(result("out").at("status"), "interrupted");
}

TEST_F(Terminal, CtrlCWithinAFactorisationIsAnsweredAtOnceAndTheSecondQuits) {
  TerminalProcess process(folder_.path(), words("heddle-lanczos", kFactorisation));
  ASSERT_TRUE(process.wait_for("factoring A - sigma B")) << process.shown();
  process.press_ctrl_c();
  ASSERT_TRUE(process.wait_for("again to quit"));
  EXPECT_EQ(process.shown().find("iterating with the factor"), std::string::npos);
  process.press_ctrl_c();
  EXPECT_EQ(process.wait(), 130);
  EXPECT_NE(process.shown().find("interrupted, no results written"), std::string::npos);
  EXPECT_EQ(results(), std::set<std::string>{"history.csv"});
}

TEST_F(Terminal, AClosedWindowEndsTheSolveWithTheResultsSoFar) {
  TerminalProcess process(folder_.path(), words("heddle-lobpcg", kLobpcg));
  ASSERT_TRUE(process.wait_for("iteration ")) << process.shown();
  process.hang_up();
  EXPECT_EQ(process.wait(), 130);
  EXPECT_EQ(result("out").at("status"), "interrupted");
  EXPECT_EQ(result("out").at("eigenvalues").size(), 4u);
}

TEST_F(Terminal, TheLiveLineShowsTheStagesAndFitsTheWidth) {
  constexpr std::size_t kColumns = 34;
  TerminalProcess process(
      folder_.path(),
      words("heddle-lanczos", kFactorisation, {"--set", "problem.matrix.size=[8, 8, 8]"}),
      kColumns);
  EXPECT_EQ(process.wait(), 0) << process.shown();
  const std::vector<std::string> lines = live_lines(process.shown());
  for (const char* stage : {"loading laplace3d [8, 8, 8]", "setting up", "ordering A - sigma B",
                            "factoring A - sigma B", "first iteration"}) {
    EXPECT_NE(std::find(lines.begin(), lines.end(), stage), lines.end()) << stage;
  }
  for (const std::string& line : lines) {
    if (line.find('\n') == std::string::npos) {
      EXPECT_LT(line.size(), kColumns) << line;
    }
  }
}

TEST_F(Terminal, TheLiveLineFollowsTheWidth) {
  TerminalProcess process(folder_.path(), words("heddle-lobpcg", kLobpcg), 100);
  ASSERT_TRUE(process.wait_for(", rate ")) << process.shown();
  process.resize(30);
  const std::size_t resized = process.shown().size();
  ASSERT_TRUE(process.wait_for("\r\x1b[K", resized));
  const std::size_t from = process.shown().find("\r\x1b[K", resized) + 1;
  ASSERT_TRUE(process.wait_for("\r\x1b[Kiteration ", from));
  ASSERT_TRUE(process.wait_for("\r\x1b[K", process.shown().rfind("\r\x1b[K") + 1));
  const std::vector<std::string> lines = live_lines(process.shown().substr(from));
  ASSERT_FALSE(lines.empty());
  EXPECT_LT(lines.back().size(), 30u) << lines.back();
  EXPECT_EQ(lines.back().rfind("iteration ", 0), 0u) << lines.back();
}

class Signals : public Terminal {};

TEST_F(Signals, EachEndsTheSolveWithItsCheckpointAndTheResultsSoFar) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    SCOPED_TRACE(signal);
    const ProcessResult run =
        interrupt(kLobpcg + "checkpoint: {file: state, every_s: 1000}\n", signal);
    EXPECT_EQ(run.exit_code, 130) << run.err;
    EXPECT_NE(run.err.find("\nstopping after this product"), std::string::npos) << run.err;
    EXPECT_NE(run.out.find("checkpoint in state: --resume goes on from it"), std::string::npos);
    const auto json = result("out");
    EXPECT_EQ(json.at("status"), "interrupted");
    EXPECT_EQ(json.at("reason").get<std::string>().rfind("stopped on request: ", 0), 0u);
    EXPECT_EQ(json.at("eigenvalues").size(), 4u);
    EXPECT_TRUE(std::filesystem::remove(folder_.path() / "state"));
    std::filesystem::remove_all(folder_.path() / "out");
  }
}

/// Sends two signals that both wait when the process goes on.
int exit_code_after(test::Process& process, int first, int second, ProcessResult& run) {
  process.signal(SIGSTOP);
  process.signal(first);
  process.signal(second);
  process.signal(SIGCONT);
  run = process.wait();
  return run.exit_code;
}

TEST_F(Signals, ASecondOneOfTheUserQuitsAndLeavesTheLastCheckpoint) {
  folder_.write("case.yaml", kLobpcg + "checkpoint: {file: state, every_s: 0}\n");
  test::Process process(folder_.path(), command({"case.yaml"}));
  for (int i = 0; i < 1200 && !std::filesystem::exists(folder_.path() / "state"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ProcessResult run;
  EXPECT_EQ(exit_code_after(process, SIGINT, SIGTERM, run), 130);
  // The answer to the first signal may come between these lines.
  for (const char* const line :
       {"interrupted, no results written\n",
        "the last checkpoint stays in state: --resume goes on from it\n"}) {
    EXPECT_NE(run.err.find(line), std::string::npos) << run.err;
  }
  EXPECT_EQ(results(), std::set<std::string>{"history.csv"});
  const ProcessResult resumed = this->run(
      {"case.yaml", "--resume", "--set", "solver.tolerance=1e-3", "--set", "solver.nev=4"});
  EXPECT_EQ(resumed.exit_code, 2) << "another tolerance is another solve";
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "state"));
}

TEST_F(Signals, AWarningOfABatchSystemIsNoFirstOneOfTheUser) {
  folder_.write("case.yaml", kLobpcg);
  test::Process process(folder_.path(), command({"case.yaml"}));
  ASSERT_TRUE(wait_for_iterations(process)) << process.err();
  ProcessResult run;
  EXPECT_EQ(exit_code_after(process, SIGUSR1, SIGTERM, run), 130);
  EXPECT_EQ(result("out").at("status"), "interrupted") << run.err;
}

TEST_F(Signals, OneWhileLoadingEndsItAtOnce) {
  const auto fifo = folder_.path() / "case.yaml";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  test::Process process(folder_.path(), command({"case.yaml"}));
  const int writer = open(fifo.c_str(), O_WRONLY);  // returns once the process reads
  process.signal(SIGINT);
  const ProcessResult run = process.wait();
  close(writer);
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_EQ(run.err, "\ninterrupted, no results written\n");
  EXPECT_EQ(listing(folder_.path()), std::set<std::string>{"case.yaml"});
}

TEST_F(Signals, AHangupThatIsIgnoredAtTheStartStaysIgnored) {
  folder_.write("case.yaml", kLobpcg);
  std::vector<std::string> words = command({"case.yaml"});
  words.insert(words.begin(), "--ignore-signal=HUP");
  test::Process process(folder_.path(), words);
  ASSERT_TRUE(wait_for_iterations(process)) << process.err();
  process.signal(SIGHUP);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(process.err().find("stopping"), std::string::npos) << process.err();
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_EQ(result("out").at("status"), "interrupted");
}

}  // namespace
}  // namespace heddle::apps
