#pragma once

#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <numbers>

#include "drivers/resident_battery.hpp"
#include "drivers/springs.hpp"

/// The tests of problems in the memory of a device that are solved from host memory. Each compares
/// with a truth, and with the problem in host memory, whose bits it must have.
namespace heddle {
namespace {

using test::held_chain;
using test::Springs;

constexpr const char* kCopied = "the problem was copied to host memory";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <class Backend>
class HostDetour : public ResidentSolve<Backend> {
 protected:
  using Ctx = typename Backend::Context;
  using Space = typename Ctx::Space;

  /// A problem in host memory, and the same in that of the device.
  struct Both {
    Problem host;
    CsrMatrix<double, Space> A{}, B{};
    MultiVector<double, Space> rhs{}, guess{}, constraints{};
    ResidentProblem<double, Ctx> resident{};
  };

  Block column(const std::vector<double>& x) {
    MultiVector<double, HostSpace> X(this->device_.host(), std::ssize(x), 1);
    for (Index i = 0; i < X.rows(); ++i) X.view()(i, 0) = x[static_cast<std::size_t>(i)];
    return Block(std::move(X));
  }
  Block constant(Index rows, double value) {
    return column(std::vector<double>(static_cast<std::size_t>(rows), value));
  }
  CsrMatrix<double, Space> there(const Matrix& A) {
    return place(this->context(), convert<double>(this->device_.host(), A.view()));
  }
  MultiVector<double, Space> there(const Block& X) {
    MultiVector<double, HostSpace> copied(this->device_.host(), X.rows(), X.cols());
    copy<double>(this->device_.host(), X.view(), copied.view());
    return place(this->context(), std::move(copied));
  }
  Both both(const Problem& problem) {
    Both made{.host = problem, .A = there(problem.A)};
    made.resident = {.A = this->matrix(made.A),
                     .normal_equations = problem.normal_equations,
                     .near_null = problem.near_null,
                     .coordinates = problem.coordinates};
    if (problem.B) {
      made.B = there(*problem.B);
      made.resident.B = this->matrix(made.B);
    }
    const auto block = [&](const Block& X, MultiVector<double, Space>& kept, auto& part) {
      if (X.cols() == 0) return;
      kept = there(X);
      part = std::as_const(kept).view();
    };
    block(problem.rhs, made.rhs, made.resident.rhs);
    block(problem.initial_guess, made.guess, made.resident.initial_guess);
    block(problem.constraints, made.constraints, made.resident.constraints);
    return made;
  }

  /// The solution of the problem on the device, with its vectors in host memory.
  Solution solved(const Problem& problem, const Request& request, bool copied = true) {
    const Both made = both(problem);
    const Solution expected = solve(this->device_, made.host, request);
    auto found = solve<double, Ctx>(this->device_, made.resident, request);
    Solution solution = std::move(found.solution);
    EXPECT_EQ(contains(solution.reason, kCopied), copied) << solution.reason;
    EXPECT_EQ(std::get<HostBlock<double>>(solution.vectors).cols(), 0);
    if (!copied) return solution;
    EXPECT_EQ(solution.status, expected.status) << solution.reason;
    EXPECT_EQ(solution.method, expected.method);
    EXPECT_EQ(solution.iterations, expected.iterations);
    EXPECT_EQ(solution.eigenvalues, expected.eigenvalues);
    EXPECT_EQ(solution.residuals, expected.residuals);
    EXPECT_EQ(solution.error_bounds, expected.error_bounds);
    EXPECT_GT(solution.peak_bytes, 0u);
    solution.vectors = HostBlock<double>(this->on_host(std::move(found.vectors)));
    solution.left_vectors = HostBlock<double>(this->on_host(std::move(found.left_vectors)));
    expect_same(solution.vectors, expected.vectors);
    expect_same(solution.left_vectors, expected.left_vectors);
    return solution;
  }

