#include <gtest/gtest.h>

#include <heddle/solvers/krylov/krylov_basis.hpp>
#include <heddle/solvers/lanczos/operator_choice.hpp>
#include <optional>

#include "solvers/eigen_test_support.hpp"
#include "support/tolerance.hpp"

namespace heddle::detail {
namespace {

using Choice = OperatorChoice<double, HostContext>;

BlockLanczosOptions wanting(Index nev, Which which = Which::smallest) {
  BlockLanczosOptions options;
  options.nev = nev;
  options.which = which;
  options.tolerance = 1e-8;
  return options;
}

/// The parts of a block Lanczos solve that a choice of operator depends on, without the solve.
struct Parts {
  static constexpr Index kBlock = 4;
  static constexpr Index kMaxBasis = 48;

  Parts(LinearOperator<double, HostContext>& A, double norm, const BlockLanczosOptions& wanted,
        const std::optional<CsrView<double, HostSpace>>& factored = {})
      : options(wanted),
        problem{.A = &A},
        F(context, A.row_range(), kBlock),
        basis(context, A.row_range(), kMaxBasis, kBlock, false),
        ritz(kMaxBasis, kBlock),
        pairs(F.map(), ritz,
              {.n = A.rows(), .nev = options.nev, .block = kBlock, .max_basis = kMaxBasis}),
        engine(context, options, {}, monitor, history, 1),
        choice(context, problem, options, kMaxBasis, F, ritz, pairs, engine) {
    if (factored) problem.shifted_inverse = &inverse.emplace(*factored);
    basis.reset(nullptr, 5);
    pairs.reset(options, std::numeric_limits<double>::epsilon());
    pairs.set_norms(norm, 1);
    choice.use_C();
  }

  /// A cycle from a random block under F as it is.
  void cycle() {
    basis.clear();
    basis.draw_front(context);
    basis.multiply(context, F);
    while (!basis.full()) {
      basis.expand(context, F);
      basis.multiply(context, F);
    }
    basis.fetch_column(context);
    ASSERT_TRUE(ritz.solve(basis.projected().T(), basis.projected().column()));
    pairs.take_bounds();
    choice.note_far_end();
  }

  /// F e for e = (1, …, 1)ᵀ: the eigenvalues of F where C is diagonal.
  std::vector<double> eigenvalues_of_F() {
    const Index n = F.rows();
    MultiVector<double, HostSpace> e(context, n, 1), Fe(context, n, 1);
    std::fill_n(e.view().data(), n * e.ld(), 1.0);
    F.apply(context, e.view(), Fe.view());
    std::vector<double> values;
    for (Index i = 0; i < n; ++i) values.push_back(Fe.view()(i, 0));
    return values;
  }

