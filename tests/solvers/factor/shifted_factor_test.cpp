#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <fstream>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/shifted_factor.hpp>
#include <heddle/solvers/factor/shifted_solves.hpp>
#include <heddle/solvers/operators/indefinite_inverse.hpp>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/decompositions.hpp"
#include "support/dense.hpp"
#include "support/source_dir.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using detail::FactorLibraryRow;
using detail::ShiftedFactor;
using test::eigenvalues;
using test::to_dense;

constexpr double kRoomy = 1e9;
const CsrView<double, HostSpace> kIdentity{};

std::vector<const FactorLibraryRow*> libraries() {
  std::vector<const FactorLibraryRow*> all;
  for (const FactorLibraryRow& row : detail::factor_libraries()) {
    if (row.make != nullptr && row.missing().empty()) {
      all.push_back(&row);
    }
  }
  return all;
}

/// The cells of the row of docs/building.md that begins with the name of a library.
std::vector<std::string> documented(std::string_view name) {
  std::ifstream page(test::source_dir() / "docs/building.md");
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| " + std::string(name))) continue;
    std::vector<std::string> cells;
    for (std::size_t from = 2, to; (to = line.find(" |", from)) != std::string::npos; from = to + 3)
      cells.push_back(line.substr(from, to - from));
    if (cells.size() == 6) return cells;
  }
  return {};
}

TEST(FactorLibraries, AreDocumented) {
  for (const FactorLibraryRow& row : detail::factor_libraries()) {
    const std::vector<std::string> cells = documented(row.name);
    ASSERT_EQ(cells.size(), 6U) << row.name;
    EXPECT_EQ(cells[1], row.definite && row.inertia ? "ends and inside"
                        : row.definite              ? "ends"
                                                    : "inside");
    EXPECT_EQ(cells[2] == "no", !row.inertia) << row.name;
    EXPECT_EQ(cells[3] == "no", !row.inertia) << row.name;
    EXPECT_EQ(cells[4], row.on_device ? "GPU" : "host");
    EXPECT_EQ(cells[5], row.licence);
  }
}

TEST(FactorLibraries, TheCheapestOneIsTaken) {
  const std::string_view all = detail::indefinite_library().name;
  EXPECT_EQ(detail::cheapest_indefinite_library(1000, {1e4, 1e6}).name, "Eigen");
  EXPECT_EQ(detail::cheapest_indefinite_library(1000, {1e7, 1e10}).name, all);
}

/// Pairs ±1 of [0 1; 1 0] have no pivot of one row at σ = 0.
TEST(IndefiniteInverse, TakesPivotsWhereTheCheapestLibraryFails) {
  HostContext context;
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < 40; i += 2) {
    entries.push_back({i, i + 1, 1});
    entries.push_back({i + 1, i, 1});
  }
  const auto A = csr_from_triplets<double>(context, 40, 40, entries);
  IndefiniteInverse<double, HostContext> inverse(A.view());
  ASSERT_TRUE(inverse.factor(context, 0.25));
  EXPECT_EQ(inverse.library(), "Eigen");
  EXPECT_EQ(inverse.below(), 20);
  const bool pivots = detail::indefinite_library().pivots;
  EXPECT_EQ(inverse.factor(context, 0), pivots);
  EXPECT_EQ(inverse.library(), detail::indefinite_library().name);
  if (pivots) {
    EXPECT_EQ(inverse.below(), 20);
  }
}

/// A Laplacian of a grid with random numbers in [−width/2, width/2] added to its diagonal, as in
/// Anderson's model of a disordered crystal.
HostCsrMatrix<double> disordered(HostContext& context, const std::vector<Index>& size,
                                 double width) {
  auto A = generate<double>(context, {size.size() == 2 ? "laplace2d" : "laplace3d", size});
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> disorder(-width / 2, width / 2);
  for (Index i = 0; i < A.rows(); ++i) {
    for (std::int64_t k = A.row_offsets()[i]; k < A.row_offsets()[i + 1]; ++k) {
      if (A.columns()[k] == i) A.values()[k] += disorder(engine);
    }
  }
  return A;
}

HostCsrMatrix<std::complex<double>> without_diagonal(HostContext& context,
                                                     const HostCsrMatrix<std::complex<double>>& A) {
  const CsrView<std::complex<double>, HostSpace> view = A.view();
  std::vector<Triplet<std::complex<double>>> entries;
  for (Index i = 0; i < view.rows; ++i) {
    for (auto k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      if (view.columns[k] != i) entries.push_back({i, view.columns[k], view.values[k]});
    }
  }
  return csr_from_triplets<std::complex<double>>(context, view.rows, view.cols, entries);
}

