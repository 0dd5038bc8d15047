#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "solvers/linear_test_support.hpp"

/// What preconditioners in single precision owe on every backend.
namespace heddle::test {

/// A preconditioner of the table that can be lowered, with options that it is tested with.
struct Lowerable {
  std::string name;
  OptionValues options{};
};

inline std::vector<Lowerable> lowerable() {
  return {{"chebyshev"},
          {"block_jacobi"},
          {"block_jacobi", {{"block_size", 3}}},
          {"incomplete_cholesky"},
          {"incomplete_cholesky", {{"triangular_solve", "iterated"}}}};
}

/// M⁻¹X in host memory.
template <class Ctx>
MultiVector<double, HostSpace> applied(Ctx& context, HostContext& host,
                                       LinearOperator<double, Ctx>& M,
                                       const MultiVector<double, HostSpace>& X) {
  MultiVector<double, HostSpace> copy(host, X.rows(), X.cols());
  heddle::copy<double>(host, X.view(), copy.view());
  const auto there = place(context, std::move(copy));
  MultiVector<double, typename Ctx::Space> Y(context, X.rows(), X.cols());
  M.apply(context, there.view(), Y.view());
  return fetch(context, host, std::move(Y));
}

/// Random columns, of which one is zero and others have norms near the ends of the range of double.
inline MultiVector<double, HostSpace> columns_of_all_sizes(HostContext& host, Index n,
                                                           double largest = 1e300) {
  const double sizes[] = {1, 0, 1 / largest, largest, 1e-40, 1e40, 1e-6};
  auto X = random_vectors<double>(host, n, std::ssize(sizes));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < X.cols(); ++j) X.view()(i, j) *= sizes[j];
  }
  return X;
}

/// The largest |y_ij − x_ij| of column j over the largest |x_ij|. 0 for two columns of zeros.
inline double column_difference(const MultiVector<double, HostSpace>& X,
                                const MultiVector<double, HostSpace>& Y, Index j) {
  double size = 0, difference = 0;
  for (Index i = 0; i < X.rows(); ++i) {
    size = std::max(size, std::abs(X.view()(i, j)));
    difference = std::max(difference, std::abs(Y.view()(i, j) - X.view()(i, j)));
  }
  return difference == 0 ? 0 : difference / size;
}

/// Single precision keeps about six digits of columns of any norm, and `raise` brings the bits of
/// the preconditioner in double precision.
template <class Ctx>
void expect_lowered_products(Ctx& context, HostContext& host) {
  for (const GallerySpec& spec :
       {GallerySpec{"elasticity3d", {5, 4, 4}}, GallerySpec{"laplace2d", {23, 25}}}) {
    const auto A = place(context, generate<double>(host, spec));
    const auto X = columns_of_all_sizes(host, A.rows());
    for (const Lowerable& lowerable : test::lowerable()) {
      SCOPED_TRACE(spec.name + " " + lowerable.name);
      const PreconditionerKind& kind = preconditioner_table().get(lowerable.name);
      const PreconditionerOptions options = kind.options(lowerable.options);
      ASSERT_TRUE(kind.can_be_lowered<Ctx>());
      const auto full = kind.make<double>(context, A.view(), options);
      const auto lowered = kind.make_lowered(context, A.view(), options);
      EXPECT_EQ(full->schedule(), nullptr);
      EXPECT_TRUE(lowered->schedule()->is_lowered());
      const auto expected = applied(context, host, *full.get(), X);
      const auto found = applied(context, host, *lowered.get(), X);
      for (Index j = 0; j < X.cols(); ++j) {
        const double difference = column_difference(expected, found, j);
        if (j == 1) {
          EXPECT_EQ(column_difference(X, found, j), 0);  // zeros stay zeros
        } else {
          EXPECT_LE(difference, 5e-6) << "column " << j;
          EXPECT_GE(difference, 1e-9) << "column " << j << " was computed in double precision";
        }
      }
      lowered->schedule()->raise(context);
      EXPECT_FALSE(lowered->schedule()->is_lowered());
      const auto raised = applied(context, host, *lowered.get(), X);
      EXPECT_EQ(all_entries<double>(raised.view()), all_entries<double>(expected.view()));
    }
  }
}

/// The kinds with products in short number types.
inline std::vector<Lowerable> with_narrow_products() {
  return {{"chebyshev"}, {"block_jacobi", {{"block_size", 3}}}, {"multigrid"}};
}

