#include <gtest/gtest.h>

#include <Eigen/Core>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_factor.hpp>
#include <limits>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/tolerance.hpp"

// Block Jacobi and IC(0) of Hermitian matrices against dense matrices by Eigen.
namespace heddle {
namespace {

using Complex = std::complex<double>;
using Dense = Eigen::MatrixXcd;

Dense inverse_of(const Dense& A) {
  return test::complex_form(test::inverse(test::real_form(A)).leftCols(A.cols()));
}

class HermitianPreconditioners : public testing::Test {
 protected:
  /// M⁻¹ as a dense matrix.
  Dense dense(Preconditioner<Complex, HostContext>& M) {
    MultiVector<Complex, HostSpace> I(context_, M.rows(), M.rows());
    MultiVector<Complex, HostSpace> Y(context_, M.rows(), M.rows());
    for (Index i = 0; i < M.rows(); ++i) {
      for (Index j = 0; j < M.rows(); ++j) I.view()(i, j) = i == j ? 1 : 0;
    }
    M.apply(context_, I.view(), Y.view());
    return test::to_dense<Complex>(std::as_const(Y).view());
  }

  static void expect_definite(const Dense& inverse) {
    EXPECT_LE((inverse - inverse.adjoint()).norm(), 1e-13 * inverse.norm());
    EXPECT_GT(test::eigenvalues(test::real_form((inverse + inverse.adjoint()) / 2))(0), 0);
  }

  HostCsrMatrix<Complex> matrix(const Dense& dense) {
    std::vector<Triplet<Complex>> entries;
    for (Index i = 0; i < dense.rows(); ++i) {
      for (Index j = 0; j < dense.cols(); ++j) {
        if (dense(i, j) != Complex{}) entries.push_back({i, j, dense(i, j)});
      }
    }
    return csr_from_triplets<Complex>(context_, dense.rows(), dense.cols(), entries);
  }

  HostContext context_{2};
};

TEST_F(HermitianPreconditioners, BlockJacobiInvertsBlocks) {
  for (const GallerySpec& spec :
       {GallerySpec{.name = "random_hermitian", .size = {60}, .density = 20},
        GallerySpec{.name = "random_flux3d", .size = {4, 4, 4}}}) {
    const auto A = generate<Complex>(context_, spec);
    const Dense whole = test::to_dense(A.view());
    for (const Index size : {1, 2, 7, 60}) {
      BlockJacobiPreconditioner<Complex, HostContext> M(context_, A.view(), size);
      Dense expected = Dense::Zero(A.rows(), A.rows());
      for (Index i = 0; i < A.rows(); i += size) {
        const Index m = std::min(size, A.rows() - i);
        expected.block(i, i, m, m) = inverse_of(whole.block(i, i, m, m));
      }
      const Dense found = dense(M);
      EXPECT_LE((found - expected).norm(), 1e-12 * expected.norm()) << size;
      EXPECT_EQ(found, Dense(found.adjoint())) << "not Hermitian to the bit";
    }
  }
}

TEST_F(HermitianPreconditioners, BlocksThatAreNotDefiniteCountAsTheirDiagonals) {
  const Complex i{0, 1};
  Dense A = Dense::Zero(8, 8);
  A.block(0, 0, 2, 2) << 2, 3.0 * i, -3.0 * i, 4;  // indefinite, its imaginary part alone
  A.block(2, 2, 2, 2) << 1, i, -i, 1;              // singular
  A.block(4, 4, 2, 2) << -1, 0.5 * i, -0.5 * i, 8;
  A.block(6, 6, 2, 2) << 2, i, -i, 2;  // the only definite one
  Dense expected = A.diagonal().cwiseAbs().cwiseInverse().cast<Complex>().asDiagonal();
  expected.block(6, 6, 2, 2) << 2.0 / 3, -i / 3.0, i / 3.0, 2.0 / 3;
  const auto stored = matrix(A);
  BlockJacobiPreconditioner<Complex, HostContext> M(context_, stored.view(), 2);
  EXPECT_LE((dense(M) - expected).norm(), 1e-14);
}

/// IC(0) of a dense matrix as the textbook has it: column by column, entries of the pattern only.
Dense textbook_factor(Dense A) {
  const Index n = A.rows();
  for (Index k = 0; k < n; ++k) {
    A(k, k) = std::sqrt(A(k, k).real());
    for (Index i = k + 1; i < n; ++i) A(i, k) /= A(k, k);
    for (Index j = k + 1; j < n; ++j) {
      for (Index i = j; i < n; ++i) {
        if (A(i, j) != Complex{}) A(i, j) -= A(i, k) * std::conj(A(j, k));
      }
    }
  }
  return A.triangularView<Eigen::Lower>();
}

TEST_F(HermitianPreconditioners, IncompleteFactorsAgreeWithTheTextbook) {
  for (const GallerySpec& spec :
       {GallerySpec{.name = "random_flux3d", .size = {4, 5, 4}},
        GallerySpec{.name = "peierls2d", .size = {8, 9}, .density = 0.2},
        GallerySpec{.name = "random_hermitian", .size = {90}, .density = 9}}) {
    SCOPED_TRACE(spec.name);
    const auto A = generate<Complex>(context_, spec);
    const Dense whole = test::to_dense(A.view());
    const auto factor = detail::incomplete_cholesky<Complex>(context_, A.view());
    const Dense expected =
        textbook_factor(whole + factor.shift * Dense(whole.diagonal().asDiagonal()));
    EXPECT_LE((test::to_dense(factor.L.view()) - expected).norm(), 1e-13 * expected.norm());
    for (const auto solve : {TriangularSolve::level_scheduled, TriangularSolve::iterated}) {
      IncompleteCholeskyPreconditioner<Complex, HostContext> M(context_, A.view(), solve);
      const Dense inverse = dense(M);
      expect_definite(inverse);
      if (solve == TriangularSolve::iterated) continue;
      const Dense product = expected * expected.adjoint();
      EXPECT_LE((product * inverse - Dense::Identity(A.rows(), A.rows())).norm(), 1e-11);
    }
  }
}

TEST_F(HermitianPreconditioners, WithoutFillTheFactorIsExact) {
  Dense A = Dense::Zero(40, 40);  // a chain with a phase per bond
  for (Index i = 0; i < 40; ++i) {
    A(i, i) = 2.1;
    if (i > 0) A(i, i - 1) = std::polar(1.0, 0.3 * static_cast<double>(i));
    if (i > 0) A(i - 1, i) = std::conj(A(i, i - 1));
  }
  const auto stored = matrix(A);
  IncompleteCholeskyPreconditioner<Complex, HostContext> M(context_, stored.view());
  EXPECT_EQ(M.shift(), 0);
  const Dense expected = inverse_of(A);
  EXPECT_LE((dense(M) - expected).norm(), 1e-12 * expected.norm());
}

TEST_F(HermitianPreconditioners, FactorsAreDefiniteForEveryHermitianMatrix) {
  const Complex i{0, 1};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<Dense> cases(4, Dense::Zero(3, 3));
  cases[1] << 1, 5.0 * i, 0, -5.0 * i, 1, 2, 0, 2, 1;  // indefinite
  cases[2] << 0, i, 0, -i, 0, 7, 0, 7, 0;              // without a diagonal
  cases[3] << 1, nan * i, 0, nan * i, 1, 0, 0, 0, 1;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    SCOPED_TRACE(k);
    const auto stored = matrix(cases[k]);
    IncompleteCholeskyPreconditioner<Complex, HostContext> M(context_, stored.view());
    expect_definite(dense(M));
  }
}

}  // namespace
}  // namespace heddle
