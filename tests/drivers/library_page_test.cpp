// The examples of docs/library.md, word by word: scripts/check-docs.py compares them with the page.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/factorized.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <heddle/linalg/distributed/distribute.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <heddle/spgemm/band.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <iostream>
#include <numbers>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/sanitized.hpp"

namespace {

/// The k-th smallest eigenvalue of the Laplacian of n points, from 1.
double laplacian(int n, int k) {
  const double s = std::sin(std::numbers::pi * k / (2.0 * (n + 1)));
  return 4 * s * s;
}

heddle::Problem line(heddle::Index n) {
  return {.A = heddle::Matrix::generate({.name = "laplace1d", .size = {n}})};
}

TEST(LibraryPage, SolvesComplexMatrices) {
  using Complex = std::complex<double>;
  const std::vector<heddle::Index> row_offsets{0, 2, 4};
  const std::vector<std::int32_t> columns{0, 1, 0, 1};
  const std::vector<Complex> values{2, {0, 1}, {0, -1}, 2};  // [2, i; -i, 2]: eigenvalues 1 and 3
  const heddle::ComplexProblem problem{
      .A = heddle::ComplexMatrix(2, 2, row_offsets, columns, values)};
  const heddle::Solution solution = heddle::solve(problem, {.nev = 1});
  const auto X = std::get<heddle::ComplexBlock>(solution.vectors).view();
  EXPECT_NEAR(solution.eigenvalues.at(0), 1, 1e-15);
  EXPECT_NEAR(std::abs(X(0, 0) + Complex(0, 1) * X(1, 0)), 0, 1e-14);
}

TEST(LibraryPage, SolvesOwnCompressedRows) {
  const heddle::Index n = 40;
  std::vector<heddle::Index> row_offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (std::int32_t i = 0; i < n; ++i) {
    for (const std::int32_t j : {i - 1, i, i + 1}) {
      if (j < 0 || j >= n) continue;
      columns.push_back(j);
      values.push_back(i == j ? 2 : -1);
    }
    row_offsets.push_back(static_cast<heddle::Index>(columns.size()));
  }
  const heddle::Problem problem{.A = heddle::Matrix(n, n, row_offsets, columns, values)};
  const heddle::Solution solution =
      heddle::solve(problem, {.nev = 10, .which = heddle::Which::largest});
  ASSERT_EQ(solution.count(), 10);
  for (int k = 0; k < 10; ++k) {
    EXPECT_NEAR(solution.eigenvalues[static_cast<std::size_t>(k)], laplacian(40, 40 - k), 1e-10);
  }
}

TEST(LibraryPage, PrintsAPlanAndRunsIt) {
  heddle::Device device(heddle::DeviceChoice::host);
  const heddle::Problem problem = line(300);
  const heddle::Request request{.nev = 3};
  const std::ostringstream printed;
  std::streambuf* const before = std::cout.rdbuf(printed.rdbuf());
  const heddle::SolvePlan plan = heddle::plan(device, problem, request);
  for (const heddle::PlannedChoice& choice : plan.choices()) {
    std::cout << choice.name << ": " << choice.value << " " << choice.reason << "\n";
  }
  const heddle::Solution solution = heddle::run(device, problem, plan);
  std::cout.rdbuf(before);
  EXPECT_NE(printed.str().find("method: "), std::string::npos) << printed.str();
  EXPECT_NEAR(solution.eigenvalues.at(0), laplacian(300, 1), 1e-12);
}

TEST(LibraryPage, SolvesWithOneFactorisation) {
  const heddle::Matrix A = heddle::Matrix::generate({.name = "laplace1d", .size = {50}});
  const double sigma = 0.5 * (laplacian(50, 3) + laplacian(50, 4));
  heddle::HostContext context;
  heddle::MultiVector<double, heddle::HostSpace> ones(context, 50, 2), block(context, 50, 2);
  std::fill_n(ones.view().data(), 100, 1.0);
  const auto R = std::as_const(ones).view();
  const auto X = block.view();
  const std::ostringstream printed;
  std::streambuf* const before = std::cout.rdbuf(printed.rdbuf());
  heddle::Factorized F(A);                                      // heddle::Matrix A; or F(A, B)
  if (!F.factor(sigma)) throw std::runtime_error(F.trouble());  // A - sigma I is singular
  F.solve(R, X);                                                // n x b blocks; as often as wanted
  std::cout << F.inertia()->negative << " eigenvalues of A lie below sigma\n";
  std::cout.rdbuf(before);
  EXPECT_EQ(printed.str(), "3 eigenvalues of A lie below sigma\n");
  EXPECT_NEAR((2 - sigma) * X(0, 1) - X(1, 1), 1, 1e-9);
}

TEST(LibraryPage, WatchesASolve) {
  const heddle::Problem problem = line(300);
  const heddle::Request request{.nev = 3};
  heddle::Device device(heddle::DeviceChoice::automatic);
  const heddle::Solution solution =
      heddle::solve(device, problem, request,
                    [](const heddle::MonitorState& state) { return state.record.iteration < 100; });
  EXPECT_NEAR(solution.eigenvalues.at(0), laplacian(300, 1), 1e-12);
}

int with_processes(const heddle::Problem& problem, const heddle::Request& request, double& first) {
  auto processes = heddle::started_processes();  // null: this one alone
  if (processes && !processes->leads()) return heddle::serve(processes);
  heddle::Device device(heddle::DeviceChoice::automatic, 0,
                        processes);                                     // GPUs, if each has its own
  heddle::Solution solution = heddle::solve(device, problem, request);  // `problem`: all rows
  if (processes) heddle::dismiss(*processes);
  first = solution.eigenvalues.at(0);
  return 0;
}

TEST(LibraryPage, IsOneProcessWithoutALauncher) {
  double first = 0;
  EXPECT_EQ(with_processes(line(300), {.nev = 3}, first), 0);
  EXPECT_NEAR(first, laplacian(300, 1), 1e-12);
}

/// Compiled alone: rows of a matrix that several processes make.
[[maybe_unused]] auto own_rows(heddle::HostContext& context,
                               const std::shared_ptr<heddle::Processes>& processes,
                               const heddle::RowRanges& rows) {
  const heddle::RowRange own = rows.of(processes->rank());  // rows: heddle::RowRanges
  const auto part = heddle::generate<double>(context, {"laplace3d", {400, 400, 400}},
                                             {own.first, own.first + own.local});
  const auto A = heddle::distribute(context, part.view(), own, rows);
  return A.rows();
}

TEST(LibraryPage, SolvesWithAContext) {
  HEDDLE_SKIP_WITH_SANITIZER();
  heddle::HostContext context;  // or CudaContext, in a build with CUDA
  auto matrix = heddle::generate<double>(context, {.name = "laplace3d", .size = {50, 50, 50}});
  heddle::SparseOperator<double, heddle::HostContext> A(context, std::move(matrix));
  auto M = heddle::make_preconditioner<double>(context, "chebyshev", A.matrix(), {{"degree", 8}});
  heddle::LobpcgWorkspace<double, heddle::HostContext> workspace;
  const auto& result = heddle::lobpcg<double, heddle::HostContext>(
      context, {.A = &A, .preconditioner = M.get()}, {{.nev = 10}}, workspace);
  EXPECT_EQ(result.status, heddle::SolveStatus::converged) << result.reason;
  EXPECT_NEAR(result.eigenvalues.at(0), 3 * laplacian(50, 1), 1e-9);
}

template <heddle::Scalar T, class Ctx>
class Scaled final : public heddle::Preconditioner<T, Ctx> {
 public:
  Scaled(heddle::Index order, double factor)
      : heddle::Preconditioner<T, Ctx>(order, order), factor_(factor) {}