/// A lowered preconditioner with products in this precision.
template <class Ctx>
auto make_narrow(Ctx& context, CsrView<double, typename Ctx::Space> A, const Lowerable& lowerable,
                 ProductPrecision products) {
  const PreconditionerKind& kind = preconditioner_table().get(lowerable.name);
  PreconditionerOptions options = kind.options(lowerable.options);
  options.set_products(products);
  return kind.make_lowered(context, A, options);
}

inline const ProductPrecision kNarrow[] = {ProductPrecision::half, ProductPrecision::bf16,
                                           ProductPrecision::tf32};

/// Short number types keep their digits of columns of any norm, also for a matrix whose diagonal
/// is far beyond the range of half precision. `raise` brings single and then double precision.
template <class Ctx>
void expect_narrow_products(Ctx& context, HostContext& host) {
  auto elastic = generate<double>(host, {"elasticity3d", {5, 4, 4}});
  for (const double size : {1e-12, 1.0, 1e12}) {
    for (std::int64_t e = 0; e < elastic.nnz(); ++e) elastic.values()[e] *= size;
    auto copy = convert<double>(host, elastic.view());
    for (std::int64_t e = 0; e < elastic.nnz(); ++e) elastic.values()[e] /= size;
    const auto A = place(context, std::move(copy));
    const auto X = columns_of_all_sizes(host, A.rows(), 1e250);
    for (const Lowerable& lowerable : with_narrow_products()) {
      const PreconditionerKind& kind = preconditioner_table().get(lowerable.name);
      const auto options = kind.options(lowerable.options);
      const auto expected =
          applied(context, host, *kind.make<double>(context, A.view(), options).get(), X);
      const auto single =
          applied(context, host, *kind.make_lowered(context, A.view(), options).get(), X);
      for (const ProductPrecision products : kNarrow) {
        SCOPED_TRACE(lowerable.name + " " + std::string(limits_of(products).name));
        const auto M = make_narrow(context, A.view(), lowerable, products);
        const auto found = applied(context, host, *M.get(), X);
        const double u = limits_of(products).roundoff;
        for (Index j = 0; j < X.cols(); ++j) {
          const double difference = column_difference(expected, found, j);
          if (j == 1) {
            EXPECT_EQ(column_difference(X, found, j), 0);  // zeros stay zeros
          } else {
            EXPECT_LE(difference, 20 * u) << "column " << j;
            EXPECT_GE(difference, u / 50) << "column " << j << " was computed in more digits";
          }
        }
        M->schedule()->raise(context);
        EXPECT_TRUE(M->schedule()->is_lowered());
        EXPECT_EQ(all_entries<double>(applied(context, host, *M.get(), X).view()),
                  all_entries<double>(single.view()));
        M->schedule()->raise(context);
        EXPECT_FALSE(M->schedule()->is_lowered());
        EXPECT_EQ(all_entries<double>(applied(context, host, *M.get(), X).view()),
                  all_entries<double>(expected.view()));
      }
    }
  }
}

/// A column that is not finite does not change the others.
template <class Ctx>
void expect_columns_apart(Ctx& context, HostContext& host) {
  const auto A = place(context, generate<double>(host, {"laplace2d", {23, 25}}));
  auto X = random_vectors<double>(host, A.rows(), 3);
  for (const Lowerable& lowerable : test::lowerable()) {
    SCOPED_TRACE(lowerable.name);
    const PreconditionerKind& kind = preconditioner_table().get(lowerable.name);
    const auto M = kind.make_lowered(context, A.view(), kind.options(lowerable.options));
    X.view()(7, 1) = 0.5;
    const auto expected = applied(context, host, *M.get(), X);
    X.view()(7, 1) = std::numeric_limits<double>::quiet_NaN();
    const auto found = applied(context, host, *M.get(), X);
    EXPECT_EQ(column_difference(expected, found, 0), 0);
    EXPECT_EQ(column_difference(expected, found, 2), 0);
    EXPECT_TRUE(std::isnan(found.view()(7, 1)));
  }
  for (const Lowerable& lowerable : with_narrow_products()) {
    SCOPED_TRACE("narrow " + lowerable.name);
    const auto M = make_narrow(context, A.view(), lowerable, ProductPrecision::half);
    X.view()(7, 1) = 0.5;
    const auto expected = applied(context, host, *M.get(), X);
    X.view()(7, 1) = std::numeric_limits<double>::infinity();
    const auto found = applied(context, host, *M.get(), X);
    EXPECT_EQ(column_difference(expected, found, 0), 0);
    EXPECT_EQ(column_difference(expected, found, 2), 0);
    EXPECT_FALSE(std::isfinite(found.view()(7, 1)));
  }
}

}  // namespace heddle::test
