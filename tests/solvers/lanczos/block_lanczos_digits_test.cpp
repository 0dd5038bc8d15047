#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <optional>

#include "solvers/digits.hpp"

namespace heddle {
namespace {

/// Block Lanczos with its defaults, at both ends, against a dense solve in long double.
TEST(BlockLanczosDigits, EveryValueLiesWithinItsBound) {
  for (const test::StiffProblem& problem : test::stiff_problems()) {
    HostContext context(2);
    SparseOperator<double, HostContext> A(context, problem.matrix(context));
    std::optional<SparseOperator<double, HostContext>> B;
    if (!problem.masses.empty()) B.emplace(context, problem.mass(context));
    std::vector<double> truth = problem.eigenvalues();
    for (const Which which : {Which::smallest, Which::largest}) {
      SCOPED_TRACE(problem.name + (which == Which::smallest ? ", smallest" : ", largest"));
      using Matrix = CsrView<double, HostSpace>;
      ShiftedInverse<double, HostContext> shifted(A.matrix(), B ? B->matrix() : Matrix{});
      std::optional<ShiftedInverse<double, HostContext>> mass_inverse;
      EigenProblem<double, HostContext> eigenproblem{.A = &A};
      if (B) {
        mass_inverse.emplace(B->matrix());
        ASSERT_TRUE(mass_inverse->factor(context, 0));
        eigenproblem.B = &*B;
        eigenproblem.B_inverse = &*mass_inverse;
      }
      if (which == Which::smallest) eigenproblem.shifted_inverse = &shifted;
      BlockLanczosOptions options;
      options.nev = 5;
      options.which = which;
      const auto result = block_lanczos<double, HostContext>(context, eigenproblem, options);
      EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
      const double top = std::max(std::abs(truth.front()), std::abs(truth.back()));
      test::expect_digits(result, truth, 1e-18 * top);
      std::reverse(truth.begin(), truth.end());
    }
  }
}

/// Two small dense pencils A = λB whose B has a condition number of 10⁷ to 10⁸, with their
/// eigenvalues from 45 digits. One value of each has a rounding error that leaves the places of
/// others open.
struct IllConditioned {
  std::vector<double> A, B;  ///< lower triangles, row by row
  std::vector<double> truth;
  Index n;
  Which which;
};

const IllConditioned kOfAnUnwantedValue{
    {0.5851602785926363, 0.3976143753828297, 0.2729863873821537, 0.26181882366305076,
     0.1767664921007726, 0.11761638426749767, -0.23890980346197066, -0.16232371259716244,
     -0.10690818011233717, 0.09754722532202253},
    {0.5466704650020188, 0.37146068083226536, 0.25503028962995156, 0.2445972895193755,
     0.16513940533680146, 0.10987998644407336, -0.22319514521083547, -0.15164662177645888,
     -0.0998761308185391, 0.09113090716735095},
    {1.0704077057456422, 1.0704077063854904, 1.0704077063875683, 1.0704077063875922},
    4,
    Which::smallest};

const IllConditioned kAtTheLargestEnd{
    {1.9293141429219895, 0.13733218756826707, 0.04833807882291144, 3.11887006291825,
     0.23087048303960261, 5.0446739404023795},
    {0.27626299388671366, 0.019664916381715056, 0.006921642296222687, 0.44659828171916227,
     0.033058883167670486, 0.7223586325071572},
    {6.9836141126968272, 6.9836141126926958, 6.983614112692696},
    3,
    Which::largest};

TEST(BlockLanczosDigits, RoundingOfUnwantedValuesLeavesPlacesOpen) {
  for (const IllConditioned& pencil : {kOfAnUnwantedValue, kAtTheLargestEnd}) {
    HostContext context(1);
    const auto matrix = [&](const std::vector<double>& triangle) {
      std::vector<Triplet<double>> entries;
      for (Index i = 0, next = 0; i < pencil.n; ++i) {
        for (Index j = 0; j <= i; ++j, ++next) {
          const double value = triangle[static_cast<std::size_t>(next)];
          entries.push_back({i, j, value});
          if (j < i) entries.push_back({j, i, value});
        }
      }
      return csr_from_triplets<double>(context, pencil.n, pencil.n, entries);
    };
    SparseOperator<double, HostContext> A(context, matrix(pencil.A)), B(context, matrix(pencil.B));
    ShiftedInverse<double, HostContext> shifted(A.matrix(), B.matrix()), mass(B.matrix());
    EigenProblem<double, HostContext> problem{.A = &A, .B = &B};
    if (pencil.which == Which::smallest) {
      problem.shifted_inverse = &shifted;
    } else {
      ASSERT_TRUE(mass.factor(context, 0));
      problem.B_inverse = &mass;
    }
    BlockLanczosOptions options;
    options.nev = pencil.n - 1;
    options.which = pencil.which;
    options.criterion = Criterion::norm;
    const auto result = block_lanczos<double, HostContext>(context, problem, options);
    ASSERT_EQ(std::ssize(result.eigenvalues), options.nev) << result.reason;
    for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
      EXPECT_NEAR(result.eigenvalues[j], pencil.truth[j], result.error_bounds[j]) << j;
    }
  }
}

}  // namespace
}  // namespace heddle