/// The tests of `ShiftedFactor` run with every library that is there.
class ShiftedFactorLibraries : public testing::TestWithParam<const FactorLibraryRow*> {
 protected:
  /// Compares counts between eigenvalues with dense ones. Those of a library without pivots may be
  /// refused. Returns how many were.
  int compare_counts(const HostCsrMatrix<double>& A, const HostCsrMatrix<double>& B) {
    const Eigen::MatrixXd dense = to_dense(A.view());
    const Eigen::MatrixXd mass =
        B.rows() == 0 ? Eigen::MatrixXd::Identity(dense.rows(), dense.cols()) : to_dense(B.view());
    const Eigen::VectorXd truth = eigenvalues(dense, mass);
    const double span = truth[truth.size() - 1] - truth[0];
    ShiftedFactor factor(A.view(), B.view(), kRoomy, *GetParam());
    int refused = 0;
    for (Eigen::Index i = -1; i < truth.size(); i += 3) {
      const double low = i < 0 ? truth[0] - span : truth[i];
      const double high = i + 1 < truth.size() ? truth[i + 1] : truth[i] + span;
      if (high - low < 1e-6 * span) continue;
      for (const double part : {0.5, 0.1}) {
        if (!factor.factor(low + part * (high - low))) {
          ++refused;
          continue;
        }
        EXPECT_EQ(factor.below(), i + 1) << GetParam()->name << " " << factor.shift();
      }
    }
    return refused;
  }

  HostContext context_;
};

