#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/random_block.hpp"

/// What products between blocks in a short number type owe on every backend.
namespace heddle::test {

/// A square matrix with a diagonal, scattered entries of sizes from 2⁻²⁰ to 1, empty rows, and one
/// row and one column that are full.
inline HostCsrMatrix<double> uneven_matrix(HostContext& host, Index n) {
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) {
    if (i % 11 == 5) continue;
    entries.push_back({i, i, 1 - 1.0 / static_cast<double>(i + 3)});
    for (Index k = 1; k < 6; ++k) {
      const Index j = (i * 7919 + k * 104729) % n;
      entries.push_back(
          {i, j,
           std::ldexp(std::sin(static_cast<double>(i + 3 * k)), -4 * static_cast<int>(i % 6))});
    }
    if (i != 3) entries.push_back({3, i, std::cos(static_cast<double>(i))});
    if (i != 9) entries.push_back({i, 9, 1.0 / 3});
  }
  return csr_from_triplets<double>(host, n, n, entries);
}

/// A matrix of b×b blocks, in which the rows of a node have entries in the same columns. Some nodes
/// have none.
inline HostCsrMatrix<double> node_matrix(HostContext& host, Index nodes, Index b) {
  std::vector<Triplet<double>> entries;
  const auto add = [&](Index I, Index J) {
    for (Index r = 0; r < b; ++r) {
      for (Index c = 0; c < b; ++c) {
        entries.push_back(
            {b * I + r, b * J + c, std::sin(static_cast<double>(I + 2 * J + 3 * r + c))});
      }
    }
  };
  for (Index I = 0; I < nodes; ++I) {
    if (I % 11 == 5) continue;
    for (const Index J : {I, (I + 1) % nodes, (7 * I + 3) % nodes}) add(I, J);
  }
  return csr_from_triplets<double>(host, b * nodes, b * nodes, entries);
}

/// A block of V in the context's memory, and its values as doubles.
template <class V, class Ctx>
struct NarrowCase {
  using Space = typename Ctx::Space;

  NarrowCase(Ctx& context, HostContext& host, Index rows, Index cols, unsigned seed)
      : block(context, rows, cols), values(static_cast<std::size_t>(rows * cols)) {
    RandomBlock<double> entries(rows, cols, cols, seed);
    MultiVector<float, HostSpace> X(host, rows, cols);
    SmallMatrix<double, HostSpace> factors(host, cols, 1);
    for (Index j = 0; j < cols; ++j)
      factors.view(cols, 1)(j, 0) = std::ldexp(1.0, static_cast<int>(j % 5) - 2);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < cols; ++j) {
        const auto x = static_cast<float>(entries.view()(i, j));
        X.view()(i, j) = x;
        values[static_cast<std::size_t>(i * cols + j)] = static_cast<double>(
            V::round(factors.view(cols, 1)(j, 0) * static_cast<double>(x)).value());
      }
    }
    const auto there = place(context, std::move(X));
    SmallMatrix<double, Space> scales(context, cols, 1);
    send(context, factors.view(cols, 1), scales.view(cols, 1));
    narrow<V>(context, there.view(), scales.view(cols, 1), block.columns(cols));
  }

  double operator()(Index i, Index j, Index cols) const {
    return values[static_cast<std::size_t>(i * cols + j)];
  }

  NarrowBlock<V, Space> block;
  std::vector<double> values;
};

/// The block in host memory, in single precision.
template <class V, class Ctx>
MultiVector<float, HostSpace> widened(Ctx& context, HostContext& host,
                                      NarrowBlock<V, typename Ctx::Space>& block, Index rows,
                                      Index cols) {
  MultiVector<float, typename Ctx::Space> Y(context, rows, cols);
  SmallMatrix<double, HostSpace> ones(host, cols, 1);
  for (Index j = 0; j < cols; ++j) ones.view(cols, 1)(j, 0) = 1;
  SmallMatrix<double, typename Ctx::Space> scales(context, cols, 1);
  send(context, ones.view(cols, 1), scales.view(cols, 1));
  widen<V>(context, block.columns(cols), scales.view(cols, 1), 0, Y.view());
  return fetch(context, host, std::move(Y));
}

/// The rounding of a sum of `entries` products, relative to the sum of their sizes.
inline double sum_roundoff(const std::string& kernel, ProductPrecision precision, Index entries) {
  if (kernel != "panels" && kernel != "blocks") return 0x1p-18;
  const PrecisionLimits& limits = limits_of(precision);
  return 0x1p-18 + limits.additions_per_entry * limits.sum_roundoff * static_cast<double>(entries);
}

