#include <algorithm>
#include <cmath>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/preconditioners/multigrid/aggregates.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/hierarchy.hpp>
#include <heddle/solvers/preconditioners/multigrid/prolongator.hpp>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "solvers/preconditioners/multigrid/multigrid_battery.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

using namespace detail;

/// Entries are near 1, and sums of them in another order differ by less.
constexpr double kRounding = 1e-10;

using Entries = std::vector<Triplet<double>>;

/// Couples rows a and b with the weight w.
void connect(Entries& entries, Index a, Index b, double w) {
  entries.insert(entries.end(), {{a, a, w}, {b, b, w}, {a, b, -w}, {b, a, -w}});
}

/// A 5-point grid nx×ny with the weight `across` in the second direction, fixed at its ends.
HostCsrMatrix<double> anisotropic(HostContext& context, Index nx, Index ny, double across) {
  Entries entries;
  for (Index y = 0; y < ny; ++y) {
    for (Index x = 0; x < nx; ++x) {
      const Index i = y * nx + x;
      if (x + 1 < nx) connect(entries, i, i + 1, 1);
      if (y + 1 < ny) connect(entries, i, i + nx, across);
      if (x == 0) entries.push_back({i, i, 1});
    }
  }
  return csr_from_triplets<double>(context, nx * ny, nx * ny, entries);
}

