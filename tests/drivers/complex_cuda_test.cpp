#include <drivers/complex_support.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <support/cuda_test.hpp>
#include <support/dense.hpp>

// Solves of complex problems on a GPU against the same solves on the host.
namespace heddle {
namespace {

using test::Complex;
using test::generated_complex;

class ComplexOnGpu : public test::CudaTest {
 protected:
  /// Solves on the GPU and on the host. Values agree within their bounds, and the GPU gives the
  /// same bits twice.
  void expect_agreement(const ComplexProblem& problem, Request request) {
    request.device = DeviceChoice::host;
    const Solution expected = solve(problem, request);
    request.device = DeviceChoice::cuda;
    const Solution found = solve(problem, request);
    const Solution again = solve(problem, request);
    ASSERT_EQ(expected.status, SolveStatus::converged) << expected.reason;
    ASSERT_EQ(found.status, SolveStatus::converged) << found.reason;
    EXPECT_EQ(found.device, "cuda");
    EXPECT_EQ(found.eigenvalues, again.eigenvalues);
    EXPECT_EQ(found.residuals, again.residuals);
    EXPECT_EQ(found.completeness.proven, expected.completeness.proven);
    ASSERT_EQ(found.eigenvalues.size(), expected.eigenvalues.size()) << found.reason;
    for (std::size_t k = 0; k < expected.eigenvalues.size(); ++k) {
      EXPECT_NEAR(found.eigenvalues[k], expected.eigenvalues[k],
                  found.error_bounds[k] + expected.error_bounds[k] + 1e-12);
    }
  }

  static ComplexBlock random_block(Index rows, Index columns) {
    return test::filled_block(
        rows, columns, [](HostContext& host, auto X) { fill_random<Complex>(host, 5, 0, X); });
  }

  const ComplexMatrix lattice_ = generated_complex("random_flux3d", {9, 8, 7});
  const ComplexMatrix mass_ = generated_complex("random_hermitian", {504}, 5);
};

TEST_F(ComplexOnGpu, BothEndsByEachMethod) {
  for (const Which which : {Which::smallest, Which::largest}) {
    for (const Method method : {Method::automatic, Method::lobpcg, Method::block_lanczos}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(which)) + " " +
                   std::to_string(static_cast<int>(method)));
      const Request request{.method = method, .nev = 6, .which = which};
      expect_agreement({.A = lattice_}, request);
      expect_agreement({.A = lattice_, .B = mass_}, request);
    }
  }
}

TEST_F(ComplexOnGpu, EachPreconditioner) {
  for (const char* const type :
       {"none", "jacobi", "block_jacobi", "chebyshev", "incomplete_cholesky"}) {
    SCOPED_TRACE(type);
    Request request{.method = Method::lobpcg, .nev = 4};
    request.preconditioner.type = type;
    expect_agreement({.A = lattice_, .B = mass_}, request);
  }
}

TEST_F(ComplexOnGpu, FiltersConstraintsAndGuesses) {
  const ComplexBlock constraints = random_block(504, 2);
  const ComplexBlock guess = random_block(504, 5);
  for (const LanczosFilter filter :
       {LanczosFilter::none, LanczosFilter::chebyshev, LanczosFilter::inverse}) {
    SCOPED_TRACE(static_cast<int>(filter));
    const Request request{.method = Method::block_lanczos, .nev = 5, .filter = filter};
    expect_agreement({.A = lattice_, .initial_guess = guess}, request);
  }
  expect_agreement({.A = lattice_, .constraints = constraints, .initial_guess = guess},
                   {.method = Method::lobpcg, .nev = 5});
  expect_agreement({.A = lattice_, .constraints = constraints}, {.nev = 5, .sigma = 5.3});
}

TEST_F(ComplexOnGpu, PairsInsideTheSpectrumAreCounted) {
  for (const Side side : {Side::both, Side::above, Side::below}) {
    expect_agreement({.A = lattice_}, {.nev = 5, .sigma = 5.3, .side = side});
    expect_agreement({.A = lattice_, .B = mass_}, {.nev = 5, .sigma = 0.7, .side = side});
  }
  expect_agreement({.A = lattice_}, {.interval = RealInterval{5, 5.2}});
  expect_agreement({.A = lattice_, .B = mass_}, {.interval = RealInterval{0.7, 0.75}});
  expect_agreement(
      {.A = lattice_},
      {.nev = 200, .interval = RealInterval{5, 5.2}, .filter = LanczosFilter::chebyshev});
  expect_agreement({.A = lattice_}, {.nev = 6, .certify = Certify::inertia});
}

TEST_F(ComplexOnGpu, SystemsOfEquations) {
  const ComplexBlock rhs = random_block(504, 3);
  for (const char* const type : {"auto", "none", "jacobi", "chebyshev"}) {
    Request request{.device = DeviceChoice::cuda};
    request.preconditioner.type = type;
    const Solution found = solve({.A = mass_, .rhs = rhs}, request);
    ASSERT_EQ(found.status, SolveStatus::converged) << found.reason;
    const Eigen::MatrixXcd X = test::to_dense_block(std::get<ComplexBlock>(found.vectors));
    const Eigen::MatrixXcd B = test::to_dense_block(rhs);
    EXPECT_LT((test::to_dense(mass_.view()) * X - B).norm(), 1e-6 * B.norm()) << type;
  }
}

TEST_F(ComplexOnGpu, DensitiesAreThoseOfTheHost) {
  Device host(DeviceChoice::host), gpu(DeviceChoice::cuda);
  const SpectralDensity expected = spectral_density(host, lattice_),
                        found = spectral_density(gpu, lattice_);
  for (const double end : {3.0, 6.0, 9.0}) {
    EXPECT_NEAR(found.count(0, end).count, expected.count(0, end).count, 1e-6 * 504);
  }
}

TEST_F(ComplexOnGpu, CallablesAreSolvedOnTheHost) {
  const ComplexMatrix product(504, 504, [](auto X, auto Y) {
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) Y(i, j) = X(i, j) * static_cast<double>(i + 1);
    }
  });
  const Solution found = solve({.A = product}, {.nev = 2});
  EXPECT_EQ(found.device, "host");
  EXPECT_EQ(found.device_note, "auto: A is a callable on host blocks");
  EXPECT_THROW(solve({.A = product}, {.nev = 2, .device = DeviceChoice::cuda}), RequestError);
}

}  // namespace
}  // namespace heddle