/// C = α A B + β C + γ B + δ X is the sum in double of the rounded factors, rounded to V, up to the
/// rounding of sums in single precision, and has the same bits twice.
template <class V, class Ctx>
void expect_steps(Ctx& context, HostContext& host, const HostCsrMatrix<double>& A,
                  std::initializer_list<Index> widths, const std::string& kernel) {
  const Index rows = A.rows();
  HostCsrMatrix<double> copy = convert<double>(host, A.view());
  const auto there = place(context, std::move(copy));
  LowPrecisionPlan<V, Ctx> plan(context, there.view(),
                                {.scaling = RangeScaling::none, .factor = 0.5, .kernel = kernel});
  for (const Index cols : widths) {
    SCOPED_TRACE(cols);
    const float alpha = -1.25f;
    const double terms[][3] = {{0, 0, 0}, {0.75, 0, 0}, {0, -0.5, 0}, {0.5, 0.25, -2}};
    for (const auto& [beta, gamma, delta] : terms) {
      NarrowCase<V, Ctx> B(context, host, rows, cols, 1), X(context, host, rows, cols, 2);
      std::vector<MultiVector<float, HostSpace>> found;
      NarrowCase<V, Ctx> C(context, host, rows, cols, 3);
      for (int run = 0; run < 2; ++run) {
        NarrowCase<V, Ctx> result(context, host, rows, cols, 3);
        plan.multiply(context, alpha, B.block.columns(cols),
                      {.beta = static_cast<float>(beta),
                       .gamma = static_cast<float>(gamma),
                       .delta = static_cast<float>(delta),
                       .X = X.block.columns(cols)},
                      result.block.columns(cols));
        found.push_back(widened<V, Ctx>(context, host, result.block, rows, cols));
      }
      double worst = 0;
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < cols; ++j) {
          double sum = 0, size = 0;
          const auto add = [&](double term) {
            sum += term;
            size += std::abs(term);
          };
          for (auto e = A.view().row_offsets[i]; e < A.view().row_offsets[i + 1]; ++e) {
            const double a = V::round(0.5 * A.view().values[e]).value();
            add(static_cast<double>(alpha) * a * B(A.view().columns[e], j, cols));
          }
          add(beta * C(i, j, cols));
          add(gamma * B(i, j, cols));
          add(delta * X(i, j, cols));
          const Index entries = A.view().row_offsets[i + 1] - A.view().row_offsets[i];
          const double bound = V::kRoundoff * std::abs(sum) + V::kSpacing / 2 +
                               sum_roundoff(kernel, precision_of<V>(), entries) * size;
          const double error = std::abs(static_cast<double>(found[0].view()(i, j)) - sum);
          worst = std::max(worst, bound > 0 ? error / bound : error);
          ASSERT_EQ(found[0].view()(i, j), found[1].view()(i, j));
        }
      }
      EXPECT_LE(worst, 1);
      EXPECT_GE(worst, 0.1) << "the result was not rounded to the type";
    }
  }
}

template <class V, class Ctx>
void expect_steps(Ctx& context, HostContext& host, const std::string& kernel) {
  SCOPED_TRACE(kernel);
  expect_steps<V>(context, host, uneven_matrix(host, 700), {1, 7, 20, 40, 300}, kernel);
  for (const Index b : {2, 3, 4, 5, 6, 8}) {
    SCOPED_TRACE(b);
    expect_steps<V>(context, host, node_matrix(host, 40, b), {3, 20}, kernel);
  }
}

template <class V, class Ctx>
void expect_step_refusals(Ctx& context, HostContext& host) {
  const auto message = [&](double entry, double factor) -> std::string {
    try {
      const auto A =
          place(context, csr_from_triplets<double>(
                             host, 3, 3, std::vector<Triplet<double>>{{0, 0, 1}, {2, 1, entry}}));
      LowPrecisionPlan<V, Ctx>(context, A.view(),
                               {.scaling = RangeScaling::none, .factor = factor});
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(V::kLargest, 1), "");
  EXPECT_EQ(message(2 * V::kLargest, 0.25), "");
  EXPECT_NE(message(2 * V::kLargest, 1).find("entry (3, 2) of A is"), std::string::npos);
  EXPECT_NE(message(std::numeric_limits<double>::quiet_NaN(), 1).find("need finite numbers"),
            std::string::npos);
  const auto A = place(context, uneven_matrix(host, 20));
  LowPrecisionPlan<V, Ctx> plan(context, A.view(), {.scaling = RangeScaling::none});
  NarrowBlock<V, typename Ctx::Space> B(context, 20, 8), C(context, 21, 8), D(context, 20, 8);
  EXPECT_THROW(plan.multiply(context, 1, B.columns(8), {}, C.columns(8)), InvalidArgument);
  LowPrecisionPlan<V, Ctx> scaled(context, A.view());
  EXPECT_THROW(scaled.multiply(context, 1, B.columns(8), {}, D.columns(8)), InvalidArgument);
  EXPECT_THROW((LowPrecisionPlan<V, Ctx>(context, A.view(), {.kernel = "nonsense"})),
               InvalidArgument);
}

}  // namespace heddle::test
