#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>

#include "support/cuda_test.hpp"

// Solvers of Hermitian matrices on a GPU against the same solvers on the host.
namespace heddle {
namespace {

using Complex = std::complex<double>;

template <class Ctx>
using Operator = SparseOperator<Complex, Ctx>;

enum class Way { lobpcg, jacobi, chebyshev, filter, inverse, largest };

/// Six pairs of A.
template <class Ctx>
EigenResult<Complex, typename Ctx::Space> pairs(Ctx& context, Operator<Ctx>& A, Way way) {
  EigenProblem<Complex, Ctx> problem{.A = &A};
  if (way == Way::filter || way == Way::inverse || way == Way::largest) {
    BlockLanczosOptions options;
    options.nev = 6;
    options.tolerance = 1e-10;
    options.which = way == Way::largest ? Which::largest : Which::smallest;
    options.filter = way == Way::filter    ? LanczosFilter::chebyshev
                     : way == Way::inverse ? LanczosFilter::inverse
                                           : LanczosFilter::none;
    ShiftedInverse<Complex, Ctx> inverse(A.matrix(), {});
    if (way == Way::inverse) problem.shifted_inverse = &inverse;
    return block_lanczos<Complex, Ctx>(context, problem, options);
  }
  std::unique_ptr<Preconditioner<Complex, Ctx>> M;
  if (way == Way::jacobi) {
    M = std::make_unique<JacobiPreconditioner<Complex, Ctx>>(context, A.matrix());
  } else if (way == Way::chebyshev) {
    M = std::make_unique<ChebyshevPreconditioner<Complex, Ctx>>(context, A.matrix());
  }
  problem.preconditioner = M.get();
  LobpcgOptions options;
  options.nev = 6;
  options.tolerance = 1e-10;
  return lobpcg<Complex, Ctx>(context, problem, options);
}

class HermitianOnGpu : public test::CudaTest {
 protected:
  /// A lattice with a random magnetic flux through each plaquette, and another number on each site.
  HostCsrMatrix<Complex> matrix() {
    auto A = generate<Complex>(host, {.name = "random_flux3d", .size = {9, 8, 7}});
    for (Index i = 0; i < A.rows(); ++i) {
      for (std::int64_t e = A.row_offsets()[i]; e < A.row_offsets()[i + 1]; ++e) {
        if (A.columns()[e] == i) A.values()[e] += static_cast<double>(i % 7);
      }
    }
    return A;
  }

  HostContext host{1};
};

TEST_F(HermitianOnGpu, PairsAreThoseOfTheHost) {
  Operator<HostContext> A(host, matrix());
  Operator<CudaContext> there(context(), place(context(), matrix()));
  for (const Way way :
       {Way::lobpcg, Way::jacobi, Way::chebyshev, Way::filter, Way::inverse, Way::largest}) {
    const auto expected = pairs(host, A, way);
    const auto found = pairs(context(), there, way);
    const auto again = pairs(context(), there, way);
    ASSERT_EQ(found.status, SolveStatus::converged) << static_cast<int>(way) << found.reason;
    ASSERT_EQ(found.eigenvalues.size(), expected.eigenvalues.size());
    EXPECT_EQ(found.eigenvalues, again.eigenvalues);
    for (std::size_t k = 0; k < expected.eigenvalues.size(); ++k) {
      EXPECT_NEAR(found.eigenvalues[k], expected.eigenvalues[k],
                  found.error_bounds[k] + expected.error_bounds[k] + 1e-13)
          << static_cast<int>(way);
    }
  }
}

TEST_F(HermitianOnGpu, SystemsAreThoseOfTheHost) {
  const Operator<HostContext> A(host, matrix());
  Operator<CudaContext> there(context(), place(context(), matrix()));
  const Index n = A.rows();
  MultiVector<Complex, HostSpace> B(host, n, 3), residual(host, n, 3);
  fill_random<Complex>(host, 3, 0, B.view());
  const auto right = place(context(), std::move(B));
  for (const CgAlgorithm algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    options.tolerance = 1e-10;
    auto solved =
        block_cg<Complex, CudaContext>(context(), {.A = &there, .B = right.view()}, options);
    ASSERT_EQ(solved.status, SolveStatus::converged) << solved.reason;
    const auto X = fetch(context(), host, std::move(solved.solution));
    fetch<Complex>(context(), right.view(), residual.view());
    A.plan().multiply(host, 1.0, X.view(), -1.0, residual.view());
    double norms[3];
    column_norms<Complex>(host, residual.view(), {norms, 3, 1, 3});
    EXPECT_LT(*std::max_element(norms, norms + 3), 1e-8 * std::sqrt(static_cast<double>(n)));
  }
}

}  // namespace
}  // namespace heddle
