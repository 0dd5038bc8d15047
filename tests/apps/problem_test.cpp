#include <gtest/gtest.h>

#include <apps/config_support.hpp>
#include <cmath>
#include <heddle/apps/problem.hpp>
#include <heddle/drivers/inspect/precision.hpp>
#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/plan/make_plan.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/spmm/spmm.hpp>
#include <string>
#include <support/temporary_folder.hpp>

#include "support/sanitized.hpp"

namespace heddle::apps {
namespace {

using heddle::test::TemporaryFolder;

class Problem : public testing::Test {
 protected:
  TemporaryFolder folder_;
  HostContext context_{1};

  Config config(const std::string& problem, const std::string& solver = "nev: 1",
                SolverType type = SolverType::lobpcg) {
    const auto source =
        std::make_shared<const ConfigSource>(ConfigSource{"case.yaml", folder_.path()});
    return resolve_config(parse_yaml("problem: " + problem + "\nsolver: {" + solver + "}", source),
                          type, "case");
  }

  /// The message that the problem is refused with, the folder's name taken out.
  std::string refusal(const std::string& problem, const std::string& solver = "nev: 1") {
    return refusal(config(problem, solver));
  }

  /// The same in single precision.
  std::string single_refusal(const std::string& problem, const std::string& solver = "nev: 1",
                             SolverType type = SolverType::lobpcg) {
    Config single = config(problem, solver, type);
    single.request.precision = Precision::single;
    return refusal(single);
  }

  std::string refusal(const Config& config) {
    try {
      test::load_problem(context_, config);
    } catch (const Error& error) {
      std::string message = error.what();
      const std::string prefix = folder_.path().string() + "/";
      if (message.rfind(prefix, 0) == 0) message.erase(0, prefix.size());
      return message;
    }
    return "";
  }

