#pragma once

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>

#include "solvers/preconditioners/lowered_preconditioner_battery.hpp"

/// Solves with preconditioners in short number types, which must end as those in double precision.
namespace heddle::test {

struct NamedMatrix {
  std::string name;
  HostCsrMatrix<double> A;
};

/// D A D with d_i from 10^(3 − decades) to 10^(3 + decades), by no order of the rows.
inline HostCsrMatrix<double> badly_scaled(HostCsrMatrix<double> A, double decades) {
  const CsrView<double, HostSpace> view = A.view();
  const auto d = [&](Index i) {
    return std::pow(10.0, 3 + decades * std::sin(static_cast<double>(7 * i + 1)));
  };
  for (Index i = 0; i < view.rows; ++i) {
    for (auto e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
      A.values()[e] *= d(i) * d(view.columns[e]);
    }
  }
  return A;
}

/// Meshes, and one with rows scaled over three decades: its entries reach 1e9, beyond the range of
/// half precision.
inline std::vector<NamedMatrix> narrow_test_matrices(HostContext& host) {
  std::vector<NamedMatrix> matrices;
  matrices.push_back({"laplace3d", generate<double>(host, {"laplace3d", {9, 10, 11}})});
  matrices.push_back({"elasticity3d", generate<double>(host, {"elasticity3d", {5, 6, 4}})});
  matrices.push_back(
      {"scaled laplace2d", badly_scaled(generate<double>(host, {"laplace2d", {21, 19}}), 1.5)});
  return matrices;
}

template <class Ctx>
void expect_values_of_double(Ctx& context, HostContext& host, const NamedMatrix& matrix) {
  SparseOperator<double, Ctx> A(context, place(context, convert<double>(host, matrix.A.view())));
  LobpcgOptions options;
  options.nev = 4;
  for (const Lowerable& lowerable : with_narrow_products()) {
    const PreconditionerKind& kind = preconditioner_table().get(lowerable.name);
    const auto full = kind.make<double>(context, A.matrix(), kind.options(lowerable.options));
    const auto expected = lobpcg<double, Ctx>(context, {&A, nullptr, full.get()}, options);
    for (const ProductPrecision products : kNarrow) {
      SCOPED_TRACE(matrix.name + " " + lowerable.name + " " +
                   std::string(limits_of(products).name));
      const auto M = make_narrow(context, A.matrix(), lowerable, products);
      const auto found = lobpcg<double, Ctx>(context, {&A, nullptr, M.get()}, options);
      ASSERT_EQ(found.status, expected.status);
      EXPECT_EQ(found.status, SolveStatus::converged);
      for (std::size_t j = 0; j < expected.eigenvalues.size(); ++j) {
        const double bound = found.error_bounds[j] + expected.error_bounds[j];
        EXPECT_NEAR(found.eigenvalues[j], expected.eigenvalues[j], bound);
        EXPECT_LE(bound, 1e-6 * expected.eigenvalues[j]);
      }
    }
  }
}

template <class Ctx>
void expect_residuals_of_double(Ctx& context, HostContext& host, const NamedMatrix& matrix) {
  SparseOperator<double, Ctx> A(context, place(context, convert<double>(host, matrix.A.view())));
  const auto B = random_vectors<double>(host, matrix.A.rows(), 3);
  MultiVector<double, HostSpace> copy(host, B.rows(), B.cols());
  heddle::copy<double>(host, B.view(), copy.view());
  const auto there = place(context, std::move(copy));
  for (const Lowerable& lowerable : with_narrow_products()) {
    for (const ProductPrecision products : kNarrow) {
      SCOPED_TRACE(matrix.name + " " + lowerable.name + " " +
                   std::string(limits_of(products).name));
      const auto M = make_narrow(context, A.matrix(), lowerable, products);
      BlockCgOptions options;
      options.tolerance = 1e-10;
      auto solved = block_cg<double, Ctx>(context, {&A, M.get(), there.view()}, options);
      EXPECT_EQ(solved.status, SolveStatus::converged) << solved.reason;
      const auto X = fetch(context, host, std::move(solved.solution));
      for (const double residual :
           true_linear_residuals<double>(matrix.A.view(), B.view(), X.view())) {
        EXPECT_LE(residual, 1.01e-10);
      }
    }
  }
}

}  // namespace heddle::test
