#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_factor.hpp>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "solvers/factor/triangular_solves_battery.hpp"
#include "solvers/preconditioners/incomplete_cholesky/symmetric_matrices.hpp"
#include "support/csr_invariants.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

template <class T>
class IncompleteCholeskyCuda : public test::CudaTest {
 protected:
  /// M⁻¹X for the X of `random_vectors`.
  template <class Ctx>
  MultiVector<T, HostSpace> applied(Ctx& context, IncompleteCholeskyPreconditioner<T, Ctx>& M,
                                    Index b) {
    auto X = place(context, test::random_vectors<T>(host_, M.rows(), b));
    MultiVector<T, typename Ctx::Space> Y(context, M.rows(), b);
    M.apply(context, X.view(), Y.view());
    return fetch(context, host_, std::move(Y));
  }

  /// The factor of A by the GPU has the shift and the pattern of the host's, the values of the
  /// host's within rounding, and the same bits every time.
  void expect_the_factor_of_the_host(const HostCsrMatrix<T>& A, const std::string& name) {
    SCOPED_TRACE(name);
    const auto expected = detail::incomplete_cholesky<T>(host_, A.view());
    const auto there = place(context(), convert<T>(host_, A.view()));
    const auto made = detail::incomplete_cholesky<T>(context(), there.view());
    const HostCsrMatrix<T> found = fetch(context(), host_, made.L.view());
    EXPECT_EQ(made.shift, expected.shift);
    EXPECT_EQ(made.attempts, expected.attempts);
    const CsrView<T, HostSpace> L = found.view();
    const CsrView<T, HostSpace> E = expected.L.view();
    ASSERT_EQ(L.nnz, E.nnz);
    EXPECT_TRUE(std::equal(L.row_offsets, L.row_offsets + L.rows + 1, E.row_offsets));
    EXPECT_TRUE(std::equal(L.columns, L.columns + L.nnz, E.columns));
    for (Index i = 0; i < L.rows; ++i) {
      double size = 0;
      for (auto e = L.row_offsets[i]; e < L.row_offsets[i + 1]; ++e) {
        size = std::max(size, static_cast<double>(std::abs(E.values[e])));
      }
      const auto length = static_cast<double>(L.row_offsets[i + 1] - L.row_offsets[i]);
      for (auto e = L.row_offsets[i]; e < L.row_offsets[i + 1]; ++e) {
        ASSERT_LE(std::abs(L.values[e] - E.values[e]), test::tolerance<T>(size, length))
            << "row " << i;
      }
    }
    const auto again = detail::incomplete_cholesky<T>(context(), there.view());
    EXPECT_TRUE(test::same_bits(fetch(context(), host_, again.L.view()).view(), L));
  }

  /// The Laplacian of a random graph of n vertices, of which `hubs` have edges to two thirds of all
  /// others, plus 0.01·I.
  HostCsrMatrix<T> graph(Index n, Index hubs) {
    std::mt19937 engine(11);
    std::map<std::pair<Index, Index>, double> weights;
    const auto connect = [&](Index a, Index b) {
      if (a != b) weights[{a, b}] = weights[{b, a}] = 0.1 + static_cast<double>(engine() % 9) / 10;
    };
    const auto any = [&] { return static_cast<Index>(engine() % static_cast<unsigned>(n)); };
    for (Index i = 0; i < n; ++i) connect(i, any());
    for (Index h = 0; h < hubs; ++h) {
      const Index hub = any();
      for (Index i = 0; i < n; ++i) {
        if (engine() % 3 != 0) connect(hub, i);
      }
    }
    std::vector<double> degrees(static_cast<std::size_t>(n), 0.01);
    std::vector<Triplet<T>> entries;
    for (const auto& [edge, weight] : weights) {
      degrees[static_cast<std::size_t>(edge.first)] += weight;
      entries.push_back({edge.first, edge.second, static_cast<T>(-weight)});
    }
    for (Index i = 0; i < n; ++i) {
      entries.push_back({i, i, static_cast<T>(degrees[static_cast<std::size_t>(i)])});
    }
    return csr_from_triplets<T>(host_, n, n, entries);
  }