  void write(const std::string& name, const std::string& header, const std::string& entries) {
    folder_.write(name, "%%MatrixMarket matrix " + header + "\n" + entries);
  }
};

const std::string kIdentity3 = "3 3 3\n1 1 1\n2 2 1\n3 3 1\n";

TEST_F(Problem, FilesGeneratedMatricesAndBlocks) {
  write("a.mtx", "coordinate real symmetric", "4 4 5\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n2 1 -1\n");
  write("y.mtx", "array real general", "4 1\n1\n1\n1\n1\n");
  write("x.mtx", "array real general", "4 2\n1\n2\n3\n4\n5\n6\n7\n8\n");
  const heddle::Problem input = test::load_problem(
      context_, config("{matrix: a.mtx, mass: {generate: mikota_mass, size: [4]}, constraints: "
                       "y.mtx, initial_guess: x.mtx}"));
  EXPECT_EQ(input.A.rows(), 4);
  EXPECT_EQ(input.A.nnz(), 6);
  EXPECT_EQ(input.B->nnz(), 4);
  EXPECT_EQ(input.constraints.cols(), 1);
  EXPECT_EQ(input.initial_guess.view()(2, 1), 7);
}

TEST_F(Problem, Transforms) {
  write("path.mtx", "coordinate real symmetric", "3 3 2\n2 1 5\n3 2 2\n");
  const std::string unit = "{matrix: path.mtx, weights: unit, transform: laplacian}";
  const auto laplacian = test::load_problem(context_, config(unit));
  const auto diagonal = [&](const Matrix& A) {
    const Buffer<double, HostSpace> d = extract_diagonal(context_, A.view());
    return std::vector<double>(d.data(), d.data() + d.size());
  };
  EXPECT_EQ(diagonal(laplacian.A), (std::vector<double>{1, 2, 1}));
  const auto normalized =
      test::load_problem(context_, config("{matrix: path.mtx, transform: normalized_laplacian}"));
  EXPECT_EQ(diagonal(normalized.A), (std::vector<double>{1, 1, 1}));
  const auto weighted =
      test::load_problem(context_, config("{matrix: path.mtx, transform: laplacian}"));
  EXPECT_EQ(diagonal(weighted.A), (std::vector<double>{5, 7, 2}));
  write("arc.mtx", "coordinate real general", "3 3 2\n2 1 5\n3 2 2\n");
  const std::string directed = "matrix: arc.mtx, transform: laplacian";
  EXPECT_EQ(refusal("{" + directed + "}"),
            "arc.mtx: the graph is directed: entry (2, 1) is 5, entry (1, 2) is 0; a Laplacian "
            "takes undirected graphs. symmetrize: true gives both directions the larger of the two "
            "weights");
  const auto symmetrized =
      test::load_problem(context_, config("{" + directed + ", symmetrize: true}"));
  EXPECT_EQ(diagonal(symmetrized.A), (std::vector<double>{5, 7, 2}));
  write("signed.mtx", "coordinate real symmetric", "3 3 2\n2 1 5\n3 2 -2\n");
  EXPECT_NE(refusal("{matrix: signed.mtx, transform: normalized_laplacian}").find("negative"),
            std::string::npos);
}

TEST_F(Problem, MatricesThatCannotBeA) {
  write("wide.mtx", "coordinate real general", "2 3 1\n1 1 1\n");
  EXPECT_EQ(refusal("{matrix: wide.mtx}"),
            "wide.mtx: the matrix is 2 x 3, it must be square; normal_equations finds its singular "
            "values, or least-squares solutions");
  write("skewed.mtx", "coordinate real general", "3 3 4\n1 1 1\n3 2 0.5\n2 3 0.25\n3 3 1\n");
  EXPECT_EQ(refusal("{matrix: skewed.mtx}"),
            "skewed.mtx: the matrix is not symmetric: entry (2, 3) is 0.25, entry (3, 2) is 0.5");
  write("lonely.mtx", "coordinate real general", "2 2 1\n2 1 7\n");
  EXPECT_EQ(refusal("{matrix: lonely.mtx}"),
            "lonely.mtx: the matrix is not symmetric: entry (2, 1) is 7, entry (1, 2) is 0");
  EXPECT_EQ(refusal("{matrix: {generate: random_uniform, size: [20]}}").substr(0, 73),
            "case.yaml:1:19: random_uniform [20]: the matrix is not symmetric: entry (");
  EXPECT_NE(refusal("{matrix: no_such.mtx}").find("no_such.mtx: "), std::string::npos);
}

TEST_F(Problem, RoundingIsNotAsymmetry) {
  write("rounded.mtx", "coordinate real general",
        "2 2 4\n1 1 1\n2 2 1\n1 2 0.1\n2 1 0.10000000000000002\n");
  EXPECT_EQ(refusal("{matrix: rounded.mtx}"), "");
}

TEST_F(Problem, MatricesThatCannotBeB) {
  write("a.mtx", "coordinate real symmetric", kIdentity3);
  write("small.mtx", "coordinate real symmetric", "2 2 2\n1 1 1\n2 2 1\n");
  EXPECT_EQ(refusal("{matrix: a.mtx, mass: small.mtx}"),
            "small.mtx: the mass matrix has order 2, the matrix has order 3");
  write("negative.mtx", "coordinate real symmetric", "3 3 3\n1 1 1\n2 2 -4\n3 3 1\n");
  EXPECT_EQ(refusal("{matrix: a.mtx, mass: negative.mtx}"),
            "negative.mtx: the mass matrix is not positive definite: diagonal entry (2, 2) is -4");
  write("hole.mtx", "coordinate real symmetric", "3 3 2\n1 1 1\n2 2 4\n");
  EXPECT_EQ(refusal("{matrix: a.mtx, mass: hole.mtx}"),
            "hole.mtx: the mass matrix is singular, its null space has dimension 1: lobpcg needs a "
            "positive definite one, use block_lanczos (heddle-lanczos), which factors A - sigma B");
  write("zero.mtx", "coordinate real symmetric", "3 3 3\n1 1 0\n2 2 0\n3 3 0\n");
  write("nothing.mtx", "coordinate real symmetric", "3 3 0\n");
  for (const char* zero : {"zero.mtx", "nothing.mtx"}) {
    EXPECT_EQ(refusal(std::string("{matrix: a.mtx, mass: ") + zero + "}"),
              std::string(zero) + ": the mass matrix is zero, so no eigenvalue is finite");
  }
  write("minor.mtx", "coordinate real symmetric", "3 3 4\n1 1 1\n2 2 4\n3 3 1\n3 2 2.5\n");
  EXPECT_EQ(refusal("{matrix: a.mtx, mass: minor.mtx}"),
            "minor.mtx: the mass matrix is not positive definite: entry (2, 3) is 2.5, more than "
            "its diagonal entries 4 and 1 allow");
  write("edge.mtx", "coordinate real symmetric", "3 3 4\n1 1 1\n2 2 4\n3 3 1\n3 2 1.99\n");
  EXPECT_EQ(refusal("{matrix: a.mtx, mass: edge.mtx}"), "");
  // All 2×2 minors positive, the determinant not: 1 + 2·(−0.9)³ − 3·0.81 < 0.
  write("pivot.mtx", "coordinate real symmetric",
        "3 3 6\n1 1 1\n2 2 1\n3 3 1\n2 1 -0.9\n3 1 -0.9\n3 2 -0.9\n");
  EXPECT_NE(refusal("{matrix: a.mtx, mass: pivot.mtx}").find("factorisation meets the pivot -"),
            std::string::npos);
}

TEST_F(Problem, BlocksOfAnotherLength) {
  write("a.mtx", "coordinate real symmetric", kIdentity3);
  write("y.mtx", "array real general", "2 1\n1\n1\n");
  EXPECT_EQ(refusal("{matrix: a.mtx, constraints: y.mtx}"),
            "y.mtx: the block has 2 rows, the matrix has order 3");
  EXPECT_EQ(refusal("{matrix: a.mtx, initial_guess: y.mtx}"),
            "y.mtx: the block has 2 rows, the matrix has order 3");
}

TEST_F(Problem, BlocksThatAreNotFinite) {
  write("a.mtx", "coordinate real symmetric", kIdentity3);
  write("x.mtx", "array real general", "3 1\n1\nnan\n1\n");
  EXPECT_EQ(refusal("{matrix: a.mtx, initial_guess: x.mtx}"),
            "x.mtx:4: the value 'nan' is not finite");
}

TEST_F(Problem, MorePairsThanThereAre) {
  write("a.mtx", "coordinate real symmetric", kIdentity3);
  EXPECT_EQ(refusal("{matrix: a.mtx}", "nev: 4"),
            "case.yaml:2:15: solver.nev is 4, but the matrix has order 3: nev must be at most 3");
  EXPECT_EQ(refusal("{matrix: a.mtx}", "nev: 3"), "");
  write("y.mtx", "array real general", "3 1\n1\n1\n1\n");
  EXPECT_EQ(refusal("{matrix: a.mtx, constraints: y.mtx}", "nev: 3"),
            "case.yaml:2:15: solver.nev is 3, but the matrix has order 3 and there are 1 "
            "constraints: nev must be at most 2");
}

TEST_F(Problem, StructuresThatCannotBeGenerated) {
  const std::string message = refusal("{matrix: {generate: laplace3d, size: [5]}}");
  EXPECT_EQ(message.rfind("case.yaml:1:19: ", 0), 0u) << message;
  EXPECT_NE(message.find("laplace3d"), std::string::npos) << message;
}

TEST_F(Problem, SinglePrecisionRefusesMatricesThatItCannotHold) {
  const std::string large = "single precision ends at 3.4e+38: use precision: double";
  const std::string small = "single precision needs 9.9e-32: use precision: double";
  const auto refused = [this](const std::string& entries) {
    write("a.mtx", "coordinate real symmetric", entries);
    EXPECT_EQ(refusal("{matrix: a.mtx}"), "");
    return single_refusal("{matrix: a.mtx}");
  };
  EXPECT_EQ(refused("2 2 2\n1 1 -1e300\n2 2 1\n"),
            "a.mtx: the matrix has an entry of size 1e+300, " + large);
  EXPECT_EQ(refused("2 2 2\n1 1 1e-150\n2 2 2e-150\n"),
            "a.mtx: the largest entry of the matrix is 2e-150, " + small);
  EXPECT_EQ(refused("2 2 2\n1 1 1e-35\n2 2 2e-38\n"),
            "a.mtx: the largest entry of the matrix is 1e-35, " + small);
  EXPECT_EQ(refused("2 2 2\n1 1 1\n2 2 -3e-39\n"),
            "a.mtx: diagonal entry (2, 2) of the matrix is -3e-39, single precision needs a size "
            "of 1.2e-38: use precision: double");
  for (const char* fine : {"2 2 2\n1 1 1e30\n2 2 0.1\n", "2 2 2\n1 1 1e-31\n2 2 2e-38\n",
                           "2 2 3\n1 1 1\n2 1 1e-60\n2 2 1\n", "2 2 2\n1 1 0\n2 2 0\n"}) {
    EXPECT_EQ(refused(fine), "") << fine;
  }
  write("m.mtx", "coordinate real symmetric", "2 2 2\n1 1 1e-40\n2 2 1e-39\n");
  EXPECT_EQ(single_refusal("{matrix: a.mtx, mass: m.mtx}"),
            "m.mtx: the largest entry of the mass matrix is 1e-39, " + small);
}

TEST_F(Problem, SinglePrecisionRefusesBlocksThatItCannotHold) {
  write("a.mtx", "coordinate real symmetric", kIdentity3);
  write("huge.mtx", "array real general", "3 1\n1\n1e300\n3\n");
  write("tiny.mtx", "array real general", "3 2\n1\n1\n3\n1e-50\n0\n-2e-50\n");
  write("thin.mtx", "array real general", "3 1\n1e-50\n0\n-2e-50\n");
  write("zero.mtx", "array real general", "3 2\n1\n1e-60\n3\n0\n0\n0\n");
  const auto refused = [this](const std::string& rhs) {
    return single_refusal("{matrix: a.mtx, rhs: " + rhs + "}", "", SolverType::block_cg);
  };
  EXPECT_EQ(refused("huge.mtx"),
            "huge.mtx: column 1 has an entry of size 1e+300, single precision ends at 3.4e+38: use "
            "precision: double");
  const std::string tiny =
      "tiny.mtx: the largest entry of column 2 is 2e-50, single precision needs 9.9e-32: use "
      "precision: double";
  EXPECT_EQ(refused("tiny.mtx"), tiny);
  EXPECT_EQ(refused("zero.mtx"), "");
  EXPECT_EQ(refused("{random: 2}, initial_guess: tiny.mtx"), tiny);
  EXPECT_EQ(single_refusal("{matrix: a.mtx, constraints: thin.mtx}"),
            "thin.mtx: the largest entry of column 1 is 2e-50, single precision needs 9.9e-32: use "
            "precision: double");
}

TEST_F(Problem, RoundsToSinglePrecision) {
  write("a.mtx", "coordinate real symmetric", "2 2 2\n1 1 1e30\n2 2 0.1\n");
  write("b.mtx", "array real general", "2 1\n0.1\n3\n");
  HostProblem<float> single = detail::to_single(
      context_, test::load_problem(
                    context_, config("{matrix: a.mtx, rhs: b.mtx}", "", SolverType::block_cg)));
  EXPECT_EQ(single.A.view().values[1], 0.1f);
  EXPECT_EQ(single.rhs.view()(0, 0), 0.1f);
}

/// The estimate for what `asked` says bounds the peak of a solve from both sides.
void expect_estimate_near_peak(Config asked) {
  asked.request.device = DeviceChoice::host;
  asked.request.threads = 2;  // the estimate leaves out the scratch memory of each thread
  for (const Precision precision : {Precision::full, Precision::single, Precision::mixed}) {
    if (finds_triplets(asked) && precision == Precision::mixed) continue;  // it is refused
    asked.request.precision = precision;
    Device device(asked.request.device, asked.request.threads);
    heddle::Problem input = read_problem(device.host(), asked);
    const SolvePlan made = plan(device, input, asked.request);
    const auto peak = static_cast<double>(run(device, std::move(input), made).peak_bytes);
    EXPECT_GE(made.device_bytes, 0.9 * peak) << static_cast<int>(precision);
    EXPECT_LE(made.device_bytes, 2 * peak) << static_cast<int>(precision);
    EXPECT_EQ(made.host_bytes, made.device_bytes);
  }
}

const std::string kCube = "matrix: {generate: laplace3d, size: [14, 15, 16]}";
const std::string kElastic = "matrix: {generate: elasticity3d, size: [9, 9, 9]}";
const std::string kElasticMass = "mass: {generate: elasticity3d_mass, size: [9, 9, 9]}";
const std::vector<std::string> kPreconditioners = {"none", "jacobi", "block_jacobi", "chebyshev",
                                                   "incomplete_cholesky"};

TEST_F(Problem, TheEstimateOfMemoryOfLobpcgIsNearThePeak) {
  HEDDLE_SKIP_WITH_SANITIZER();
  for (const std::string& problem : {kCube, kElastic + ", " + kElasticMass}) {
    for (const std::string& preconditioner : kPreconditioners) {
      SCOPED_TRACE(problem + preconditioner);
      expect_estimate_near_peak(
          config("{" + problem + "}",
                 "nev: 5, max_iterations: 3, preconditioner: {type: " + preconditioner + "}"));
    }
  }
}

TEST_F(Problem, TheEstimateOfMemoryOfBlockLanczosIsNearThePeak) {
  HEDDLE_SKIP_WITH_SANITIZER();
  const std::string chain =
      "matrix: {generate: mikota_stiffness, size: [3000]}, "
      "mass: {generate: mikota_mass, size: [3000]}";
  for (const std::string& problem : {kCube, chain}) {
    SCOPED_TRACE(problem);
    expect_estimate_near_peak(config("{" + problem + "}",
                                     "nev: 5, max_iterations: 3, filter: chebyshev",
                                     SolverType::block_lanczos));
  }
  expect_estimate_near_peak(config("{" + kElastic + ", " + kElasticMass + "}",
                                   "nev: 5, which: largest, max_iterations: 1, filter: none",
                                   SolverType::block_lanczos));
}

TEST_F(Problem, TheEstimateOfMemoryOfSingularTripletsIsNearThePeak) {
  for (const std::string size : {"[3000, 1200]", "[1100, 2500]", "[4000, 100]"}) {
    for (const SolverType solver : {SolverType::lobpcg, SolverType::block_lanczos}) {
      SCOPED_TRACE(size + std::string(method_name(solver)));
      expect_estimate_near_peak(config(
          "{matrix: {generate: random_uniform, size: " + size + "}, transform: normal_equations}",
          "nev: 5, which: largest, max_iterations: 3", solver));
    }
  }
}

TEST_F(Problem, TheEstimateOfMemoryOfLeastSquaresIsNearThePeak) {
  for (const std::string size : {"[9000, 1200]", "[1100, 2500]"}) {
    for (const std::string preconditioner : {"none", "jacobi"}) {
      SCOPED_TRACE(size + preconditioner);
      expect_estimate_near_peak(
          config("{matrix: {generate: random_uniform, size: " + size +
                     "}, transform: normal_equations, rhs: {random: 8}}",
                 "max_iterations: 3, preconditioner: {type: " + preconditioner + "}",
                 SolverType::block_cg));
    }
  }
}

TEST_F(Problem, TheEstimateOfMemoryOfBlockCgIsNearThePeak) {
  for (const std::string& problem : {kCube, kElastic}) {
    for (const std::string& preconditioner : kPreconditioners) {
      SCOPED_TRACE(problem + preconditioner);
      expect_estimate_near_peak(
          config("{" + problem + ", rhs: {random: 8}}",
                 "max_iterations: 3, preconditioner: {type: " + preconditioner + "}",
                 SolverType::block_cg));
    }
  }
}

TEST_F(Problem, AGpuIsEstimatedBesideItsHost) {
  const Config asked = config("{matrix: {generate: laplace3d, size: [20, 20, 20]}}", "nev: 4");
  const heddle::Problem input = test::load_problem(context_, asked);
  const auto planned = [&](bool on_gpu) {
    const detail::Machine machine{
        .on_gpu = on_gpu, .memory_bytes = 1e12, .kernels = spmm_choices()};
    return detail::make_plan(context_, machine, input, asked.request, {});
  };
  const SolvePlan gpu = planned(true);
  EXPECT_GT(gpu.device_bytes, planned(false).device_bytes);
  EXPECT_GT(gpu.host_bytes, gpu.details->facts.bytes());
  EXPECT_LT(gpu.host_bytes, gpu.device_bytes);
}

TEST(Memory, AFactorLeavesRoomForTheSolver) {
  EXPECT_EQ(detail::factor_budget(1000, 900, 100), 250);
  EXPECT_EQ(detail::factor_budget(1000, 300, 100), 200);
  EXPECT_EQ(detail::factor_budget(1000, 300, 400), 0);
}

TEST_F(Problem, MoreMemoryThanThereIsNamesBothNumbers) {
  detail::require_memory(1e6, 1e6, "this machine", "");
  try {
    detail::require_memory(1e18, 1e12, "this machine", detail::kFewerPairs);
    FAIL() << "more was asked for than there is";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.requested(), std::size_t{1000000000000000000});
    EXPECT_STREQ(error.what(),
                 "the solve needs 1000000000000000000 bytes (931322574.6 GiB) of memory, this "
                 "machine has 1000000000000 (931.3 GiB): ask for fewer eigenpairs or a smaller "
                 "block");
  }
}

TEST_F(Problem, Preconditioners) {
  const auto chosen = [this](const std::string& solver, bool pencil) {
    const std::string problem = pencil ? "{matrix: a.mtx, mass: b.mtx}" : "{matrix: a.mtx}";
    const Request request = config(problem, solver).request;
    return detail::plan_preconditioner(request.preconditioner,
                                       detail::preconditioned_problem(request, {.pencil = pencil}))
        .describe();
  };
  EXPECT_EQ(chosen("which: smallest", false), "chebyshev of A, degree auto");
  EXPECT_EQ(chosen("which: smallest", true), "chebyshev of A, degree auto");
  EXPECT_EQ(chosen("which: largest", false), "none");
  EXPECT_EQ(chosen("which: largest", true), "jacobi of B");
  EXPECT_EQ(chosen("which: largest, preconditioner: {type: jacobi}", false), "jacobi of A");
  EXPECT_EQ(chosen("which: smallest, preconditioner: {type: none}", false), "none");
  EXPECT_EQ(chosen("preconditioner: {type: jacobi}", true), "jacobi of A");
  EXPECT_EQ(chosen("which: largest, preconditioner: {type: chebyshev, degree: 4}", true),
            "chebyshev of B, degree 4");
}

TEST_F(Problem, PreconditionersOfTheOtherSolvers) {
  const std::string system = "{matrix: a.mtx, rhs: {ones: 1}}";
  const auto of_cg = [&](const std::string& preconditioner) {
    const Request request =
        config(system, "preconditioner: {" + preconditioner + "}", SolverType::block_cg).request;
    return detail::plan_preconditioner(request.preconditioner,
                                       detail::preconditioned_problem(request, ProblemSizes{}))
        .describe();
  };
  EXPECT_EQ(of_cg(""), "chebyshev of A, degree auto");
  EXPECT_EQ(of_cg("type: block_jacobi"), "block_jacobi of A");
  EXPECT_EQ(of_cg("type: block_jacobi, block_size: 6"), "block_jacobi of A, blocks of 6");
  EXPECT_EQ(of_cg("type: incomplete_cholesky"), "incomplete_cholesky of A");
  EXPECT_EQ(of_cg("type: incomplete_cholesky, triangular_solve: iterated"),
            "incomplete_cholesky of A, solved by sweeps");
  const Request lanczos = config("{matrix: a.mtx}", "nev: 1", SolverType::block_lanczos).request;
  EXPECT_EQ(detail::plan_preconditioner(lanczos.preconditioner,
                                        detail::preconditioned_problem(lanczos, ProblemSizes{}))
                .describe(),
            "none");
}

TEST_F(Problem, RightHandSides) {
  write("a.mtx", "coordinate real symmetric", kIdentity3);
  write("b.mtx", "array real general", "3 2\n1\n2\n3\n4\n5\n6\n");
  const auto load = [this](const std::string& rhs) {
    return test::load_problem(context_,
                              config("{matrix: a.mtx, rhs: " + rhs + "}", "", SolverType::block_cg))
        .rhs;
  };
  EXPECT_EQ(load("b.mtx").view()(2, 1), 6);
  const auto unit = load("{unit: [3, 1]}");
  EXPECT_EQ(unit.cols(), 2);
  for (Index i = 0; i < 3; ++i) {
    EXPECT_EQ(unit.view()(i, 0), i == 2 ? 1 : 0);
    EXPECT_EQ(unit.view()(i, 1), i == 0 ? 1 : 0);
  }
  const auto random = load("{random: 4}");
  EXPECT_EQ(random.cols(), 4);
  for (Index j = 0; j < 4; ++j) {
    EXPECT_LT(std::abs(random.view()(0, j)), 1);
    EXPECT_NE(random.view()(0, j), random.view()(1, j));
  }
  EXPECT_EQ(load("{ones: 2}").view()(2, 1), 1);
  EXPECT_EQ(test::load_problem(context_, config("{matrix: a.mtx}")).rhs.cols(), 0);
}

}  // namespace
}  // namespace heddle::apps