/// A with its rows and columns in a random order.
HostCsrMatrix<double> shuffled(HostContext& context, const HostCsrMatrix<double>& A) {
  std::vector<Index> order(static_cast<std::size_t>(A.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  std::mt19937 engine(5);
  std::shuffle(order.begin(), order.end(), engine);
  Entries entries;
  const CsrView<double, HostSpace> view = A.view();
  for (Index i = 0; i < A.rows(); ++i) {
    for (auto e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
      entries.push_back({order[static_cast<std::size_t>(i)],
                         order[static_cast<std::size_t>(view.columns[e])], view.values[e]});
    }
  }
  return csr_from_triplets<double>(context, A.rows(), A.rows(), entries);
}

/// A line of n rows, of which one in the middle is connected with `hub` others as well.
HostCsrMatrix<double> line_with_hub(HostContext& context, Index n, Index hub) {
  Entries entries;
  for (Index i = 0; i + 1 < n; ++i) connect(entries, i, i + 1, 1);
  for (Index k = 0; k < hub; ++k) connect(entries, n / 2, k * (n / 2 - 2) / hub, 0.5);
  for (Index i = 0; i < n; ++i) entries.push_back({i, i, 0.01});
  return csr_from_triplets<double>(context, n, n, entries);
}

/// Several copies of A that are not connected.
HostCsrMatrix<double> pieces(HostContext& context, const HostCsrMatrix<double>& A, Index count) {
  Entries entries;
  const CsrView<double, HostSpace> view = A.view();
  for (Index k = 0; k < count; ++k) {
    for (Index i = 0; i < A.rows(); ++i) {
      for (auto e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
        entries.push_back({k * A.rows() + i, k * A.rows() + view.columns[e], view.values[e]});
      }
    }
  }
  return csr_from_triplets<double>(context, count * A.rows(), count * A.rows(), entries);
}

struct SetupCase {
  std::string name;
  HostCsrMatrix<double> A;
  MultiVector<double, HostSpace> near_null{};
};

std::vector<SetupCase> setup_cases(HostContext& context) {
  std::vector<SetupCase> cases;
  for (test::MultigridCase& problem : test::multigrid_battery(context)) {
    cases.push_back({problem.name, std::move(problem.A)});
  }
  const auto cube = generate<double>(context, {"laplace3d", {15, 14, 13}});
  cases.push_back({"shuffled", shuffled(context, cube)});
  cases.push_back({"pieces", pieces(context, generate<double>(context, {"laplace2d", {9, 8}}), 7)});
  cases.push_back({"weak direction", anisotropic(context, 40, 30, 0.01)});
  cases.push_back({"line", generate<double>(context, {"laplace1d", {2500}})});
  cases.push_back({"line beyond all rounds", generate<double>(context, {"laplace1d", {5000}})});
  cases.push_back({"hub", line_with_hub(context, 3000, 900)});
  cases.push_back({"elasticity with motions",
                   generate<double>(context, {"elasticity3d", {7, 6, 8}}),
                   test::rigid_body_motions(context, {7, 6, 8})});
  cases.push_back({"shuffled elasticity",
                   shuffled(context, generate<double>(context, {"elasticity3d", {5, 6, 4}}))});
  return cases;
}

class HierarchyCuda : public test::CudaTest {
 protected:
  using Matrix = CsrMatrix<double, DeviceSpace>;

  HostCsrMatrix<double> on_host(const Matrix& A) {
    return fetch<double>(context(), host_, A.view());
  }

  template <class T>
  std::vector<T> on_host(const Buffer<T, DeviceSpace>& source) {
    std::vector<T> made(source.size());
    context().copy_to_host(made.data(), source.data(), source.size() * sizeof(T));
    return made;
  }

  Matrix on_device(const HostCsrMatrix<double>& A) {
    return place(context(), convert<double>(host_, A.view()));
  }

  /// The same pattern, and values within `tolerance`.
  void expect_near(const HostCsrMatrix<double>& found, const HostCsrMatrix<double>& wanted,
                   double tolerance) {
    const auto a = found.view();
    const auto b = wanted.view();
    ASSERT_EQ(a.rows, b.rows);
    ASSERT_EQ(a.cols, b.cols);
    ASSERT_EQ(a.nnz, b.nnz);
    if (a.rows == 0) return;
    EXPECT_TRUE(std::equal(a.row_offsets, a.row_offsets + a.rows + 1, b.row_offsets));
    EXPECT_TRUE(std::equal(a.columns, a.columns + a.nnz, b.columns));
    double largest = 0;
    for (Index e = 0; e < a.nnz; ++e) {
      const double difference = std::abs(a.values[e] - b.values[e]);
      if (!(difference <= largest)) largest = difference;
    }
    EXPECT_LE(largest, tolerance);
  }

  void expect_near(const Matrix& found, const HostCsrMatrix<double>& wanted, double tolerance) {
    expect_near(on_host(found), wanted, tolerance);
  }

  HostContext host_;
};

TEST_F(HierarchyCuda, HasTheLevelsOfTheHost) {
  for (const SetupCase& problem : setup_cases(host_)) {
    SCOPED_TRACE(problem.name);
    const MultigridOptions options{.near_null = problem.near_null.view()};
    const auto wanted = make_hierarchy(host_, problem.A.view(), options);
    const Matrix A = on_device(problem.A);
    const auto found = make_hierarchy(context(), A.view(), options);
    const auto again = make_hierarchy(context(), A.view(), options);
    ASSERT_EQ(found.levels.size(), wanted.levels.size());
    const std::vector<double> scaling = on_host(found.scaling);
    EXPECT_TRUE(std::equal(scaling.begin(), scaling.end(), wanted.scaling.data()));
    for (std::size_t l = 0; l < found.levels.size(); ++l) {
      SCOPED_TRACE("level " + std::to_string(l));
      const auto& level = found.levels[l];
      const auto& other = wanted.levels[l];
      EXPECT_EQ(level.aggregates, other.aggregates);
      EXPECT_NEAR(level.upper_bound, other.upper_bound, kRounding * other.upper_bound);
      expect_near(level.A.own(), other.A.own(), kRounding);
      expect_near(level.P.own(), other.P.own(), kRounding);
      expect_near(level.Pt.own(), other.Pt.own(), kRounding);
      expect_near(again.levels[l].A.own(), on_host(level.A.own()), 0);
      expect_near(again.levels[l].P.own(), on_host(level.P.own()), 0);
      expect_near(again.levels[l].Pt.own(), on_host(level.Pt.own()), 0);
      EXPECT_EQ(again.levels[l].upper_bound, level.upper_bound);
    }
    ASSERT_EQ(found.coarse_inverse.rows(), wanted.coarse_inverse.rows());
    const auto inverse = wanted.coarse_inverse.view();
    double scale = 1;
    for (Index e = 0; e < inverse.nnz; ++e) scale = std::max(scale, std::abs(inverse.values[e]));
    expect_near(found.coarse_inverse, wanted.coarse_inverse, 1e-8 * scale * scale);
    expect_near(again.coarse_inverse, on_host(found.coarse_inverse), 0);
  }
}

template <class T>
std::vector<T> listed(const Buffer<T, HostSpace>& numbers) {
  return {numbers.data(), numbers.data() + numbers.size()};
}

/// The grid of A, whose nodes have `unknowns` rows, with vectors of ones and random numbers.
Grid<HostSpace> grid_of(HostContext& context, const HostCsrMatrix<double>& A, Index unknowns,
                        Index vectors) {
  Grid<HostSpace> grid;
  grid.A = convert<double>(context, A.view());
  grid.nodes = equal_nodes(context, A.rows(), unknowns);
  grid.near_null = MultiVector<double, HostSpace>(context, A.rows(), vectors);
  std::mt19937 engine(3);
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < vectors; ++j) {
      grid.near_null.view()(i, j) = j == 0 ? 1 : static_cast<double>(engine() % 100) / 10;
    }
  }
  return grid;
}