 private:
  void apply_block(Ctx& context, heddle::ConstBlockView<T, typename Ctx::Space> X,
                   heddle::BlockView<T, typename Ctx::Space> Y) override {
    heddle::axpby<T>(context, factor_, X, 0, Y);
  }
  double factor_;
};

TEST(LibraryPage, TakesAPreconditionerOfItsOwn) {
  heddle::HostContext context;
  heddle::SparseOperator<double, heddle::HostContext> A(
      context, heddle::generate<double>(context, {.name = "laplace1d", .size = {60}}));
  Scaled<double, heddle::HostContext> M(60, 0.5);
  heddle::LobpcgWorkspace<double, heddle::HostContext> workspace;
  const auto& result = heddle::lobpcg<double, heddle::HostContext>(
      context, {.A = &A, .preconditioner = &M}, {{.nev = 2}}, workspace);
  EXPECT_EQ(result.status, heddle::SolveStatus::converged) << result.reason;
  EXPECT_NEAR(result.eigenvalues.at(0), laplacian(60, 1), 1e-10);
}

/// The entry (i, i) of a matrix in compressed rows.
double diagonal(heddle::CsrView<double, heddle::HostSpace> A, heddle::Index i) {
  for (heddle::Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    if (A.columns[k] == i) return A.values[k];
  }
  return 0;
}

TEST(LibraryPage, MultipliesSparseMatrices) {
  heddle::HostContext context;
  const auto A = heddle::generate<double>(context, {.name = "laplace1d", .size = {30}});
  const auto& B = A;
  const auto& P = A;
  const heddle::HostCsrMatrix<double> C = heddle::spgemm<double>(context, A.view(), B.view());
  const heddle::HostCsrMatrix<double> coarse =
      heddle::galerkin_product<double>(context, A.view(), P.view());
  EXPECT_EQ(diagonal(C.view(), 15), 6);        // 1 + 4 + 1
  EXPECT_EQ(diagonal(coarse.view(), 15), 20);  // (A^3)_ii = C(6, 3)
}

TEST(LibraryPage, MultipliesBands) {
  heddle::HostContext context;
  const auto A = heddle::generate<double>(context, {.name = "laplace1d", .size = {30}});
  const heddle::DiaShape shape = heddle::dia_shape(context, A.view());
  const heddle::HostDiaMatrix<double> banded =
      heddle::dia_from_csr<double>(context, A.view(), shape);
  const heddle::BandPlan<double, heddle::HostContext> plan(context, shape, shape);
  const heddle::HostDiaMatrix<double> square = plan.multiply(context, banded, banded);
  EXPECT_EQ(square.shape().offsets.size(), 5U);
}

}  // namespace