  static void expect_same(const HostVectors& found, const HostVectors& expected) {
    const auto X = std::get<Block>(found).view(), Y = std::get<Block>(expected).view();
    ASSERT_EQ(X.rows(), Y.rows());
    ASSERT_EQ(X.cols(), Y.cols());
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) ASSERT_EQ(X(i, j), Y(i, j)) << i << ", " << j;
    }
  }

  static void expect_digits(const Solution& found, const Springs& springs, Index count) {
    ASSERT_EQ(found.status, SolveStatus::converged) << found.reason;
    for (Index j = 0; j < count; ++j) {
      const auto truth = static_cast<double>(springs.eigenvalue(j));
      EXPECT_NEAR(found.eigenvalues.at(static_cast<std::size_t>(j)) / truth, 1, 1e-11) << j;
    }
  }

  Problem scaled_line(double factor, bool driven = false, Index n = 60) {
    HostCsrMatrix<double> A =
        generate<double>(this->device_.host(), {.name = "laplace1d", .size = {n}});
    for (Index k = 0; k < A.nnz(); ++k) A.values()[k] *= factor;
    Problem problem{.A = Matrix(std::move(A))};
    if (driven) problem.rhs = constant(n, factor);
    return problem;
  }
};

TYPED_TEST_SUITE_P(HostDetour);

TYPED_TEST_P(HostDetour, PenaltiesLeaveAllDigits) {
  for (const double s : {1e10, 1e14, 1e20, 1e30}) {
    const Springs springs = held_chain(300, s);
    const Problem problem = springs.problem(this->device_.host());
    for (const Method method : {Method::automatic, Method::block_lanczos}) {
      const Solution found = this->solved(problem, {.method = method, .nev = 3});
      this->expect_digits(found, springs, 3);
      EXPECT_TRUE(contains(found.reason, "its rows span a factor of")) << found.reason;
    }
  }
}

/// In a small problem the dense solve has the errors of the whole matrix from 10³ on.
TYPED_TEST_P(HostDetour, PenaltiesOfSmallProblems) {
  const Springs springs = held_chain(40, 1e5);
  this->expect_digits(this->solved(springs.problem(this->device_.host()), {.nev = 3}), springs, 3);
}

TYPED_TEST_P(HostDetour, TinyMassesAndMassesOfZero) {
  Springs springs = held_chain(300, 1);
  for (Index i = 0; i < 300; ++i) springs.masses.push_back(i % 2 == 0 ? 1e-12 : 1);
  this->expect_digits(this->solved(springs.problem(this->device_.host()), {.nev = 3}), springs, 3);
  // Unit masses between massless nodes are a chain of masses between springs of stiffness 1/2.
  Springs massless = held_chain(301, 1);
  massless.ground[300] = 1;
  for (Index i = 0; i < 301; ++i) massless.masses.push_back(i % 2 == 0 ? 0 : 1);
  const Solution found = this->solved(massless.problem(this->device_.host()), {.nev = 3});
  EXPECT_EQ(found.infinite_eigenvalues, 151);
  for (Index j = 0; j < 3; ++j) {
    const double angle = static_cast<double>(j + 1) * std::numbers::pi / 302;
    const double truth = 2 * std::sin(angle) * std::sin(angle);
    EXPECT_NEAR(found.eigenvalues.at(static_cast<std::size_t>(j)) / truth, 1, 1e-11);
  }
}

/// Springs of stiffness s hold the ends at 3 and −1: the solution is linear.
TYPED_TEST_P(HostDetour, HeldRowsOfLinearSystems) {
  constexpr Index n = 300;
  for (const double s : {1e6, 1e12, 1e20, 1e30}) {
    Springs springs = held_chain(n, s);
    springs.ground[n - 1] = s;
    Problem problem = springs.problem(this->device_.host());
    std::vector<double> b(n, 0.0);
    b.front() = 3 * s;
    b.back() = -s;
    problem.rhs = this->column(b);
    for (const bool guessed : {false, true}) {
      if (guessed) problem.initial_guess = this->constant(n, 1);
      const Solution found = this->solved(problem, {});
      ASSERT_EQ(found.status, SolveStatus::converged) << found.reason;
      EXPECT_TRUE(contains(found.reason, "2 rows are held")) << found.reason;
      const double flux = 4 / (static_cast<double>(n - 1) + 2 / s);
      for (Index i = 0; i < n; ++i) {
        const double exact = 3 - flux / s - flux * static_cast<double>(i);
        EXPECT_NEAR(std::get<Block>(found.vectors).view()(i, 0), exact, 1e-6) << s << ", " << i;
      }
    }
  }
}

