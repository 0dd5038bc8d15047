#include <gtest/gtest.h>

#include <drivers/chain.hpp>
#include <heddle/drivers/plan/request_rules.hpp>
#include <heddle/drivers/problem/request_fields.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/base/error.hpp>
#include <string>
#include <tuple>

namespace heddle {
namespace {

using test::Chain;

const Chain<std::int64_t> kChain(8);
const std::vector<double> kOnes(8, 1);

Block ones() { return Block(8, 1, kOnes); }
Problem eigenproblem() { return {.A = kChain.matrix()}; }
Problem triplets() { return {.A = kChain.matrix(), .normal_equations = true}; }
Problem system() { return {.A = kChain.matrix(), .rhs = ones()}; }
Problem least_squares() { return {.A = kChain.matrix(), .rhs = ones(), .normal_equations = true}; }

/// The message that a solve of `problem` is refused with, empty if it is not.
std::string refusal(const Problem& problem, Request request) {
  request.device = DeviceChoice::host;
  try {
    solve(problem, request);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(RequestRules, FieldsOfOtherMethods) {
  EXPECT_EQ(refusal(eigenproblem(), {.method = Method::lobpcg, .nev = 1, .max_basis = 8}),
            "max_basis belongs to block_lanczos, the method is lobpcg");
  EXPECT_EQ(
      refusal(eigenproblem(), {.method = Method::block_lanczos, .nev = 1, .refresh_interval = 9}),
      "refresh_interval belongs to lobpcg and block_cg, the method is block_lanczos");
  EXPECT_EQ(
      refusal(eigenproblem(),
              {.method = Method::block_lanczos, .nev = 1, .preconditioner = {.type = "jacobi"}}),
      "preconditioner.type belongs to lobpcg and block_cg, the method is block_lanczos");
  EXPECT_EQ(
      refusal(eigenproblem(), {.method = Method::lobpcg, .nev = 1, .interval = RealInterval{0, 1}}),
      "interval belongs to block_lanczos, the method is lobpcg");
  EXPECT_EQ(refusal(system(), {.method = Method::block_cg, .criterion = Criterion::norm}),
            "criterion belongs to lobpcg and block_lanczos, the method is block_cg");
  EXPECT_EQ(refusal(system(), {.nev = 3}),
            "nev belongs to lobpcg and block_lanczos, the method is block_cg");
  EXPECT_EQ(refusal(system(), {.damp = 1}),
            "damp belongs to least squares, the method is block_cg");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 1, .damp = 1}),
            "damp belongs to block_cg, the method is block_lanczos");
  EXPECT_EQ(refusal(least_squares(), {.damp = 1}), "");
  Problem constrained = eigenproblem();
  const std::vector<double> ones(static_cast<std::size_t>(constrained.A.rows()), 1);
  constrained.constraints = Block(constrained.A.rows(), 1, ones);
  EXPECT_EQ(refusal(constrained, {.method = Method::block_lanczos, .nev = 1}),
            "constraints: belongs to lobpcg and to sigma, the method is block_lanczos");
  EXPECT_EQ(refusal(constrained, {.nev = 1, .interval = RealInterval{0, 1}}),
            "constraints: does not go with interval");
  EXPECT_EQ(refusal(triplets(), {.nev = 1, .damp = 1}),
            "damp belongs to block_cg, the method is block_lanczos");
}

TEST(RequestRules, TuningFieldsOfOtherMethodsHaveNoEffectWhereNoneIsNamed) {
  const Request tuned{.nev = 1,
                      .which = Which::largest,
                      .refresh_interval = 9,
                      .algorithm = CgAlgorithm::pseudo_block,
                      .preconditioner = {.type = "jacobi"}};
  EXPECT_EQ(refusal(eigenproblem(), tuned), "");
  EXPECT_EQ(refusal(system(), {.max_basis = 8, .filter = LanczosFilter::none}), "");
  EXPECT_EQ(
      refusal(eigenproblem(),
              {.method = Method::block_lanczos, .nev = 1, .preconditioner = {.type = "none"}}),
      "");
}

TEST(RequestRules, NormalEquations) {
  const auto refused = [](const Problem& problem, const Request& request,
                          const std::string& field) {
    EXPECT_EQ(refusal(problem, request), field + " does not go with normal_equations");
  };
  for (const Method method : {Method::automatic, Method::block_lanczos}) {
    refused(triplets(), {.method = method, .nev = 1, .max_basis = 8}, "max_basis");
    refused(triplets(), {.method = method, .nev = 1, .filter = LanczosFilter::none}, "filter");
    refused(triplets(), {.method = method, .nev = 1, .interval = RealInterval{0, 1}}, "interval");
    refused(triplets(), {.method = method, .nev = 1, .checkpoint = {.file = "state"}},
            "checkpoint.file");
    refused(triplets(), {.method = method, .nev = 1, .precision = Precision::mixed},
            "precision: mixed");
  }
  for (const Method method : {Method::automatic, Method::lobpcg}) {
    refused(triplets(), {.method = method, .nev = 1, .refresh_interval = 9}, "refresh_interval");
    refused(triplets(), {.method = method, .nev = 1, .preconditioner = {.type = "jacobi"}},
            "preconditioner.type");
    refused(triplets(),
            {.method = method,
             .nev = 1,
             .preconditioner = {.precision = PreconditionerPrecision::single}},
            "preconditioner.precision");
  }
  EXPECT_EQ(refusal(triplets(), {.nev = 1, .preconditioner = {.type = "none"}}), "");
  refused(least_squares(), {.project_rhs = true}, "project_rhs");
  refused(least_squares(), {.checkpoint = {.file = "state"}}, "checkpoint.file");
  EXPECT_EQ(refusal(least_squares(), {.preconditioner = {.type = "chebyshev"}}),
            "preconditioner.type: chebyshev needs a matrix's entries, of A^T A only products and "
            "the diagonal are there");
}

TEST(RequestRules, PartsOfTheProblem) {
  Problem guided = triplets();
  guided.initial_guess = ones();
  EXPECT_EQ(refusal(guided, {.nev = 1}), "initial_guess: does not go with normal_equations");
  const Request interval{.nev = 8, .interval = RealInterval{0, 1}};
  EXPECT_EQ(refusal({.A = kChain.matrix(), .initial_guess = ones()}, interval),
            "initial_guess: does not go with interval");
}

TEST(RequestRules, Intervals) {
  const RealInterval range{0, 1};
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 8, .which = Which::largest, .interval = range}),
            "which does not go with interval");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 8, .interval = range, .precision = Precision::mixed}),
            "precision: mixed does not go with interval");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 8, .interval = range, .max_basis = 8}),
            "max_basis does not go with interval");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 8, .interval = range, .filter = LanczosFilter::none}),
            "filter: none does not go with interval");
  EXPECT_EQ(refusal({.A = kChain.matrix(), .B = kChain.matrix()},
                    {.nev = 8, .interval = range, .filter = LanczosFilter::chebyshev}),
            "filter: chebyshev finds the pairs of an interval of one matrix only; with a mass "
            "matrix, use auto or inverse");
  EXPECT_EQ(
      refusal(eigenproblem(), {.nev = 8, .interval = range, .factorization = FactorLibrary::host}),
      "factorization does not go with interval");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 8, .interval = range, .checkpoint = {.file = "state"}}),
            "checkpoint.file does not go with interval");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 8, .interval = RealInterval{1, 0}}),
            "interval is [1, 0], not a list of two numbers or -inf or inf, the larger one last");
}

