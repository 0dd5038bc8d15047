#include <gtest/gtest.h>

#include <apps/processes.hpp>
#include <csignal>
#include <cstdlib>
#include <heddle/linalg/context/cuda_context.hpp>
#include <string>

namespace heddle::apps {
namespace {

/// A solver on two GPUs, led by a process or by a thread each. Skipped where there are not two.
class OnGpus : public Processes, public testing::WithParamInterface<Start> {
 protected:
  explicit OnGpus(const std::string& name = "heddle-lobpcg") : Processes(name, GetParam()) {}

  void SetUp() override {
    const std::string reason = cuda_unavailable_reason(1);
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
    if (GetParam() == Start::gpu_processes && std::string(HEDDLE_MPIEXEC).empty()) {
      GTEST_SKIP() << "skipped: this build has no MPI";
    }
  }

  static std::string on_gpu(const std::string& parts, const std::string& solver) {
    return problem(parts, solver) + "device: cuda\n";
  }
};

class LobpcgOnGpus : public OnGpus {};

struct LanczosOnGpus : OnGpus {
  LanczosOnGpus() : OnGpus("heddle-lanczos") {}
};

struct CgOnGpus : OnGpus {
  CgOnGpus() : OnGpus("heddle-cg") {}
};

std::string name_of(const testing::TestParamInfo<Start>& info) {
  return info.param == Start::gpu_processes ? "Processes" : "Threads";
}

const auto kStarts = testing::Values(Start::gpu_processes, Start::gpu_threads);
INSTANTIATE_TEST_SUITE_P(As, LobpcgOnGpus, kStarts, name_of);
INSTANTIATE_TEST_SUITE_P(As, LanczosOnGpus, kStarts, name_of);
INSTANTIATE_TEST_SUITE_P(As, CgOnGpus, kStarts, name_of);

TEST_P(LobpcgOnGpus, SameResults) {
  expect_same(2, on_gpu(kGrid, "nev: 4"));
  EXPECT_EQ(result().at("device"), "cuda");
  expect_same(2, on_gpu(kGrid, "nev: 4, which: largest"));
  expect_same(2, on_gpu(kGrid, "nev: 4, preconditioner: {type: jacobi}"));
  expect_same(2, on_gpu(kBeam, "nev: 4"));
  expect_same(2, on_gpu(kBeam, "nev: 4, preconditioner: {type: block_jacobi}"));
  expect_same(2, on_gpu(generated("laplace1d", "9"), "nev: 3"));
  expect_same(2, on_gpu(kGrid, "nev: 4") + "precision: mixed\n");
  expect_same(2, on_gpu(kGrid, "nev: 4, tolerance: 1e-4") + "precision: single\n");
}

TEST_P(LobpcgOnGpus, ComplexMatrices) {
  expect_same(2, on_gpu(kFlux, "nev: 4"));
  expect_same(2, on_gpu(kComplexPencil, "nev: 4, preconditioner: {type: jacobi}"), 2);
  expect_resumed(2, on_gpu(kFlux, kUnpreconditioned) + kKept);
}

TEST_P(LanczosOnGpus, ComplexMatrices) {
  constexpr int kAnyCycles = 1000;
  expect_same(2, on_gpu(kFlux, "nev: 4, which: largest"));
  expect_same(2, on_gpu(kFlux, "nev: 4, filter: chebyshev"));
  expect_same(2, on_gpu(kFlux, "which: interval, interval: [5, 5.2]"), kAnyCycles);
  expect_same(2, on_gpu(kComplexPencil, "nev: 5, which: nearest, sigma: 0.7"), 0);
}

TEST_P(CgOnGpus, ComplexMatrices) { expect_same(2, on_gpu(kFlux + ", rhs: {random: 3}", "")); }

TEST_P(LobpcgOnGpus, GraphsWithNullVectors) {
  const std::string laplacian = "transform: laplacian, weights: unit, symmetrize: true";
  expect_same(2, on_gpu(generated("rmat", "7") + ", " + laplacian, "nev: 5"));
}

TEST_P(LobpcgOnGpus, DistributionByMetis) {
  if (!has_metis()) GTEST_SKIP() << "skipped: this build has no METIS";
  expect_same(2, on_gpu(kBeam, "nev: 4, preconditioner: {type: jacobi}") + "distribution: metis\n");
  EXPECT_TRUE(result().at("distribution").get<std::string>().starts_with("METIS"));
}

TEST_P(LobpcgOnGpus, ConstraintsAndTheBitsOfVectors) {
  const std::string first = on_gpu(kGrid, "nev: 3") + "output: {eigenvectors: npy}\n";
  ASSERT_EQ(together(2, first, {"--set", "output.directory=a"}).exit_code, 0);
  ASSERT_EQ(together(2, first, {"--set", "output.directory=b"}).exit_code, 0);
  EXPECT_EQ(file("a/eigenvectors.npy"), file("b/eigenvectors.npy"));
  EXPECT_EQ(result("a").at("eigenvalues"), result("b").at("eigenvalues"));
  expect_same(2, on_gpu(kGrid + ", constraints: a/eigenvectors.npy", "nev: 3"));
}

TEST_P(LobpcgOnGpus, CheckpointsPerGpu) {
  expect_resumed(2, on_gpu(kGrid, kUnpreconditioned) + kKept);
}

/// Threads and processes compute the same bits, so that each goes on where the others ended.
TEST_P(LobpcgOnGpus, ResumeWhatWasStartedInTheOtherWay) {
  const std::string kept = on_gpu(kGrid, kUnpreconditioned) + kKept;
  EXPECT_EQ(together(2, kept, {"--set", "output.directory=whole"}).exit_code, 0);
  EXPECT_EQ(together(2, kept, {"--set", "solver.max_iterations=20"}).exit_code, 3);
  const bool threads = GetParam() == Start::gpu_threads;
  if (threads && std::string(HEDDLE_MPIEXEC).empty()) return;
  start_as(threads ? Start::gpu_processes : Start::gpu_threads);
  const ProcessResult run = together(2, kept, {"--resume", "--set", "output.directory=resumed"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* const key : {"iterations", "eigenvalues", "residuals"}) {
    EXPECT_EQ(result("resumed").at(key), result("whole").at(key)) << key;
  }
}

TEST_P(LobpcgOnGpus, SignalsEndTheSolveWithResults) {
  // Smaller ones come to rounding within seconds.
  const std::string unending = on_gpu(generated("laplace3d", "256, 256, 256"), kUnending);
  expect_ended_by(SIGUSR1, unending);
  // mpirun itself ends with another code after Ctrl-C.
  if (GetParam() == Start::gpu_threads) expect_ended_by(SIGINT, unending);
}

TEST_P(LobpcgOnGpus, Statuses) {
  expect_status(on_gpu(kGrid, "nev: 4, max_iterations: 1"), 3, "max_iterations");
  expect_status(on_gpu(kGrid, "nev: 4, time_limit_s: 1e-9"), 3, "time_limit");
  expect_status(on_gpu(kGrid, "nev: 4, tolerance: 1e-18"), 4, "stagnated");
}

TEST_P(LobpcgOnGpus, AFailureEndsAll) {
  expect_a_failure_to_end_all(2, on_gpu(kGrid, kUnpreconditioned) + kKept);
}

TEST_P(LobpcgOnGpus, TwoRanksWithOneGpu) {
  setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  if (GetParam() == Start::gpu_processes) {
    expect_refused(on_gpu(kGrid, "nev: 2"), 5,
                   "processes 0 and 1 would share GPU 0 of their machine");
    EXPECT_EQ(together(2, problem(kGrid, "nev: 2") + "device: auto\n").exit_code, 0);
    EXPECT_EQ(result().at("device"), "host");
  } else {
    expect_refused(on_gpu(kGrid, "nev: 2"), 5, "devices: 2 GPUs were asked for, 1 present");
    EXPECT_EQ(solve(on_gpu(kGrid, "nev: 2") + "devices: all\n", {}, true).exit_code, 0);
    EXPECT_EQ(result().at("gpus"), 1);
  }
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_P(LanczosOnGpus, SameResults) {
  expect_same(2, on_gpu(kGrid, "nev: 4, which: largest"));
  expect_same(2, on_gpu(kGrid, "nev: 4, filter: chebyshev"));
}

TEST_P(LanczosOnGpus, SolveDenselyWhereOneDoes) { expect_dense_solves(2, "device: cuda\n"); }

TEST_P(CgOnGpus, SameSolutions) {
  const std::string random = kGrid + ", rhs: {random: 3}";
  expect_same(2, on_gpu(random, ""));
  expect_same(2, on_gpu(random, "preconditioner: {type: jacobi}"));
  expect_same(2, on_gpu(random, "algorithm: pseudo_block"));
}

TEST_P(CgOnGpus, Statuses) {
  folder_.write("ring.mtx", ring(40));
  folder_.write("saddle.mtx", matrix_market(3, {"1 1 -0.5", "2 2 0.5", "3 3 1.5"}));
  const std::string random = kGrid + ", rhs: {random: 2}";
  expect_status(on_gpu(random, "tolerance: 1e-19"), 4, "stagnated");
  expect_status(on_gpu("matrix: ring.mtx, rhs: {ones: 1}", "preconditioner: {type: none}"), 4,
                "breakdown");
  expect_status(on_gpu("matrix: saddle.mtx, rhs: {ones: 1}", ""), 4, "indefinite");
}

}  // namespace
}  // namespace heddle::apps