  HostContext context;
  std::optional<ShiftedInverse<double, HostContext>> inverse;
  BlockLanczosOptions options;
  EigenProblem<double, HostContext> problem;
  LanczosOperator<double, HostContext> F;
  KrylovBasis<double, HostContext> basis;
  LanczosRitz ritz;
  PairLedger pairs;
  Monitor monitor;
  std::vector<IterationRecord> history;
  Engine<HostContext> engine;
  Choice choice;
};

TEST(OperatorChoice, TheFarEndIsAnUpperBoundOfTheSpectrum) {
  test::DiagonalOperator<double> A(test::counting(500));
  Parts smallest(A, 500, wanting(4)), largest(A, 500, wanting(4, Which::largest));
  smallest.cycle();
  EXPECT_GE(smallest.choice.far_end(), 500);
  EXPECT_LE(smallest.choice.far_end(), 600);
  largest.cycle();
  EXPECT_GE(largest.choice.far_end(), -1);  // y = −λ
  EXPECT_LE(largest.choice.far_end(), 100);
}

TEST(OperatorChoice, APolynomialDampsTheUnwantedAndMagnifiesTheWanted) {
  const Index n = 500, nev = 4;
  const std::vector<double> diagonal = test::counting(n);
  test::DiagonalOperator<double> A(diagonal);
  for (const Which which : {Which::smallest, Which::largest}) {
    Parts parts(A, static_cast<double>(n), wanting(nev, which));
    parts.cycle();
    const std::optional<Index> vectors = parts.choice.improve();
    ASSERT_TRUE(vectors.has_value());
    EXPECT_GT(*vectors, nev);
    ASSERT_TRUE(parts.F.map().filters());
    const ChebyshevInterval& damped = parts.F.map().filter()->interval;
    const std::vector<double> theta = parts.eigenvalues_of_F();
    for (Index i = 0; i < n; ++i) {
      const double lambda = diagonal[static_cast<std::size_t>(i)];
      const double value = theta[static_cast<std::size_t>(i)];
      const double y = which == Which::smallest ? lambda : -lambda;
      const Index rank = which == Which::smallest ? i : n - 1 - i;
      EXPECT_LE(y, damped.upper);
      if (y < damped.lower) {
        EXPECT_NEAR(value, parts.F.map().theta_of(lambda), 1e-9 * value) << i;
        EXPECT_GT(value, 1) << i;
      } else {
        EXPECT_LE(std::abs(value), 1 + 1e-10) << i;
        EXPECT_GE(rank, nev) << "a wanted value is damped";
      }
    }
    const double first = theta[static_cast<std::size_t>(which == Which::smallest ? 0 : n - 1)];
    EXPECT_GE(first, std::cosh(4.0) * 0.99);  // the Ritz value at hand lies above the first value
    EXPECT_EQ(first, *std::max_element(theta.begin(), theta.end()));
  }
}

TEST(OperatorChoice, APolynomialIsKeptOnceACycleHasLocatedTheWanted) {
  test::DiagonalOperator<double> A(test::counting(500));
  Parts parts(A, 500, wanting(4));
  parts.cycle();
  const ChebyshevFilter filter{{60, 501},
                               12};  // one from 20 on would have half the values undamped
  parts.F.set_filter(filter);
  parts.cycle();
  EXPECT_LT(parts.ritz.residual(3), 0.01 * parts.ritz.value(3));
  EXPECT_FALSE(parts.choice.improve().has_value());
  EXPECT_FALSE(parts.engine.ended());
  EXPECT_EQ(parts.F.map().degree(), filter.degree);
}

TEST(OperatorChoice, StaysWithCWhereNothingElseIsAskedForOrWorthwhile) {
  std::vector<double> gap = test::counting(500, 10000);
  for (Index i = 0; i < 8; ++i) gap[static_cast<std::size_t>(i)] = 1000.0 * static_cast<double>(i);
  test::DiagonalOperator<double> apart(gap), counting(test::counting(500));
  Parts easy(apart, 10500, wanting(4));  // a polynomial of degree 3 would do
  easy.cycle();
  EXPECT_FALSE(easy.choice.improve().has_value());
  EXPECT_FALSE(easy.engine.ended());
  BlockLanczosOptions plain = wanting(4);
  plain.filter = LanczosFilter::none;
  Parts none(counting, 500, plain);
  none.cycle();
  EXPECT_FALSE(none.choice.improve().has_value());
}

TEST(OperatorChoice, AnInverseIsTakenWithSigmaBelowTheSpectrum) {
  HostContext context;
  const std::vector<Index> size = {19, 20};
  auto A = test::make_operator<double>(context, {"laplace2d", size});
  const std::vector<double> exact = laplace_smallest_eigenvalues(size, 4);
  BlockLanczosOptions options = wanting(4);
  options.filter = LanczosFilter::inverse;
  Parts parts(A, *A.one_norm(), options, A.matrix());
  parts.cycle();
  ASSERT_TRUE(parts.choice.improve().has_value());
  ASSERT_TRUE(parts.F.map().inverts());
  EXPECT_EQ(parts.F.map().sigma(), 0);  // A is positive definite
  parts.cycle();
  for (Index j = 0; j < 4; ++j) {
    const double value = exact[static_cast<std::size_t>(j)];
    EXPECT_NEAR(parts.ritz.value(j), 1 / value, 1e-9 / value) << j;
  }
  EXPECT_FALSE(parts.choice.shift_is_too_near());
  const Choice::Shift lower = parts.choice.lower_shift(100);
  EXPECT_NEAR(lower.highest, exact[0] - 100 * exact[0], 1e-6);
  parts.choice.use_C();
  parts.choice.invert(lower);
  EXPECT_DOUBLE_EQ(parts.F.map().sigma(), lower.highest);
}

TEST(OperatorChoice, SigmaGoesBelowTheSmallestValueOfAnIndefiniteMatrix) {
  HostContext context;
  HostCsrMatrix<double> shifted = generate<double>(context, {"laplace1d", {300}});
  const CsrView<double, HostSpace> view = std::as_const(shifted).view();
  for (Index i = 0; i < view.rows; ++i) {
    for (std::int64_t e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
      if (view.columns[e] == i) shifted.values()[e] -= 1;  // the spectrum of the Laplacian, less 1
    }
  }
  SparseOperator<double, HostContext> A(context, std::move(shifted));
  BlockLanczosOptions options = wanting(4);
  options.filter = LanczosFilter::inverse;
  Parts parts(A, *A.one_norm(), options, A.matrix());
  parts.cycle();
  ASSERT_TRUE(parts.choice.improve().has_value());
  ASSERT_TRUE(parts.F.map().inverts());
  const double smallest = laplace_smallest_eigenvalues({300}, 1)[0] - 1;
  EXPECT_LT(parts.F.map().sigma(), smallest);
  EXPECT_GT(parts.F.map().sigma(), smallest - 1);
}

TEST(OperatorChoice, AValueAboveTheDampedIntervalCorrectsTheFarEnd) {
  test::DiagonalOperator<double> A(test::counting(500));
  Parts parts(A, 500, wanting(4));
  parts.cycle();
  EXPECT_FALSE(parts.choice.corrects_far_end(1e6)) << "C damps nothing";
  parts.F.set_filter({{20, 400}, 12});
  EXPECT_FALSE(parts.choice.corrects_far_end(399));
  EXPECT_TRUE(parts.choice.corrects_far_end(450));
  EXPECT_GT(parts.choice.far_end(), 500);
}

TEST(OperatorChoice, EndsTheSolveWhereALimitLeavesNoRoom) {
  test::DiagonalOperator<double> diagonal(test::counting(500));
  BlockLanczosOptions few = wanting(4);
  few.max_applications = 100;
  Parts counted(diagonal, 500, few);
  counted.cycle();
  EXPECT_FALSE(counted.choice.improve().has_value());
  ASSERT_TRUE(counted.engine.ended());
  EXPECT_EQ(counted.engine.status(), SolveStatus::max_iterations);
  EXPECT_FALSE(counted.F.map().filters());

  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace2d", {19, 20}});
  BlockLanczosOptions late = wanting(4);
  late.filter = LanczosFilter::inverse;
  late.time_limit_s = 0;
  Parts timed(A, *A.one_norm(), late, A.matrix());
  timed.cycle();
  EXPECT_FALSE(timed.choice.improve().has_value());
  ASSERT_TRUE(timed.engine.ended());
  EXPECT_EQ(timed.engine.status(), SolveStatus::time_limit);
  EXPECT_FALSE(timed.F.map().inverts());
}

}  // namespace
}  // namespace heddle::detail
