#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "support/csr_invariants.hpp"
#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::VectorXd;
constexpr double kPi = std::numbers::pi;

std::vector<GallerySpec> specs() {
  return {{"peierls2d", {7, 5}},        {"peierls2d", {1, 6}, 0.3}, {"peierls3d", {4, 3, 5}, 0.17},
          {"random_flux3d", {3, 5, 4}}, {"ring_flux", {9}},         {"ring_flux", {3}, 0.7},
          {"haldane", {3, 3}},          {"haldane", {4, 5}},        {"random_hermitian", {60}, 8},
          {"random_hermitian", {3}, 2}};
}

MatrixXcd dense(const GallerySpec& spec) {
  HostContext context(2);
  return test::to_dense(generate<Complex>(context, spec).view());
}

VectorXd eigenvalues(const MatrixXcd& A) {
  return Eigen::SelfAdjointEigenSolver<MatrixXcd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

void expect_spectrum(const VectorXd& values, std::vector<double> expected) {
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(values.size(), std::ssize(expected));
  for (Index k = 0; k < values.size(); ++k) {
    EXPECT_NEAR(values(k), expected[static_cast<std::size_t>(k)],
                test::tolerance<double>(12, static_cast<double>(values.size())));
  }
}

TEST(GalleryComplex, EveryStructureIsTestedHere) {
  const auto all = specs();
  for (const GalleryStructure& structure : gallery_structures()) {
    const bool tested = std::any_of(all.begin(), all.end(), [&](const GallerySpec& spec) {
      return spec.name == structure.name;
    });
    EXPECT_EQ(tested, structure.complex) << structure.name;
  }
}

TEST(GalleryComplex, RowsAreSortedFiniteAndHermitianToTheBit) {
  HostContext context(2);
  for (const GallerySpec& spec : specs()) {
    SCOPED_TRACE(spec.name);
    const auto A = generate<Complex>(context, spec);
    EXPECT_EQ(test::csr_fault(A.view()), "");
    EXPECT_TRUE(equals_transpose(A.view()));
    EXPECT_TRUE(std::all_of(A.view().values, A.view().values + A.nnz(), is_finite<Complex>));
    const MatrixXcd dense = test::to_dense(A.view());
    EXPECT_EQ(dense, MatrixXcd(dense.adjoint()));
  }
}

TEST(GalleryComplex, IsPositiveDefiniteAsTheListSays) {
  for (const GallerySpec& spec : specs()) {
    for (const GalleryStructure& structure : gallery_structures()) {
      if (structure.name != spec.name || !structure.positive_definite) continue;
      EXPECT_GT(eigenvalues(dense(spec))(0), 1e-3) << spec.name;
    }
  }
  EXPECT_LT(eigenvalues(dense({"haldane", {4, 5}}))(0), -1);
  EXPECT_NEAR(eigenvalues(dense({"ring_flux", {8}, 1}))(0), 0, 1e-14);  // a whole flux quantum
}

TEST(GalleryComplex, RowsAreTheSameForAllThreadsAndWindows) {
  HostContext one(1);
  for (const GallerySpec& spec : specs()) {
    SCOPED_TRACE(spec.name);
    const auto A = generate<Complex>(one, spec);
    for (const int threads : {2, 5}) {
      HostContext many(threads);
      EXPECT_TRUE(test::same_bits(A.view(), generate<Complex>(many, spec).view()));
    }
    const Index n = A.rows();
    for (const auto& [first, last] :
         std::vector<std::pair<Index, Index>>{{0, 1}, {n / 3, n}, {n - 1, n}, {n, n}}) {
      const auto part = generate<Complex>(one, spec, {first, last});
      ASSERT_EQ(part.rows(), last - first);
      EXPECT_EQ(part.cols(), n);
      const MatrixXcd rows = test::to_dense(A.view()).middleRows(first, last - first);
      EXPECT_EQ(test::to_dense(part.view()), rows);
    }
    EXPECT_THROW(generate<Complex>(one, spec, {n + 1, n + 2}), InvalidArgument);
  }
}

TEST(GalleryComplex, SeedsChangeRandomStructuresOnly) {
  for (GallerySpec spec : specs()) {
    const MatrixXcd A = dense(spec);
    spec.seed += 1;
    EXPECT_EQ(A != dense(spec), spec.name.find("random") == 0) << spec.name;
  }
}

TEST(Peierls, EntriesAreThoseOfLandausGauge) {
  constexpr double kFlux = 0.3;
  const Index nx = 4, ny = 3, nz = 2;
  const MatrixXcd A = dense({"peierls3d", {nx, ny, nz}, kFlux});
  MatrixXcd expected = MatrixXcd::Zero(A.rows(), A.cols());
  const auto site = [&](Index x, Index y, Index z) { return x + nx * (y + ny * z); };
  const auto join = [&](Index i, Index j, double theta) {
    expected(i, j) = -std::polar(1.0, theta);
    expected(j, i) = -std::polar(1.0, -theta);
  };
  for (Index x = 0; x < nx; ++x) {
    for (Index y = 0; y < ny; ++y) {
      for (Index z = 0; z < nz; ++z) {
        const Index i = site(x, y, z);
        expected(i, i) = 6;
        if (x + 1 < nx) join(i, site(x + 1, y, z), 0);
        if (y + 1 < ny) join(i, site(x, y + 1, z), 2 * kPi * kFlux * static_cast<double>(x));
        if (z + 1 < nz) join(i, site(x, y, z + 1), 0);
      }
    }
  }
  EXPECT_LT((A - expected).cwiseAbs().maxCoeff(), 1e-15);
}

/// The product of the entries around the plaquette at (x, y), which the gauge does not change.
TEST(Peierls, EachPlaquetteHasTheFlux) {
  const Index nx = 6, ny = 5;
  for (const double flux : {0.25, 0.1, 0.8}) {
    const MatrixXcd A = dense({"peierls2d", {nx, ny}, flux});
    for (Index x = 0; x + 1 < nx; ++x) {
      for (Index y = 0; y + 1 < ny; ++y) {
        const Index i = x + nx * y;
        const Complex around =
            A(i, i + 1) * A(i + 1, i + 1 + nx) * A(i + 1 + nx, i + nx) * A(i + nx, i);
        EXPECT_LT(std::abs(around - std::polar(1.0, 2 * kPi * flux)), 1e-14);
      }
    }
  }
}

TEST(Peierls, AQuarterIsTheDefaultAndExact) {
  const MatrixXcd A = dense({"peierls2d", {4, 2}});
  EXPECT_EQ(A, dense({"peierls2d", {4, 2}, 0.25}));
  const std::vector<Complex> upward = {-1, {0, -1}, 1, {0, 1}};
  for (Index x = 0; x < 4; ++x) EXPECT_EQ(A(x, x + 4), upward[static_cast<std::size_t>(x)]);
}

TEST(Peierls, AWholeFluxQuantumIsNoField) {
  HostContext context(1);
  for (const double flux : {1.0, 2.0}) {
    const auto expected = generate<double>(context, {"laplace3d", {3, 4, 2}});
    EXPECT_EQ(dense({"peierls3d", {3, 4, 2}, flux}),
              test::to_dense(expected.view()).cast<Complex>());
  }
}

/// With half a flux quantum the hoppings T_x and T_y anticommute, so that (A − 4)² = T_x² + T_y²,
/// and the lattice is bipartite: 4 ± (4 cos²(π j/(nx + 1)) + 4 cos²(π k/(ny + 1)))^(1/2).
TEST(Peierls, HalfAFluxQuantumHasAClosedForm) {
  const Index nx = 6, ny = 4, nz = 3;
  std::vector<double> flat, solid;
  const auto cosine = [](Index j, Index n) {
    return 2 * std::cos(kPi * static_cast<double>(j) / static_cast<double>(n + 1));
  };
  for (Index j = 1; j <= nx; ++j) {
    for (Index k = 1; k <= ny; ++k) {
      // cos² meets each value of T_x² twice, for j and nx + 1 − j: one of them takes the sign.
      const double root = std::hypot(cosine(j, nx), cosine(k, ny));
      flat.push_back(2 * j <= nx ? 4 + root : 4 - root);
      for (Index l = 1; l <= nz; ++l) {
        solid.push_back((2 * j <= nx ? 6 + root : 6 - root) - cosine(l, nz));
      }
    }
  }
  expect_spectrum(eigenvalues(dense({"peierls2d", {nx, ny}, 0.5})), flat);
  expect_spectrum(eigenvalues(dense({"peierls3d", {nx, ny, nz}, 0.5})), solid);
}

TEST(RandomFlux, PhasesAreThoseOfPhilox) {
  const Index nx = 3, ny = 4, nz = 2;
  constexpr std::uint64_t kSeed = 7;
  const MatrixXcd A = dense({"random_flux3d", {nx, ny, nz}, 0, kSeed});
  const Index stride[3] = {1, nx, nx * ny}, extent[3] = {nx, ny, nz};
  Index bonds = 0;
  for (Index i = 0; i < A.rows(); ++i) {
    EXPECT_EQ(A(i, i), Complex(6));
    const Index at[3] = {i % nx, i / nx % ny, i / (nx * ny)};
    for (int d = 0; d < 3; ++d) {
      if (at[d] + 1 == extent[d]) continue;
      const PhiloxBlock bits = random_block(kSeed, 0, static_cast<std::uint64_t>(3 * i + d));
      const double theta = 2 * kPi * unit_uniform(bits.words[0], bits.words[1]);
      EXPECT_LT(std::abs(A(i, i + stride[d]) + std::polar(1.0, theta)), 1e-14);
      ++bonds;
    }
  }
  EXPECT_EQ((A.array() != Complex(0)).count(), A.rows() + 2 * bonds);
}

/// Without plaquettes, phases are a choice of gauge.
TEST(RandomFlux, AChainHasTheSpectrumOfTheLaplacian) {
  constexpr Index n = 20;
  for (const std::vector<Index>& size : {std::vector<Index>{n, 1, 1}, {1, n, 1}, {1, 1, n}}) {
    std::vector<double> expected;
    for (Index j = 1; j <= n; ++j) {
      expected.push_back(6 - 2 * std::cos(kPi * static_cast<double>(j) / (n + 1)));
    }
    expect_spectrum(eigenvalues(dense({"random_flux3d", size})), expected);
  }
}

TEST(RingFlux, HasItsClosedForm) {
  for (const Index n : {3, 4, 17}) {
    for (const double flux : {0.25, 0.5, 0.9, 3.3}) {
      std::vector<double> expected;
      for (Index k = 0; k < n; ++k) {
        const double angle = 2 * kPi * (static_cast<double>(k) + flux) / static_cast<double>(n);
        expected.push_back(2 - 2 * std::cos(angle));
      }
      expect_spectrum(eigenvalues(dense({"ring_flux", {n}, flux})), expected);
    }
  }
  const MatrixXcd A = dense({"ring_flux", {4}, 0.5});
  EXPECT_LT(std::abs(A(0, 1) + std::polar(1.0, kPi / 4)), 1e-15);
  EXPECT_LT(std::abs(A(3, 0) + std::polar(1.0, kPi / 4)), 1e-15);
}

TEST(Haldane, HasItsBands) {
  for (const auto& [nx, ny] : std::vector<std::pair<Index, Index>>{{3, 3}, {4, 7}, {6, 5}}) {
    std::vector<double> expected;
    for (Index p = 0; p < nx; ++p) {
      for (Index q = 0; q < ny; ++q) {
        const double k1 = 2 * kPi * static_cast<double>(p) / static_cast<double>(nx);
        const double k2 = 2 * kPi * static_cast<double>(q) / static_cast<double>(ny);
        const double hop = std::abs(1.0 + std::polar(1.0, -k1) + std::polar(1.0, -k2));
        const double mass = 0.2 * (std::sin(k1) - std::sin(k2) + std::sin(k2 - k1));
        expected.push_back(std::hypot(hop, mass));
        expected.push_back(-std::hypot(hop, mass));
      }
    }
    expect_spectrum(eigenvalues(dense({"haldane", {nx, ny}})), expected);
  }
  // At the Dirac points, which a lattice of 3×3 cells meets, the gap is 6√3 t₂.
  const VectorXd values = eigenvalues(dense({"haldane", {3, 3}}));
  EXPECT_NEAR(values(9) - values(8), 0.6 * std::sqrt(3.0), 1e-14);
}

TEST(RandomHermitian, DiagonalExceedsTheRestOfItsRowByOne) {
  HostContext context(2);
  const auto matrix = generate<Complex>(context, {"random_hermitian", {100}, 8});
  const MatrixXcd A = test::to_dense(matrix.view());
  const VectorXd others = A.cwiseAbs().rowwise().sum() - A.diagonal().cwiseAbs();
  EXPECT_EQ(A.diagonal().imag().cwiseAbs().maxCoeff(), 0);
  EXPECT_LE((A.diagonal().real() - others - VectorXd::Ones(100)).cwiseAbs().maxCoeff(),
            test::tolerance<double>(A.cwiseAbs().maxCoeff(), 100));
  EXPECT_GE(eigenvalues(A)(0), 1 - test::tolerance<double>(A.cwiseAbs().maxCoeff(), 100));
  // The places, and the real parts off the diagonal, are those of random_symmetric.
  const auto real = generate<double>(context, {"random_symmetric", {100}, 8});
  MatrixXcd difference = A - test::to_dense(real.view()).cast<Complex>();
  difference.diagonal().setZero();
  EXPECT_EQ(matrix.nnz(), real.nnz());
  EXPECT_EQ(difference.real().cwiseAbs().maxCoeff(), 0);
  EXPECT_GT(difference.imag().cwiseAbs().maxCoeff(), 0.9);
}

TEST(GalleryComplex, RealStructuresHaveNoImaginaryPart) {
  HostContext context(2);
  for (const GallerySpec& spec : std::vector<GallerySpec>{{"laplace2d", {4, 3}},
                                                          {"random_uniform", {9, 7}, 3},
                                                          {"rmat", {4}, 3},
                                                          {"random_symmetric", {30}, 6}}) {
    const auto A = generate<double>(context, spec);
    EXPECT_EQ(dense(spec), test::to_dense(A.view()).cast<Complex>()) << spec.name;
  }
}

/// The message with which a spec is refused, empty if it is not.
template <class T>
std::string refusal(const GallerySpec& spec) {
  HostContext context(1);
  try {
    generate<T>(context, spec);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(GalleryComplexErrors, RealMatricesOfComplexStructuresAreRefused) {
  for (const GallerySpec& spec : specs()) {
    for (const std::string& message : {refusal<double>(spec), refusal<float>(spec)}) {
      EXPECT_EQ(message.find(spec.name), 0u) << message;
      EXPECT_NE(message.find("this structure is complex"), message.npos) << message;
    }
  }
}

TEST(GalleryComplexErrors, SpecsThatDoNotFit) {
  const auto expect_refused = [](const GallerySpec& spec, const std::vector<std::string>& words) {
    const std::string message = refusal<Complex>(spec);
    EXPECT_FALSE(message.empty()) << spec.name << " was accepted";
    for (const std::string& word : words) {
      EXPECT_NE(message.find(word), message.npos) << "no \"" << word << "\" in: " << message;
    }
  };
  expect_refused({"peirels2d", {4, 4}}, {"did you mean \"peierls2d\"?"});
  expect_refused({"peierls2d", {4}}, {"[nx, ny]", "got 1"});
  expect_refused({"ring_flux", {2}}, {"size 1", "at least 3", "got 2"});
  expect_refused({"haldane", {3, 2}}, {"size 2", "at least 3", "got 2"});
  expect_refused({"haldane", {3, 3}, 1}, {"no density"});
  expect_refused({"random_flux3d", {3, 3, 3}, 1}, {"no density"});
  expect_refused({"peierls2d", {3, 3}, -0.5}, {"positive", "-0.5"});
  expect_refused({"ring_flux", {3}, std::numeric_limits<double>::infinity()}, {"inf"});
  expect_refused({"random_hermitian", {8}, 8}, {"density 8", "7 other columns"});
  for (const GallerySpec& small : specs()) {
    expect_refused(
        {small.name, std::vector<Index>(small.size.size(), std::numeric_limits<Index>::max()),
         small.density},
        {small.name, "2147483647"});
  }
}

}  // namespace
}  // namespace heddle