/// Rows that stand out, as those of a Dirichlet condition do, are left in place where b is not
/// large there, and so are rows of a matrix that all stand out.
TYPED_TEST_P(HostDetour, RowsThatDominateNothingStay) {
  std::vector<Triplet<double>> entries;
  std::vector<double> b(50, 1.0);
  for (Index i = 0; i < 50; ++i) {
    const bool fixed = i % 10 == 0;
    entries.push_back({i, i, fixed ? 1.0 : 2.0});
    if (fixed) b[static_cast<std::size_t>(i)] = 0;
    if (fixed || i % 10 == 9) continue;
    entries.push_back({i, i + 1, -1});
    entries.push_back({i + 1, i, -1});
  }
  const Matrix A(csr_from_triplets<double>(this->device_.host(), 50, 50, entries));
  EXPECT_EQ(this->solved({.A = A, .rhs = this->column(b)}, {}, false).status,
            SolveStatus::converged);
  Springs stiff = held_chain(50, 0);
  for (Index i = 0; i < 50; ++i) stiff.ground[i] = 1e3;
  Problem shifted = stiff.problem(this->device_.host());
  shifted.rhs = this->column(b);
  EXPECT_EQ(this->solved(shifted, {}, false).status, SolveStatus::converged);
}

TYPED_TEST_P(HostDetour, PartsAlongNullVectorsAreRemovedWhereAsked) {
  constexpr Index n = 60;
  Problem problem = held_chain(n, 0).problem(this->device_.host());
  const auto wave = [](Index i) {
    return std::cos(3 * std::numbers::pi * (static_cast<double>(i) + .5) / n);
  };
  std::vector<double> b;
  for (Index i = 0; i < n; ++i) b.push_back(wave(i) + .5);
  problem.rhs = this->column(b);
  const Solution found = this->solved(problem, {.project_rhs = true});
  ASSERT_EQ(found.status, SolveStatus::converged) << found.reason;
  EXPECT_TRUE(contains(found.reason, "removed from b, as asked")) << found.reason;
  const double angle = 3 * std::numbers::pi / (2 * n);
  const double value = 4 * std::sin(angle) * std::sin(angle);
  const auto X = std::get<Block>(found.vectors).view();
  for (Index i = 0; i < n; ++i) {
    EXPECT_NEAR(X(i, 0) - X(0, 0), (wave(i) - wave(0)) / value, 1e-5);
  }
}

TYPED_TEST_P(HostDetour, EntriesOfAnySizeAreScaled) {
  const std::vector<double> truth = laplace_smallest_eigenvalues({60}, 3);
  for (const double factor : {1e-200, 1e200}) {
    const Problem line = this->scaled_line(factor);
    for (const Which which : {Which::smallest, Which::largest}) {
      const Solution found = this->solved(line, {.nev = 3, .which = which});
      ASSERT_EQ(found.status, SolveStatus::converged) << found.reason;
      for (std::size_t j = 0; j < 3; ++j) {
        const double value = which == Which::smallest ? truth[j] : 4 - truth[j];
        EXPECT_NEAR(found.eigenvalues[j] / factor, value, 1e-12);
      }
    }
    const Solution system = this->solved(this->scaled_line(factor, true), {.tolerance = 1e-10});
    for (Index i = 0; i < 60; ++i) {
      const double exact = 0.5 * static_cast<double>((i + 1) * (60 - i));
      EXPECT_NEAR(std::get<Block>(system.vectors).view()(i, 0), exact, 1e-6 * exact);
    }
    Problem triplets = line;
    triplets.normal_equations = true;
    const Solution singular = this->solved(triplets, {.nev = 1, .which = Which::largest});
    EXPECT_NEAR(singular.singular_values.at(0) / factor, 4 - truth[0], 1e-10);
    EXPECT_EQ(std::get<Block>(singular.left_vectors).rows(), 60);
  }
}

