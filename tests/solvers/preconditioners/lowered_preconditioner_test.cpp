#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>

#include "solvers/preconditioners/lowered_preconditioner_battery.hpp"

namespace heddle {
namespace {

using test::lowerable;
using test::Lowerable;

TEST(LoweredPreconditioner, KeepsTheDigitsOfColumnsOfAnyNorm) {
  HostContext context(2);
  test::expect_lowered_products(context, context);
}

TEST(LoweredPreconditioner, ProductsInShortNumberTypesKeepTheirDigits) {
  HostContext context(2);
  test::expect_narrow_products(context, context);
}

TEST(LoweredPreconditioner, AColumnThatIsNotFiniteLeavesTheOthersAlone) {
  HostContext context(2);
  test::expect_columns_apart(context, context);
}

TEST(LoweredPreconditioner, HasTheSameBitsForEveryNumberOfThreads) {
  for (const Lowerable& lowerable : test::lowerable()) {
    std::vector<std::vector<double>> products;
    for (const int threads : {1, 2, 5}) {
      HostContext context(threads);
      const auto A = generate<double>(context, {"laplace3d", {13, 14, 15}});
      const PreconditionerKind& kind = preconditioner_table().get(lowerable.name);
      const auto M = kind.make_lowered(context, A.view(), kind.options(lowerable.options));
      const auto X = test::random_vectors<double>(context, A.rows(), 6);
      products.push_back(
          test::all_entries<double>(test::applied(context, context, *M.get(), X).view()));
    }
    EXPECT_EQ(products[0], products[1]) << lowerable.name;
    EXPECT_EQ(products[0], products[2]) << lowerable.name;
  }
}

TEST(LoweredPreconditioner, TakesTheMemoryThatItsKindEstimates) {
  constexpr Index kBlock = 8;
  HostContext outside(2);
  const auto A = generate<double>(outside, {"laplace3d", {14, 15, 16}});
  const PreconditionerSizes sizes{A.rows(), A.nnz(), kBlock, sizeof(double)};
  const auto X = test::random_vectors<double>(outside, A.rows(), kBlock);
  MultiVector<double, HostSpace> Y(outside, A.rows(), kBlock);
  for (const Lowerable& lowerable : test::lowerable()) {
    SCOPED_TRACE(lowerable.name);
    const PreconditionerKind& kind = preconditioner_table().get(lowerable.name);
    const PreconditionerOptions options = kind.options(lowerable.options);
    const PreconditionerBytes bytes = kind.lowered_bytes(sizes, options);
    HostContext context(2);
    const auto M = kind.make_lowered(context, A.view(), options);
    M.get()->apply(context, X.view(), Y.view());
    const auto single = static_cast<double>(context.allocation_count().live_bytes);
    M->schedule()->raise(context);
    M.get()->apply(context, X.view(), Y.view());
    const auto full = static_cast<double>(context.allocation_count().live_bytes);
    const auto peak = static_cast<double>(context.allocation_count().peak_bytes);
    const bool is_bound = lowerable.name == "block_jacobi" && lowerable.options.empty();
    EXPECT_GE(bytes.kept, 0.75 * std::max(single, full));
    EXPECT_LE(bytes.kept, (is_bound ? 30 : 2) * std::max(single, full));
    EXPECT_GE(std::max(bytes.kept, bytes.setup), 0.75 * peak);
  }
}

TEST(LoweredPreconditioner, RefusesDiagonalsOutOfRange) {
  HostContext context(1);
  const auto refusal = [&](double entry) {
    const std::vector<Triplet<double>> entries{{0, 0, 1}, {1, 1, 0}, {2, 2, entry}};
    return refuse_single_precision(context,
                                   csr_from_triplets<double>(context, 3, 3, entries).view());
  };
  EXPECT_EQ(refusal(-1e-15), "");
  EXPECT_EQ(refusal(1e15), "");
  EXPECT_EQ(refusal(-1e-30),
            "diagonal entry (3, 3) of the matrix is -1e-30, single precision needs a size from "
            "5.4e-20 to 1.8e+19");
  EXPECT_NE(refusal(1e30), "");
}

TEST(LoweredPreconditioner, HasTheDegreeOfWhatItRounds) {
  HostContext context;
  const auto A = generate<double>(context, {"laplace2d", {40, 41}});
  const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
  const auto full = kind.make<double>(context, A.view(), kind.options());
  auto lowered = kind.lowered_stage(context, A.view(), kind.options());
  auto X = test::random_vectors<double>(context, A.rows(), 3);
  for (Index i = 0; i < A.rows(); ++i) {  // columns and energies far beyond the range of float
    X.view()(i, 0) *= 1e100;
    X.view()(i, 1) *= 1e-100;
  }
  const std::vector<double> energies{2e200, 3e-200, 4};
  const Index suitable = full->variable_degree()->suitable_degree(context, X.view(), energies);
  EXPECT_GT(suitable, 12);
  EXPECT_LT(suitable, 40);
  EXPECT_EQ(lowered.suitable_degree(context, X.view(), energies), suitable);
  EXPECT_EQ(lowered.degree(), 12);
  lowered.set_degree(suitable);
  EXPECT_EQ(lowered.degree(), suitable);
  EXPECT_TRUE(lowered.raise(context));
  EXPECT_EQ(lowered.degree(), suitable);
  EXPECT_EQ(lowered.suitable_degree(context, X.view(), energies), suitable);
}

TEST(LoweredPreconditioner, ReportsItsPrecisions) {
  HostContext context(1);
  const auto A = generate<double>(context, {"laplace2d", {10, 11}});
  const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
  PreconditionerOptions options = kind.options({{"degree", Index{5}}});
  options.set_products(ProductPrecision::half);
  const auto lowered = kind.make_lowered(context, A.view(), options);
  EXPECT_EQ(report_of(*lowered)->name, "chebyshev, degree 5");
  EXPECT_EQ(report_of(*lowered)->precision, "half");
  lowered->schedule()->raise(context);
  EXPECT_EQ(report_of(*lowered)->precision, "half, then single");
  const auto full = kind.make<double>(context, A.view(), options);
  EXPECT_FALSE(report_of(*full).has_value());
}

TEST(LoweredPreconditioner, NeedsOne) {
  using Stage = PreconditionerStage<double, HostContext>;
  EXPECT_THROW(Stage(nullptr), InvalidArgument);
  EXPECT_THROW(Stage(nullptr, ProductPrecision::half, {}), InvalidArgument);
  HostContext context(1);
  const auto A = generate<double>(context, {"laplace1d", {5}});
  const PreconditionerKind& jacobi = preconditioner_table().get("jacobi");
  EXPECT_FALSE(jacobi.can_be_lowered<HostContext>());
  EXPECT_THROW(jacobi.make_lowered(context, A.view(), jacobi.options()), InvalidArgument);
}

/// LOBPCG with the preconditioner in double precision and in single precision.
struct Solves {
  EigenResult<double, HostSpace> full, lowered;
  bool raised = false;  ///< whether the second one ended in double precision
};

Solves solves(HostContext& context, SparseOperator<double, HostContext>& A,
              const Lowerable& lowerable, const LobpcgOptions& options) {
  const PreconditionerKind& kind = preconditioner_table().get(lowerable.name);
  const PreconditionerOptions given = kind.options(lowerable.options);
  const auto full = kind.make<double>(context, A.matrix(), given);
  const auto lowered = kind.make_lowered(context, A.matrix(), given);
  Solves solves{lobpcg<double, HostContext>(context, {&A, nullptr, full.get()}, options),
                lobpcg<double, HostContext>(context, {&A, nullptr, lowered.get()}, options)};
  solves.raised = !lowered->schedule()->is_lowered();
  return solves;
}

TEST(LoweredPreconditioner, TakesNoMoreIterations) {
  HostContext context(2);
  LobpcgOptions options;
  options.nev = 5;
  for (const GallerySpec& spec :
       {GallerySpec{"laplace2d", {31, 33}}, GallerySpec{"laplace3d", {10, 11, 12}},
        GallerySpec{"elasticity3d", {6, 5, 4}}, GallerySpec{"wathen", {12, 13}}}) {
    auto A = test::make_operator<double>(context, spec);
    for (const Lowerable& lowerable : test::lowerable()) {
      // There sweeps for the triangles hardly converge. Of hundreds of iterations, rounding decides
      // more than two.
      if (spec.name == "wathen" && lowerable.options.contains("triangular_solve")) continue;
      SCOPED_TRACE(spec.name + " " + lowerable.name);
      const Solves found = solves(context, A, lowerable, options);
      EXPECT_EQ(found.lowered.status, SolveStatus::converged);
      EXPECT_LE(found.lowered.iterations, found.full.iterations + 2);
      EXPECT_FALSE(found.raised);
      ASSERT_EQ(found.lowered.eigenvalues.size(), found.full.eigenvalues.size());
      for (std::size_t j = 0; j < found.full.eigenvalues.size(); ++j) {
        const double lambda = found.full.eigenvalues[j];
        EXPECT_NEAR(found.lowered.eigenvalues[j], lambda, 2e-8 * std::abs(lambda));
      }
    }
  }
}

/// The middle one of an odd number of values.
Index median(std::vector<Index> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Forty times the eigenvalue 1 beside a stiff part, as nodes without springs have it in a
/// stiffness matrix. Residuals at the level of rounding of ‖A‖ are needed for digits of the wanted
/// values.
TEST(LoweredPreconditioner, IsRaisedNearRounding) {
  HostContext context(2);
  const auto stiff = generate<double>(context, {"laplace2d", {20, 21}});
  std::vector<Triplet<double>> entries;
  const CsrView<double, HostSpace> view = stiff.view();
  for (Index i = 0; i < view.rows; ++i) {
    for (auto e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
      entries.push_back({i, view.columns[e], 1e6 * view.values[e]});
    }
  }
  const Index n = view.rows + 40;
  for (Index i = view.rows; i < n; ++i) entries.push_back({i, i, 1});
  SparseOperator<double, HostContext> A(context, csr_from_triplets<double>(context, n, n, entries));
  LobpcgOptions options;
  options.nev = 6;
  options.max_iterations = 400;
  for (const Lowerable& lowerable : test::lowerable()) {
    SCOPED_TRACE(lowerable.name);
    std::vector<Index> full, lowered;
    for (options.seed = 1; options.seed <= 7; ++options.seed) {
      const Solves found = solves(context, A, lowerable, options);
      EXPECT_EQ(found.full.status, SolveStatus::converged);
      EXPECT_EQ(found.lowered.status, SolveStatus::converged);
      EXPECT_TRUE(found.raised);
      for (const double lambda : found.lowered.eigenvalues) EXPECT_NEAR(lambda, 1, 1e-5);
      full.push_back(found.full.iterations);
      lowered.push_back(found.lowered.iterations);
    }
    // Near rounding, the instruction set and the seed move one solve by several iterations.
    EXPECT_LE(median(lowered), median(full) + 2);
  }
}

}  // namespace
}  // namespace heddle