/// Each step for itself, in grids with one and several rows per node and several thresholds.
TEST_F(HierarchyCuda, DoesEachStepAsTheHostDoes) {
  struct Variant {
    Index unknowns, vectors;
    double threshold;
  };
  for (const SetupCase& problem : setup_cases(host_)) {
    for (const Variant& variant : {Variant{1, 1, 0.08}, {1, 1, 0.3}, {1, 2, 0}, {3, 3, 0}}) {
      if (problem.A.rows() % variant.unknowns != 0) continue;
      SCOPED_TRACE(problem.name + ", unknowns " + std::to_string(variant.unknowns));
      const Grid<HostSpace> grid = grid_of(host_, problem.A, variant.unknowns, variant.vectors);
      Grid<DeviceSpace> there;
      there.A = on_device(grid.A);
      there.nodes = {context(), grid.nodes.size()};
      context().copy_to_device(there.nodes.data(), grid.nodes.data(),
                               grid.nodes.size() * sizeof(Index));
      there.near_null = {context(), grid.A.rows(), variant.vectors};
      send<double>(context(), grid.near_null.view(), there.near_null.view());

      EXPECT_EQ(unknowns_per_node(context(), there.A.view()),
                unknowns_per_node(host_, grid.A.view()));
      const auto strong = strong_connections(host_, grid, variant.threshold);
      const auto strong_there = strong_connections(context(), there, variant.threshold);
      ASSERT_EQ(on_host(strong_there.offsets), listed(strong.offsets));
      ASSERT_EQ(on_host(strong_there.neighbours), listed(strong.neighbours));
      const std::vector<float> weights = on_host(strong_there.weights);
      for (std::size_t e = 0; e < weights.size(); ++e) {
        ASSERT_NEAR(weights[e], strong.weights[e], 1e-6F * strong.weights[e]);
      }
      const auto aggregates = aggregate(host_, strong);
      const auto aggregates_there = aggregate(context(), strong_there);
      EXPECT_EQ(aggregates_there.count, aggregates.count);
      ASSERT_EQ(on_host(aggregates_there.of_node), listed(aggregates.of_node));
      const auto tentative = tentative_prolongator(host_, grid, aggregates);
      const auto tentative_there = tentative_prolongator(context(), there, aggregates_there);
      EXPECT_EQ(on_host(tentative_there.nodes), listed(tentative.nodes));
      expect_near(tentative_there.T, tentative.T, kRounding);
      const auto P = smoothed_prolongator(host_, grid, strong, tentative.T.view(), 3);
      expect_near(smoothed_prolongator(context(), there, strong_there, tentative_there.T.view(), 3),
                  P, kRounding);
    }
  }
}

/// The estimate of the peak, in both precisions, holds within the bounds that `PreconditionerBytes`
/// names.
TEST_F(HierarchyCuda, TakesTheMemoryThatIsEstimated) {
  const PreconditionerKind& kind = preconditioner_table().get("multigrid");
  for (const GallerySpec& spec : {GallerySpec{"laplace3d", {40, 40, 40}},
                                  {"laplace2d", {200, 200}},
                                  {"elasticity3d", {14, 14, 14}}}) {
    SCOPED_TRACE(spec.name);
    const HostCsrMatrix<double> A = generate<double>(host_, spec);
    const auto check = [&]<Scalar T>(T) {
      CudaContext fresh;
      const auto own = place(fresh, convert<T>(host_, A.view()));
      const std::size_t before = fresh.allocation_count().live_bytes;
      const auto made = kind.make<T>(fresh, own.view(), kind.options());
      const auto peak = static_cast<double>(fresh.allocation_count().peak_bytes - before);
      const double estimate =
          kind.bytes({.rows = A.rows(), .nnz = A.nnz(), .scalar_size = sizeof(T)}, kind.options())
              .setup;
      EXPECT_GE(estimate, 0.75 * peak);
      EXPECT_LE(estimate, 2 * peak);
    };
    check(double{});
    check(float{});
  }
}

}  // namespace
}  // namespace heddle