/// What works with entries of any size stays on the device: preconditioners and densities.
TYPED_TEST_P(HostDetour, SizesThatMatterNothingStay) {
  using Ctx = typename TestFixture::Ctx;
  for (const double factor : {1e-200, 1e200}) {
    std::vector<Triplet<double>> entries;
    for (Index i = 0; i < 60; ++i) entries.push_back({i, i, factor});
    const auto M = this->from(60, 60, entries);
    auto made = this->both(this->scaled_line(1, true));
    made.resident.preconditioner = this->matrix(M);
    const auto found = solve<double, Ctx>(this->device_, made.resident, {.tolerance = 1e-10});
    EXPECT_EQ(found.solution.status, SolveStatus::converged) << found.solution.reason;
    EXPECT_FALSE(contains(found.solution.reason, kCopied)) << found.solution.reason;
    const auto line = this->both(this->scaled_line(factor, false, 400));
    const SpectralDensity density = spectral_density(this->device_, line.resident.A);
    const EigenvalueCount half = density.count(density.lower(), 2 * factor);
    EXPECT_NEAR(half.count, 200, 5 * half.deviation + 3);
  }
}

TYPED_TEST_P(HostDetour, ConstraintsGuessesAndNearNullVectorsAreTaken) {
  const std::vector<double> truth = laplace_smallest_eigenvalues({600}, 4);
  Problem line = this->scaled_line(1e-200, false, 600);
  const Request request{.nev = 2, .start = StartVectors::random};
  const Solution first = this->solved(line, request);
  line.constraints = Block(std::get<Block>(first.vectors).columns(0, 2));
  const Solution next = this->solved(line, request);
  ASSERT_EQ(next.status, SolveStatus::converged) << next.reason;
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_NEAR(next.eigenvalues.at(j) / 1e-200, truth[j + 2], 1e-9);
  }
  line.initial_guess = Block(std::get<Block>(next.vectors).columns(0, 2));
  EXPECT_LT(this->solved(line, request).iterations, next.iterations);
  Problem system = this->scaled_line(1e-200, true);
  system.near_null = this->constant(60, 1);
  const Request multigrid{.preconditioner = {.type = "multigrid"}};
  EXPECT_EQ(this->solved(system, multigrid).status, SolveStatus::converged);
  system.near_null = this->constant(59, 1);
  EXPECT_TRUE(contains(this->refusal(this->both(system).resident, multigrid), "near_null: "));
}

/// In single precision, sizes and held rows are treated as in host memory.
TYPED_TEST_P(HostDetour, SinglePrecision) {
  using Ctx = typename TestFixture::Ctx;
  HostContext& host = this->device_.host();
  const auto small =
      place(this->context(), convert<float>(host, this->scaled_line(1e-12).A.view()));
  auto found =
      solve<float, Ctx>(this->device_, {.A = ResidentMatrix<float, Ctx>(small.view())}, {.nev = 2});
  EXPECT_EQ(found.solution.status, SolveStatus::converged) << found.solution.reason;
  EXPECT_TRUE(contains(found.solution.reason, kCopied)) << found.solution.reason;
  EXPECT_EQ(found.vectors.rows(), 60);
  const std::vector<double> truth = laplace_smallest_eigenvalues({60}, 2);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_NEAR(found.solution.eigenvalues[j] / 1e-12, truth[j], 1e-5);
  }
  const Problem chain = held_chain(60, 1e12).problem(host);
  const auto held = place(this->context(), convert<float>(host, chain.A.view()));
  MultiVector<float, HostSpace> b(host, 60, 1);
  for (Index i = 0; i < 60; ++i) b.view()(i, 0) = i == 0 ? 2e12f : 0.0f;
  const auto rhs = place(this->context(), std::move(b));
  auto system = solve<float, Ctx>(
      this->device_, {.A = ResidentMatrix<float, Ctx>(held.view()), .rhs = rhs.view()}, {});
  EXPECT_EQ(system.solution.status, SolveStatus::converged) << system.solution.reason;
  const auto x = fetch(this->context(), host, std::move(system.vectors));
  for (Index i = 0; i < 60; ++i) EXPECT_NEAR(x.view()(i, 0), 2, 1e-3);
}

