#include <gtest/gtest.h>

#include <apps/processes.hpp>
#include <cstdlib>
#include <filesystem>
#include <heddle/linalg/context/cuda_context.hpp>
#include <string>

namespace heddle::apps {
namespace {

/// A solver on two processes with a GPU each. Skipped where there are not two.
class OnGpus : public Processes {
 protected:
  explicit OnGpus(const std::string& name = "heddle-lobpcg") : Processes(name, true) {}

  void SetUp() override {
    const std::string reason = cuda_unavailable_reason(1);
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
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

TEST_F(LobpcgOnGpus, SameResults) {
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

TEST_F(LobpcgOnGpus, GraphsWithNullVectors) {
  const std::string laplacian = "transform: laplacian, weights: unit, symmetrize: true";
  expect_same(2, on_gpu(generated("rmat", "7") + ", " + laplacian, "nev: 5"));
}

TEST_F(LobpcgOnGpus, DistributionByMetis) {
  const std::string metis =
      on_gpu(kBeam, "nev: 4, preconditioner: {type: jacobi}") + "distribution: metis\n";
  if (together(2, metis).err.find("this build has no METIS") != std::string::npos) {
    GTEST_SKIP() << "skipped: this build has no METIS";
  }
  expect_same(2, metis);
  EXPECT_TRUE(result().at("distribution").get<std::string>().starts_with("METIS"));
}

TEST_F(LobpcgOnGpus, ConstraintsAndTheBitsOfVectors) {
  const std::string first = on_gpu(kGrid, "nev: 3") + "output: {eigenvectors: npy}\n";
  ASSERT_EQ(together(2, first, {"--set", "output.directory=a"}).exit_code, 0);
  ASSERT_EQ(together(2, first, {"--set", "output.directory=b"}).exit_code, 0);
  EXPECT_EQ(file("a/eigenvectors.npy"), file("b/eigenvectors.npy"));
  EXPECT_EQ(result("a").at("eigenvalues"), result("b").at("eigenvalues"));
  expect_same(2, on_gpu(kGrid + ", constraints: a/eigenvectors.npy", "nev: 3"));
}

TEST_F(LobpcgOnGpus, CheckpointsPerProcess) {
  const std::string kept =
      on_gpu(kGrid, "nev: 4, preconditioner: {type: none}") + "checkpoint: {file: kept}\n";
  EXPECT_EQ(together(2, kept, {"--set", "solver.max_iterations=20"}).exit_code, 3);
  EXPECT_EQ(together(2, kept, {"--resume", "--set", "output.directory=resumed"}).exit_code, 0);
  EXPECT_EQ(together(2, kept, {"--set", "output.directory=whole"}).exit_code, 0);
  for (const char* const key : {"iterations", "eigenvalues", "residuals"}) {
    EXPECT_EQ(result("resumed").at(key), result("whole").at(key)) << key;
  }
}

TEST_F(LobpcgOnGpus, ASignalEndsTheSolveWithResults) {
  folder_.write("case.yaml", on_gpu(generated("laplace3d", "60, 60, 60"),
                                    "nev: 8, tolerance: 1e-13, max_iterations: 1000000, "
                                    "criterion: absolute, preconditioner: {type: none}"));
  test::Process process(folder_.path(), launch(2, {"case.yaml"}));
  EXPECT_TRUE(wait_for_iterations(process)) << process.err();
  process.signal(SIGUSR1);
  const ProcessResult run = process.wait();
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_EQ(result().at("status"), "interrupted");
}

TEST_F(LobpcgOnGpus, TwoProcessesWithOneGpu) {
  setenv("CUDA_VISIBLE_DEVICES", "0", 1);
  expect_refused(on_gpu(kGrid, "nev: 2"), 5,
                 "processes 0 and 1 would share GPU 0 of their machine");
  const ProcessResult run = together(2, problem(kGrid, "nev: 2") + "device: auto\n");
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(result().at("device"), "host");
}

TEST_F(LobpcgOnGpus, AProcessThatFailsEndsAll) {
  const std::string kept =
      on_gpu(kGrid, "nev: 4, preconditioner: {type: none}") + "checkpoint: {file: kept}\n";
  EXPECT_EQ(together(2, kept, {"--set", "solver.max_iterations=5"}).exit_code, 3);
  std::filesystem::remove(folder_.path() / "kept.1");
  const ProcessResult run = together(2, kept, {"--resume"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("kept.1: no checkpoint can be read"), std::string::npos) << run.err;
}

TEST_F(LanczosOnGpus, SameResults) {
  expect_same(2, on_gpu(kGrid, "nev: 4, which: largest"));
  expect_same(2, on_gpu(kGrid, "nev: 4, filter: chebyshev"));
}

TEST_F(CgOnGpus, SameSolutions) {
  const std::string random = kGrid + ", rhs: {random: 3}";
  expect_same(2, on_gpu(random, ""));
  expect_same(2, on_gpu(random, "preconditioner: {type: jacobi}"));
  expect_same(2, on_gpu(random, "algorithm: pseudo_block"));
}

}  // namespace
}  // namespace heddle::apps