TEST(RequestRules, Values) {
  EXPECT_EQ(refusal(eigenproblem(), {.nev = -1}),
            "nev is -1, not auto or an integer of at least 1");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 1, .max_iterations = -1}),
            "max_iterations is -1, not an integer of at least 1");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 1, .tolerance = -1}),
            "tolerance is -1, not auto or a number above 0 and below 1");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 1, .tolerance = 2}),
            "tolerance is 2, not auto or a number above 0 and below 1");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 1, .tolerance = 2, .criterion = Criterion::absolute}),
            "");
  EXPECT_EQ(refusal(eigenproblem(), {.nev = 1, .criterion = Criterion::absolute}),
            "criterion: absolute needs a tolerance");
  EXPECT_EQ(refusal(system(), {.linear_criterion = LinearCriterion::absolute}),
            "linear_criterion: absolute needs a tolerance");
  EXPECT_EQ(refusal(least_squares(), {.damp = -1}), "damp is -1, not a number of at least 0");
}

TEST(RequestRules, Combinations) {
  EXPECT_EQ(refusal(eigenproblem(), {.method = Method::block_lanczos,
                                     .nev = 1,
                                     .which = Which::largest,
                                     .filter = LanczosFilter::inverse}),
            "filter: inverse is for the smallest end");
  EXPECT_EQ(refusal(eigenproblem(),
                    {.nev = 1, .precision = Precision::mixed, .checkpoint = {.file = "state"}}),
            "checkpoint.file does not go with precision: mixed");
  const auto with = [](const std::string& type) {
    return Request{.method = Method::lobpcg,
                   .nev = 1,
                   .preconditioner = {.type = type, .options = {{"degree", Index{5}}}}};
  };
  EXPECT_EQ(refusal(eigenproblem(), with("jacobi")),
            "preconditioner.degree does not go with preconditioner.type: jacobi");
  EXPECT_EQ(refusal(eigenproblem(), with("none")),
            "preconditioner.degree does not go with preconditioner.type: none");
  EXPECT_EQ(refusal(eigenproblem(), with("auto")), "");
}

/// Every solver and every field: what is not at its default is read, refused, or only tunes a
/// method that was not named.
TEST(RequestRules, NoFieldIsIgnored) {
  using namespace detail;
  const std::vector<std::tuple<unsigned, Method, bool>> solvers = {
      {kLobpcg, Method::lobpcg, false},
      {kBlockLanczos, Method::block_lanczos, false},
      {kSingularValues, Method::block_lanczos, true},
      {kBlockCg, Method::block_cg, false},
      {kLeastSquares, Method::block_cg, true}};
  for (const auto& [solver, method, normal_equations] : solvers) {
    for (const Field<Request>& field : request_fields()) {
      if (field.forms.words.size() < 2 || field.name == "method") continue;
      Request request{.method = method, .tolerance = 1e-3};
      field.set(request, std::string(field.forms.words.back()));
      if (field.is_default(request)) {
        field.set(request, std::string(field.forms.words.front()));
      }
      const bool mixed = field.name == "precision";
      const bool is_read = (field.readers & solver) != 0 && !(mixed && solver == kSingularValues);
      std::string error;
      try {
        check_request(request, {.normal_equations = normal_equations}, false);
      } catch (const RequestError& refused) {
        error = refused.field();
      }
      EXPECT_EQ(error, is_read ? "" : field.name) << method_name(method) << " " << field.name;
    }
  }
}

}  // namespace
}  // namespace heddle