INSTANTIATE_TEST_SUITE_P(All, ShiftedFactorLibraries, testing::ValuesIn(libraries()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST_P(ShiftedFactorLibraries, CountsAreThoseOfADenseSolve) {
  EXPECT_EQ(compare_counts(generate<double>(context_, {"laplace2d", {9, 11}}), {}), 0);
  EXPECT_EQ(compare_counts(disordered(context_, {6, 5, 4}, 16), {}), 0);
  EXPECT_EQ(compare_counts(generate<double>(context_, {"elasticity3d", {2, 3, 2}}),
                           generate<double>(context_, {"elasticity3d_mass", {2, 3, 2}})),
            0);
}

/// Factors of the real form count each eigenvalue twice and solve for interleaved parts, also where
/// no diagonal is stored.
TEST_P(ShiftedFactorLibraries, HermitianMatricesByTheirRealForm) {
  using Complex = std::complex<double>;
  const std::vector<GallerySpec> specs = {
      {"haldane", {4, 5}}, {"random_flux3d", {4, 4, 3}}, {"ring_flux", {40}}};
  for (const GallerySpec& spec : specs) {
    const std::string& name = spec.name;
    auto A = generate<Complex>(context_, spec);
    if (name == "ring_flux") A = without_diagonal(context_, A);
    const Eigen::MatrixXcd dense = to_dense(A.view());
    const Eigen::VectorXd truth =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd>(dense).eigenvalues();
    const auto solves =
        detail::host_solves<Complex, HostContext>(context_, A.view(), {}, kRoomy, *GetParam());
    for (Index i = 0; i + 1 < truth.size(); i += 2) {
      if (truth[i + 1] - truth[i] < 1e-6) continue;
      const double sigma = 0.3 * truth[i] + 0.7 * truth[i + 1];
      if (!solves->factor(context_, sigma)) {
        EXPECT_FALSE(GetParam()->pivots) << sigma;
        continue;
      }
      EXPECT_EQ(solves->shifted().below(), 2 * (i + 1)) << name;
      MultiVector<Complex, HostSpace> X(context_, A.rows(), 2), Y(context_, A.rows(), 2);
      fill_random<Complex>(context_, 3, 0, X.view());
      solves->solve(context_, X.view(), Y.view());
      for (Index j = 0; j < 2; ++j) {
        Eigen::VectorXcd x(A.rows()), y(A.rows());
        for (Index k = 0; k < A.rows(); ++k) {
          x(k) = X.view()(k, j);
          y(k) = Y.view()(k, j);
        }
        EXPECT_LE((dense * y - sigma * y - x).norm(), 1e-9 * y.norm()) << name;
      }
    }
  }
}

/// Springs of 10¹² between neighbours: rows that differ by as much.
TEST_P(ShiftedFactorLibraries, CountsHoldBesideStiffRows) {
  auto A = disordered(context_, {8, 9}, 1);
  for (Index i = 0; i < A.rows(); i += 5) {
    for (std::int64_t k = A.row_offsets()[i]; k < A.row_offsets()[i + 1]; ++k) {
      if (A.columns()[k] == i) A.values()[k] += 1e12;
    }
  }
  compare_counts(A, {});
  ShiftedFactor factor(A.view(), kIdentity, kRoomy, *GetParam());
  ASSERT_TRUE(factor.factor(1e6));
  EXPECT_EQ(factor.below(), A.rows() - (A.rows() + 4) / 5);
}

/// Pairs ±1 of [0 1; 1 0]: no pivot of one row exists at σ = 0. A library that pivots takes two.
TEST_P(ShiftedFactorLibraries, PivotsOfTwoRowsAreCountedOrRefused) {
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < 40; i += 2) {
    entries.push_back({i, i + 1, 1});
    entries.push_back({i + 1, i, 1});
    if (i > 0) {
      entries.push_back({i, i - 1, 0.1});
      entries.push_back({i - 1, i, 0.1});
    }
  }
  const auto A = csr_from_triplets<double>(context_, 40, 40, entries);
  const int refused = compare_counts(A, {});
  ShiftedFactor factor(A.view(), kIdentity, kRoomy, *GetParam());
  const bool made = factor.factor(0);
  if (made) {
    EXPECT_EQ(factor.below(), 20);
  }
  if (GetParam()->pivots) {
    EXPECT_TRUE(made);
    EXPECT_EQ(refused, 0);
  }
}

TEST_P(ShiftedFactorLibraries, ThereIsNoFactorOnAnEigenvalue) {
  const std::vector<Index> size = {9, 11};
  const auto A = generate<double>(context_, {"laplace2d", size});
  const std::vector<double> values = laplace_smallest_eigenvalues(size, 30);
  ShiftedFactor factor(A.view(), kIdentity, kRoomy, *GetParam());
  for (const std::size_t i : {std::size_t{0}, std::size_t{7}, std::size_t{29}}) {
    EXPECT_FALSE(factor.factor(values[i])) << i;
    EXPECT_FALSE(factor.factored());
    EXPECT_TRUE(factor.factor(values[i] + 1e-9)) << i;
  }
  EXPECT_FALSE(factor.factor(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(factor.factor(std::numeric_limits<double>::infinity()));
}

/// Near an eigenvalue of a large grid, ‖E‖ of a factor without pivots leaves signs open that the
/// contraction of iterative refinement decides.
TEST_P(ShiftedFactorLibraries, CountsAreCertainNearEigenvalues) {
  const std::vector<Index> size = {45, 46};
  const auto A = generate<double>(context_, {"laplace2d", size});
  const std::vector<double> values = laplace_smallest_eigenvalues(size, A.rows());
  constexpr double kDistance = 1e-10;
  ShiftedFactor factor(A.view(), kIdentity, kRoomy, *GetParam());
  int tried = 0, certain = 0;
  for (std::size_t i = 5; i + 1 < values.size(); i += 50) {
    if (values[i + 1] - values[i] < 3 * kDistance) continue;
    ++tried;
    if (!factor.factor(values[i] + kDistance)) continue;
    ++certain;
    EXPECT_EQ(factor.below(), static_cast<Index>(i) + 1);
  }
  EXPECT_GE(tried, 30);
  EXPECT_GE(certain, 0.75 * tried) << GetParam()->name;
}

TEST_P(ShiftedFactorLibraries, SolvesAreThoseOfADenseSolve) {
  const auto A = generate<double>(context_, {"elasticity3d", {2, 3, 2}});
  const auto B = generate<double>(context_, {"elasticity3d_mass", {2, 3, 2}});
  const Eigen::MatrixXd dense = to_dense(A.view()), mass = to_dense(B.view());
  const Eigen::VectorXd truth = eigenvalues(dense, mass);
  ShiftedFactor factor(A.view(), B.view(), kRoomy, *GetParam());
  for (const Eigen::Index i : {0, 5, 20}) {
    const double sigma = (truth[i] + 2 * truth[i + 1]) / 3;
    ASSERT_TRUE(factor.factor(sigma));
    const Eigen::MatrixXd M = dense - sigma * mass;
    const Eigen::MatrixXd X = Eigen::MatrixXd::Random(A.rows(), 3);
    Eigen::MatrixXd Y = X;
    factor.solve(Y.data(), 3);
    const double size = M.norm() * Y.norm();
    EXPECT_LE((M * Y - X).norm(), test::tolerance<double>(size, static_cast<double>(A.rows())));
  }
}

TEST_P(ShiftedFactorLibraries, ALimitOfMemoryIsKept) {
  const auto A = generate<double>(context_, {"laplace3d", {12, 12, 12}});
  EXPECT_THROW(ShiftedFactor(A.view(), kIdentity, 1e4, *GetParam()), OutOfMemory);
}

}  // namespace
}  // namespace heddle