  using test::CudaTest::context;
  HostContext host_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(IncompleteCholeskyCuda, Scalars);

using IncompleteCholeskyRoundedCuda = IncompleteCholeskyCuda<float>;
using IncompleteCholeskyComplexCuda = IncompleteCholeskyCuda<std::complex<double>>;

TYPED_TEST(IncompleteCholeskyCuda, DoesWhatItDoesOnTheHost) {
  using T = TypeParam;
  const auto A = generate<T>(this->host_, {"elasticity3d", {5, 6, 7}});
  const auto there = place(this->context(), generate<T>(this->host_, {"elasticity3d", {5, 6, 7}}));
  for (const auto solve : {TriangularSolve::level_scheduled, TriangularSolve::iterated}) {
    IncompleteCholeskyPreconditioner<T, HostContext> on_host(this->host_, A.view(), solve);
    IncompleteCholeskyPreconditioner<T, CudaContext> on_gpu(this->context(), there.view(), solve);
    EXPECT_EQ(on_gpu.shift(), on_host.shift());
    EXPECT_EQ(on_gpu.row_levels(), on_host.row_levels());
    EXPECT_EQ(on_gpu.row_levels() > 0, solve == TriangularSolve::level_scheduled);
    for (const Index b : {1, 5, 16}) {
      const auto expected = this->applied(this->host_, on_host, b);
      const auto found = this->applied(this->context(), on_gpu, b);
      double size = 0, difference = 0;
      for (Index i = 0; i < A.rows(); ++i) {
        for (Index j = 0; j < b; ++j) {
          const auto value = static_cast<double>(expected.view()(i, j));
          size += value * value;
          difference += std::pow(value - static_cast<double>(found.view()(i, j)), 2);
        }
      }
      EXPECT_LE(std::sqrt(difference),
                test::tolerance<T>(std::sqrt(size), static_cast<double>(A.rows())));
    }
  }
}

/// Rows that fit into shared memory and rows that do not, short rows that depend on long ones, and
/// a chain so long that the host factors it.
TYPED_TEST(IncompleteCholeskyCuda, FactorsAsTheHostDoes) {
  using T = TypeParam;
  for (const GallerySpec& spec :
       {GallerySpec{"laplace2d", {70, 90}}, GallerySpec{"laplace3d", {20, 21, 22}},
        GallerySpec{"stencil27", {12, 13, 14}}, GallerySpec{"elasticity3d", {12, 11, 10}},
        GallerySpec{"laplace1d", {3000}}}) {
    this->expect_the_factor_of_the_host(generate<T>(this->host_, spec), spec.name);
  }
  this->expect_the_factor_of_the_host(this->graph(3000, 0), "graph");
  this->expect_the_factor_of_the_host(this->graph(3000, 4), "graph with hubs");
  this->expect_the_factor_of_the_host(this->graph(200, 400), "all entries");
  this->expect_the_factor_of_the_host(
      csr_from_triplets<T>(this->host_, 0, 0, std::vector<Triplet<T>>{}), "no rows");
}

/// In each of many blocks IC(0) breaks down. Source: Kershaw, J. Comput. Phys. 26 (1978) 43.
TYPED_TEST(IncompleteCholeskyCuda, ShiftsAsTheHostDoes) {
  using T = TypeParam;
  std::vector<Triplet<T>> entries;
  for (Index first = 0; first < 20000; first += 4) {
    for (Index k = 0; k < 4; ++k) {
      const T beside = k == 3 ? T{2} : T{-2};
      const Index next = first + (k + 1) % 4;
      entries.push_back({first + k, first + k, T{3}});
      entries.push_back({first + k, next, beside});
      entries.push_back({next, first + k, beside});
    }
  }
  const auto A = csr_from_triplets<T>(this->host_, 20000, 20000, entries);
  EXPECT_GT(detail::incomplete_cholesky<T>(this->host_, A.view()).attempts, 1);
  this->expect_the_factor_of_the_host(A, "Kershaw");
}

TYPED_TEST(IncompleteCholeskyCuda, IsPositiveDefiniteForEverySymmetricMatrix) {
  using T = TypeParam;
  const auto matrices = test::symmetric_matrices_without_factor<T>(this->host_);
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    this->expect_the_factor_of_the_host(matrices[k], "matrix " + std::to_string(k));
  }
}

/// In single precision for a matrix in double precision: the factor of the host, rounded.
TEST_F(IncompleteCholeskyRoundedCuda, DoesWhatItDoesOnTheHost) {
  const auto A = generate<double>(host_, {"elasticity3d", {5, 6, 7}});
  const auto there = place(context(), convert<double>(host_, A.view()));
  IncompleteCholeskyPreconditioner<float, HostContext> on_host(host_, A.view());
  IncompleteCholeskyPreconditioner<float, CudaContext> on_gpu(context(), there.view());
  const auto expected = test::all_entries<float>(applied(host_, on_host, 3).view());
  const auto found = test::all_entries<float>(applied(context(), on_gpu, 3).view());
  double size = 0, difference = 0;
  for (std::size_t e = 0; e < expected.size(); ++e) {
    size = std::hypot(size, expected[e]);
    difference = std::hypot(difference, expected[e] - found[e]);
  }
  EXPECT_LE(difference, test::tolerance<float>(size, static_cast<double>(A.rows())));
}

