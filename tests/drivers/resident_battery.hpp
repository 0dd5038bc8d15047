#pragma once

#include <gtest/gtest.h>

#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/solve_resident.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/// The tests that solves in the memory of a device pass. `Backend` names the context and the choice
/// of the device.
namespace heddle {
namespace {

template <class Backend>
class ResidentSolve : public Backend::Fixture {
 protected:
  using Ctx = typename Backend::Context;
  using Space = typename Ctx::Space;

  Device device_{Backend::kDevice, 2};

  Ctx& context() {
    Ctx* found = nullptr;
    device_.with_context([&](auto& context) {
      if constexpr (std::same_as<std::remove_reference_t<decltype(context)>, Ctx>) found = &context;
    });
    return *found;
  }
  CsrMatrix<double, Space> generated(const std::string& name, std::vector<Index> size) {
    return place(context(),
                 generate<double>(device_.host(), {.name = name, .size = std::move(size)}));
  }
  CsrMatrix<double, Space> from(Index rows, Index cols, const std::vector<Triplet<double>>& list) {
    return place(context(), csr_from_triplets<double>(device_.host(), rows, cols, list));
  }
  static ResidentMatrix<double, Ctx> matrix(const CsrMatrix<double, Space>& A) {
    return ResidentMatrix<double, Ctx>(A.view());
  }
  MultiVector<double, HostSpace> on_host(MultiVector<double, Space> X) {
    return fetch(context(), device_.host(), std::move(X));
  }
  std::string refusal_of_complex(const CsrMatrix<std::complex<double>, Space>& A,
                                 const Request& request) {
    using T = std::complex<double>;
    try {
      std::ignore = solve<T, Ctx>(
          device_, ResidentProblem<T, Ctx>{.A = ResidentMatrix<T, Ctx>(A.view())}, request);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::string refusal(ResidentProblem<double, Ctx> problem, const Request& request) {
    try {
      std::ignore = solve<double, Ctx>(device_, std::move(problem), request);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TYPED_TEST_SUITE_P(ResidentSolve);

TYPED_TEST_P(ResidentSolve, FindsThePairsOfAnEnd) {
  const auto A = this->generated("laplace2d", {30, 20});
  for (const Method method : {Method::automatic, Method::lobpcg, Method::block_lanczos}) {
    auto found = solve<double, typename TestFixture::Ctx>(
        this->device_, {.A = this->matrix(A)}, {.method = method, .nev = 4, .tolerance = 1e-9});
    const Solution& solution = found.solution;
    EXPECT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    const std::vector<double> truth = laplace_smallest_eigenvalues({30, 20}, 4);
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(solution.eigenvalues[j], truth[j], 1e-8);
    EXPECT_EQ(std::get<HostBlock<double>>(solution.vectors).cols(), 0);
    EXPECT_EQ(found.vectors.rows(), 600);
    EXPECT_GE(found.vectors.cols(), 4);
    EXPECT_EQ(solution.device, this->device_.kind());
    EXPECT_EQ(solution.method_reason.empty(), method != Method::automatic);
  }
}

/// X of AX = B and the solution of the least-squares problem with the same A, by entries and by a
/// callable.
TYPED_TEST_P(ResidentSolve, SolvesSystemsByEntriesAndByCallables) {
  using Ctx = typename TestFixture::Ctx;
  using Space = typename TestFixture::Space;
  const auto A = this->generated("laplace1d", {50});
  SparseOperator<double, Ctx> product(this->context(), A.view());
  const ResidentMatrix<double, Ctx> callable(
      50, 50,
      [&product](Ctx& context, ConstBlockView<double, Space> X, BlockView<double, Space> Y) {
        product.apply(context, X, Y);
      });
  MultiVector<double, HostSpace> ones(this->device_.host(), 50, 3);
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < 3; ++j) ones.view()(i, j) = 1;
  }
  const MultiVector<double, Space> B = place(this->context(), std::move(ones));
  for (const bool by_callable : {false, true}) {
    for (const bool normal : {false, true}) {
      ResidentProblem<double, Ctx> problem{.A = by_callable ? callable : this->matrix(A),
                                           .rhs = B.columns(0, 2),
                                           .normal_equations = normal};
      if (by_callable) problem.A_transposed = callable;
      auto found = solve<double, Ctx>(this->device_, problem, {.tolerance = 1e-10});
      EXPECT_EQ(found.solution.status, SolveStatus::converged) << found.solution.reason;
      const MultiVector<double, HostSpace> X = this->on_host(std::move(found.vectors));
      for (Index i = 0; i < 50; ++i) {
        const double exact = 0.5 * static_cast<double>((i + 1) * (50 - i));
        EXPECT_NEAR(X.view()(i, 1), exact, 1e-5 * exact) << i << by_callable << normal;
      }
    }
  }
}

TYPED_TEST_P(ResidentSolve, RefusesWhatItCannotSolve) {
  using Ctx = typename TestFixture::Ctx;
  using Problem = ResidentProblem<double, Ctx>;
  const auto A = this->generated("laplace1d", {30});
  const auto refused = [&](const CsrMatrix<double, typename Ctx::Space>& M) {
    return this->refusal(Problem{.A = this->matrix(M)}, {.nev = 1});
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos ? "" : "'" + text + "' has no '" + part + "'";
  };
  EXPECT_EQ(contains(refused(this->from(2, 2, {{0, 1, 1}})), "A: the matrix is not symmetric"), "");
  EXPECT_EQ(contains(refused(this->from(2, 3, {{0, 1, 1}})), "A: the matrix is 2 x 3"), "");
  auto unsorted = this->from(1, 3, {{0, 0, 1}, {0, 1, 1}});
  const std::int32_t columns[] = {1, 0};
  if constexpr (std::same_as<Ctx, HostContext>) {
    std::copy_n(columns, 2, unsorted.columns());
  } else {
    this->context().copy_to_device(unsorted.columns(), columns, sizeof(columns));
  }
  EXPECT_EQ(contains(this->refusal({.A = this->matrix(unsorted), .normal_equations = true}, {}),
                     "A: row 0 is not in compressed sparse rows"),
            "");
  const Problem plain{.A = this->matrix(A)};
  EXPECT_EQ(contains(this->refusal(plain, {.nev = 31}), "nev is 31"), "");
  EXPECT_EQ(contains(this->refusal(plain, {.precision = Precision::mixed}), "precision: "), "");
  EXPECT_EQ(contains(this->refusal(plain, {.method = Method::block_cg}), "method: "), "");
}

TYPED_TEST_P(ResidentSolve, CountsEigenvalues) {
  const auto A = this->generated("laplace1d", {400});
  const SpectralDensity density = spectral_density(this->device_, this->matrix(A));
  const EigenvalueCount half = density.count(density.lower(), 2);
  EXPECT_NEAR(half.count, 200, 5 * half.deviation + 3);
}

/// Also one that was made for a copy of its problem in host memory.
TYPED_TEST_P(ResidentSolve, RefusesThePlanOfAnotherProblem) {
  using Ctx = typename TestFixture::Ctx;
  const auto grid = this->generated("laplace2d", {30, 20});
  const auto line = this->generated("laplace1d", {600});
  const auto held = this->from(2, 2, {{0, 0, 1e200}, {1, 1, 1e200}});
  const ResidentProblem<double, Ctx> other{.A = this->matrix(line)};
  for (const auto* const A : {&grid, &held}) {
    const SolvePlan made = plan<double, Ctx>(this->device_, {.A = this->matrix(*A)}, {.nev = 1});
    EXPECT_EQ((run<double, Ctx>(this->device_, {.A = this->matrix(*A)}, made).solution.count()), 1);
    EXPECT_THROW((run<double, Ctx>(this->device_, other, made)), InvalidArgument);
  }
}

/// Pairs and solutions of complex problems are those of the same problems in host memory.
TYPED_TEST_P(ResidentSolve, TakesComplexNumbers) {
  using T = std::complex<double>;
  using Ctx = typename TestFixture::Ctx;
  const auto made = [&](const char* name, std::vector<Index> size, double density) {
    return generate<T>(this->device_.host(),
                       {.name = name, .size = std::move(size), .density = density});
  };
  const HostCsrMatrix<T> lattice = made("random_flux3d", {9, 8, 7}, 0);
  const HostCsrMatrix<T> mass = made("random_hermitian", {504}, 5);
  const CsrMatrix<T, typename Ctx::Space> A =
      place(this->context(), made("random_flux3d", {9, 8, 7}, 0));
  const CsrMatrix<T, typename Ctx::Space> B =
      place(this->context(), made("random_hermitian", {504}, 5));
  const auto expect = [&](bool pencil, const Request& request) {
    ComplexProblem host{.A = ComplexMatrix(lattice.view())};
    ResidentProblem<T, Ctx> there{.A = ResidentMatrix<T, Ctx>(A.view())};
    if (pencil) {
      host.B = ComplexMatrix(mass.view());
      there.B = ResidentMatrix<T, Ctx>(B.view());
    }
    const Solution expected = solve(this->device_, host, request);
    const auto found = solve<T, Ctx>(this->device_, there, request);
    ASSERT_EQ(found.solution.status, SolveStatus::converged) << found.solution.reason;
    EXPECT_EQ(found.solution.completeness.proven, expected.completeness.proven);
    EXPECT_EQ(found.vectors.rows(), 504);
    ASSERT_EQ(found.solution.eigenvalues.size(), expected.eigenvalues.size());
    for (std::size_t j = 0; j < expected.eigenvalues.size(); ++j) {
      EXPECT_NEAR(found.solution.eigenvalues[j], expected.eigenvalues[j],
                  expected.error_bounds[j] + found.solution.error_bounds[j] + 1e-12);
    }
  };
  for (const bool pencil : {false, true}) {
    for (const Method method : {Method::automatic, Method::lobpcg, Method::block_lanczos}) {
      expect(pencil, {.method = method, .nev = 4});
      expect(pencil, {.method = method, .nev = 4, .which = Which::largest});
    }
    expect(pencil, {.nev = 4, .sigma = 0.7});
    expect(pencil, {.interval = RealInterval{0.7, 0.75}});
  }
  EXPECT_EQ(this->refusal_of_complex(A, {.nev = 1, .precision = Precision::single}),
            "precision: arrays on a device are used as they are, in their own precision: convert "
            "them, or leave it out");
  Request multigrid{.method = Method::lobpcg, .nev = 1};
  multigrid.preconditioner.type = "multigrid";
  EXPECT_NE(this->refusal_of_complex(A, multigrid).find("takes real matrices only"),
            std::string::npos);
  const std::vector<Triplet<T>> symmetric = {{0, 1, {0, 1}}, {1, 0, {0, 1}}};
  const auto wrong =
      place(this->context(), csr_from_triplets<T>(this->device_.host(), 2, 2, symmetric));
  EXPECT_EQ(this->refusal_of_complex(wrong, {.nev = 1}),
            "A: the matrix is not Hermitian: entries (i, j) and the conjugates of (j, i) differ by "
            "up to 2, the largest entry is 1");
}

/// A system that is solved where it lies, and one with held rows, which is copied.
TYPED_TEST_P(ResidentSolve, SolvesComplexSystems) {
  using T = std::complex<double>;
  using Ctx = typename TestFixture::Ctx;
  HostContext& host = this->device_.host();
  for (const double held : {4.0, 1e12}) {
    std::vector<Triplet<T>> entries;
    for (Index i = 0; i < 40; ++i) {
      entries.push_back({i, i, {i == 7 ? held : 4.0, 0}});
      if (i == 0) continue;
      entries.push_back({i, i - 1, {0, 1}});
      entries.push_back({i - 1, i, {0, -1}});
    }
    const auto A = csr_from_triplets<T>(host, 40, 40, entries);
    const auto there = place(this->context(), csr_from_triplets<T>(host, 40, 40, entries));
    MultiVector<T, HostSpace> X(host, 40, 2), rhs(host, 40, 2);
    fill_random<T>(host, 3, 0, X.view());
    SparseOperator<T, HostContext>(host, A.view()).apply(host, X.view(), rhs.view());
    const auto b = place(this->context(), std::move(rhs));
    const auto found =
        solve<T, Ctx>(this->device_, {.A = ResidentMatrix<T, Ctx>(there.view()), .rhs = b.view()},
                      {.tolerance = 1e-12});
    ASSERT_EQ(found.solution.status, SolveStatus::converged) << found.solution.reason;
    const bool copied = found.solution.reason.find("copied to host memory") != std::string::npos;
    EXPECT_EQ(copied, held > 1e6) << found.solution.reason;
    MultiVector<T, HostSpace> solved(host, 40, 2);
    fetch<T>(this->context(), found.vectors.view(), solved.view());
    for (Index i = 0; i < 40; ++i) {
      for (Index j = 0; j < 2; ++j) {
        EXPECT_LT(std::abs(solved.view()(i, j) - X.view()(i, j)), 1e-10);
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(ResidentSolve, FindsThePairsOfAnEnd, RefusesThePlanOfAnotherProblem,
                            TakesComplexNumbers, SolvesComplexSystems,
                            SolvesSystemsByEntriesAndByCallables, RefusesWhatItCannotSolve,
                            CountsEigenvalues);

}  // namespace
}  // namespace heddle