TYPED_TEST_P(HostDetour, MonitorsAreToldOfTheCopy) {
  const auto made = this->both(held_chain(300, 1e12).problem(this->device_.host()));
  std::vector<std::string> stages;
  Monitor monitor;
  monitor.stage = [&](std::string_view name) { stages.emplace_back(name); };
  std::ignore =
      solve<double, typename TestFixture::Ctx>(this->device_, made.resident, {.nev = 2}, monitor);
  ASSERT_FALSE(stages.empty());
  EXPECT_EQ(stages.front(), "copying the problem to host memory");
}

/// A problem with functions cannot be copied.
TYPED_TEST_P(HostDetour, FunctionsStay) {
  using Ctx = typename TestFixture::Ctx;
  using Space = typename TestFixture::Space;
  const ResidentMatrix<double, Ctx> identity(
      60, 60, [](Ctx& context, ConstBlockView<double, Space> X, BlockView<double, Space> Y) {
        copy<double>(context, X, Y);
      });
  const auto refused = [&](const Problem& problem, const Request& request) {
    auto made = this->both(problem);
    made.resident.preconditioner = identity;
    return this->refusal(made.resident, request);
  };
  const std::string advice = ": pass all matrices as stored ones, none as a function";
  EXPECT_EQ(refused(this->scaled_line(1e-200, true), {}),
            "A: the largest entry of the matrix is 2e-200" + advice);
  EXPECT_EQ(refused(this->scaled_line(1, true), {.project_rhs = true}),
            "project_rhs: null vectors are not known" + advice);
  Springs springs = held_chain(60, 1);
  springs.masses.assign(60, 1.0);
  springs.masses[7] = 0;
  EXPECT_EQ(refused(springs.problem(this->device_.host()), {.nev = 1}),
            "B: the smallest diagonal entry of the mass matrix is 0" + advice);
  auto graded = this->both(held_chain(60, 1e8).problem(this->device_.host()));
  graded.resident.preconditioner = identity;
  const auto found =
      solve<double, Ctx>(this->device_, graded.resident, {.nev = 1, .max_iterations = 3});
  EXPECT_FALSE(contains(found.solution.reason, kCopied)) << found.solution.reason;
}

/// A mass matrix that is not positive semidefinite is refused as one in host memory.
TYPED_TEST_P(HostDetour, NegativeMassesAreRefused) {
  Springs springs = held_chain(60, 1);
  springs.masses.assign(60, 1.0);
  springs.masses[7] = -1;
  const auto made = this->both(springs.problem(this->device_.host()));
  EXPECT_TRUE(contains(this->refusal(made.resident, {.nev = 1}),
                       "B: the mass matrix is not positive definite: diagonal entry (8, 8) is -1"));
}

REGISTER_TYPED_TEST_SUITE_P(HostDetour, PenaltiesLeaveAllDigits, PenaltiesOfSmallProblems,
                            TinyMassesAndMassesOfZero, HeldRowsOfLinearSystems,
                            RowsThatDominateNothingStay, PartsAlongNullVectorsAreRemovedWhereAsked,
                            EntriesOfAnySizeAreScaled, SizesThatMatterNothingStay,
                            ConstraintsGuessesAndNearNullVectorsAreTaken, SinglePrecision,
                            MonitorsAreToldOfTheCopy, FunctionsStay, NegativeMassesAreRefused);

}  // namespace
}  // namespace heddle
