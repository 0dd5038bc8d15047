#include <gtest/gtest.h>
#include <sys/stat.h>

#include <apps/lobpcg_process.hpp>
#include <string>

namespace heddle::apps {
namespace {

using heddle::test::listing;
using test::Process;
using test::ProcessResult;

class LobpcgSignals : public test::LobpcgProcess {};

/// A solve that would go on for minutes.
const std::string kLong =
    "problem: {matrix: {generate: laplace2d, size: [300, 301]}}\n"
    "solver: {nev: 4, tolerance: 1e-15, max_iterations: 1000000000, time_limit_s: 300,\n"
    "  preconditioner: {type: none}}\n"
    "threads: 1\n";

TEST_F(LobpcgSignals, SignalsEndTheSolveWithTheResultsSoFar) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const ProcessResult run = interrupt(kLong, signal);
    EXPECT_EQ(run.exit_code, 130) << run.err;
    EXPECT_EQ(result().at("status"), "interrupted");
    EXPECT_EQ(result().at("reason").get<std::string>().rfind("stopped on request: ", 0), 0u);
    EXPECT_EQ(result().at("eigenvalues").size(), 4u);
    std::filesystem::remove_all(folder_.path() / "results");
  }
}

TEST_F(LobpcgSignals, ASecondSignalEndsItAtOnce) {
  folder_.write("case.yaml", kLong);
  Process process(folder_.path(), command({"case.yaml"}));
  ASSERT_TRUE(wait_for_iterations(process)) << process.err();
  process.signal(SIGSTOP);  // so that both signals are there when it goes on
  process.signal(SIGINT);
  process.signal(SIGTERM);
  process.signal(SIGCONT);
  const ProcessResult run = process.wait();
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_NE(run.err.find("interrupted, no results written"), std::string::npos) << run.err;
  EXPECT_EQ(listing(folder_.path() / "results/case"), std::set<std::string>{});
}

TEST_F(LobpcgSignals, ASignalWhileLoadingEndsItAtOnce) {
  const auto fifo = folder_.path() / "case.yaml";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  Process process(folder_.path(), command({"case.yaml"}));
  const int writer = open(fifo.c_str(), O_WRONLY);  // returns once the process reads
  process.signal(SIGINT);
  const ProcessResult run = process.wait();
  close(writer);
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_EQ(run.err, "\ninterrupted, no results written\n");
  EXPECT_EQ(listing(folder_.path()), std::set<std::string>{"case.yaml"});
}

}  // namespace
}  // namespace heddle::apps