/// Hermitian matrices: rows that fit into shared memory and rows that do not, and a shift.
TEST_F(IncompleteCholeskyComplexCuda, FactorsAsTheHostDoes) {
  using Complex = std::complex<double>;
  for (const GallerySpec& spec :
       {GallerySpec{.name = "random_flux3d", .size = {20, 21, 22}},
        GallerySpec{.name = "peierls2d", .size = {70, 90}, .density = 0.1},
        GallerySpec{.name = "random_hermitian", .size = {3000}, .density = 40},
        GallerySpec{.name = "random_hermitian", .size = {400}, .density = 300},
        GallerySpec{.name = "haldane", .size = {30, 31}}}) {
    const auto A = generate<Complex>(host_, spec);
    expect_the_factor_of_the_host(A, spec.name);
    const auto there = place(context(), generate<Complex>(host_, spec));
    for (const auto solve : {TriangularSolve::level_scheduled, TriangularSolve::iterated}) {
      IncompleteCholeskyPreconditioner<Complex, HostContext> on_host(host_, A.view(), solve);
      IncompleteCholeskyPreconditioner<Complex, CudaContext> on_gpu(context(), there.view(), solve);
      for (const Index b : {1, 5, 16}) {
        const auto expected = test::all_entries<Complex>(applied(host_, on_host, b).view());
        const auto found = test::all_entries<Complex>(applied(context(), on_gpu, b).view());
        ASSERT_EQ(found.size(), expected.size());
        double size = 0, difference = 0;
        for (std::size_t e = 0; e < expected.size(); ++e) {
          size = std::hypot(size, std::abs(expected[e]));
          difference = std::hypot(difference, std::abs(expected[e] - found[e]));
        }
        EXPECT_LE(difference, test::tolerance<Complex>(size, static_cast<double>(A.rows()), 256));
      }
    }
  }
}

TYPED_TEST(IncompleteCholeskyCuda, RefusesWhatIsNotSquare) {
  using T = TypeParam;
  const auto wide =
      place(this->context(), csr_from_triplets<T>(this->host_, 2, 3, std::vector<Triplet<T>>{}));
  using IC = IncompleteCholeskyPreconditioner<T, CudaContext>;
  EXPECT_THROW(IC(this->context(), wide.view()), InvalidArgument);
}

TYPED_TEST(IncompleteCholeskyCuda, SolvesExactlyUnlessAskedOtherwise) {
  using T = TypeParam;
  const auto A = place(this->context(), generate<T>(this->host_, {"laplace3d", {12, 13, 14}}));
  IncompleteCholeskyPreconditioner<T, CudaContext> automatic(this->context(), A.view());
  IncompleteCholeskyPreconditioner<T, CudaContext> exact(this->context(), A.view(),
                                                         TriangularSolve::level_scheduled);
  EXPECT_EQ(automatic.row_levels(), 12 + 13 + 14 - 2);
  const auto first = this->applied(this->context(), automatic, 8);
  const auto second = this->applied(this->context(), exact, 8);
  EXPECT_EQ(test::all_entries<T>(first.view()), test::all_entries<T>(second.view()));
}

TYPED_TEST(IncompleteCholeskyCuda, ReportsWhatItsSetupTook) {
  using T = TypeParam;
  const auto A = place(this->context(), generate<T>(this->host_, {"laplace2d", {30, 31}}));
  for (const auto solve : {TriangularSolve::level_scheduled, TriangularSolve::iterated}) {
    const auto before = this->context().allocation_count().live_bytes;
    IncompleteCholeskyPreconditioner<T, CudaContext> M(this->context(), A.view(), solve);
    EXPECT_EQ(M.setup_cost().bytes(), this->context().allocation_count().live_bytes - before);
    EXPECT_GE(M.setup_cost().bytes(), static_cast<std::size_t>(A.nnz()) * sizeof(T));
  }
}

class TriangularSolvesCuda : public test::CudaTest {};

TEST_F(TriangularSolvesCuda, Bcsstk17) { expect_solves_with_bcsstk17(context()); }

}  // namespace
}  // namespace heddle
