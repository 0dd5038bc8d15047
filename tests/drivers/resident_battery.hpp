#pragma once

#include <gtest/gtest.h>

#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/solve_resident.hpp>
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

REGISTER_TYPED_TEST_SUITE_P(ResidentSolve, FindsThePairsOfAnEnd, RefusesThePlanOfAnotherProblem,
                            SolvesSystemsByEntriesAndByCallables, RefusesWhatItCannotSolve,
                            CountsEigenvalues);

}  // namespace
}  // namespace heddle
