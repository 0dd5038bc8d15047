#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/certificate/certificate.hpp>
#include <heddle/solvers/lanczos/certificate/eigenvalue_count.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "support/dense.hpp"

namespace heddle {
namespace {

using test::to_dense;
using Sparse = HostCsrMatrix<double>;
using Result = EigenResult<double, HostSpace>;

/// A problem with all pairs by a dense solve, of which a test makes results.
class Known {
 public:
  explicit Known(Sparse a, Sparse b = {}, const Eigen::MatrixXd& Y = {})
      : A_(std::move(a)), B_(std::move(b)), A(context, A_.view()), inverse(A_.view(), B_.view()) {
    if (B_.rows() > 0) B.emplace(context, B_.view());
    const Index n = A_.rows();
    const Eigen::MatrixXd mass =
        B_.rows() > 0 ? Eigen::MatrixXd(to_dense(B_.view())) : Eigen::MatrixXd::Identity(n, n);
    if (Y.cols() == 0) {
      const test::DenseEigenpairs all = test::eigenpairs(to_dense(A_.view()), mass);
      values = all.values;
      vectors = all.vectors;
      return;
    }
    Y_ = test::to_block<double>(context, Y);
    // An orthonormal basis of the vectors with YᵀBx = 0.
    const Eigen::MatrixXd C = mass * Y;
    const test::DenseEigenpairs split = test::eigenpairs(Eigen::MatrixXd(C * C.transpose()));
    const double most = split.values[n - 1];
    const Index free = (split.values.array() < 1e-10 * most).count();
    const Eigen::MatrixXd basis = split.vectors.leftCols(free);
    const test::DenseEigenpairs all =
        test::eigenpairs(Eigen::MatrixXd(basis.transpose() * to_dense(A_.view()) * basis),
                         Eigen::MatrixXd(basis.transpose() * mass * basis));
    values = all.values;
    vectors = basis * all.vectors;
  }

  EigenProblem<double, HostContext> problem() {
    EigenProblem<double, HostContext> made;
    made.A = &A;
    made.B = B ? &*B : nullptr;
    made.constraints = std::as_const(Y_).view();
    return made;
  }

  /// The place of value number j, counted from the end.
  Index place(Which which, Index j) const {
    return which == Which::smallest ? j : values.size() - 1 - j;
  }
  double value(Which which, Index j) const { return values[place(which, j)]; }

  /// What a solver returns that finds the pairs of these numbers, in ascending order.
  Result found(Which which, const std::vector<Index>& numbers) {
    Result result;
    result.status = SolveStatus::converged;
    result.reason = "all pairs converged";
    result.completeness = {CompletenessMethod::random_search};
    result.eigenvectors = MultiVector<double, HostSpace>(context, A_.rows(), std::ssize(numbers));
    for (const Index number : numbers) {
      const Index from = place(which, number);
      const auto to = std::ssize(result.eigenvalues);
      result.eigenvalues.push_back(values[from]);
      for (Index i = 0; i < A_.rows(); ++i) result.eigenvectors.view()(i, to) = vectors(i, from);
    }
    const std::size_t count = numbers.size();
    result.residuals.assign(count, 1e-16);
    result.error_bounds.assign(count, 1e-13 * values.cwiseAbs().maxCoeff());
    result.limited_by_rounding.assign(count, false);
    result.converged.assign(count, true);
    return result;
  }

  Result certify(Which which, const std::vector<Index>& numbers, CertifyOptions options = {},
                 const Monitor& monitor = {}) {
    options.which = which;
    options.nev = std::ssize(numbers);
    return certified<double, HostContext>(context, problem(), inverse, options,
                                          found(which, numbers), monitor);
  }

  HostContext context;

 private:
  Sparse A_, B_;
  MultiVector<double, HostSpace> Y_;

 public:
  SparseOperator<double, HostContext> A;
  std::optional<SparseOperator<double, HostContext>> B;
  IndefiniteInverse<double, HostContext> inverse;
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

HostContext& host() {
  static HostContext context;
  return context;
}

/// The Laplacian of a grid, which has pairs of equal eigenvalues if it is a square.
Sparse grid(std::vector<Index> size) {
  const std::string kind = "laplace" + std::to_string(size.size()) + "d";
  return generate<double>(host(), {kind, std::move(size)});
}

Sparse diagonal(const std::vector<double>& values) {
  std::vector<Triplet<double>> entries;
  for (std::size_t i = 0; i < values.size(); ++i) {
    entries.push_back({static_cast<Index>(i), static_cast<Index>(i), values[i]});
  }
  const auto n = static_cast<Index>(values.size());
  return csr_from_triplets<double>(host(), n, n, entries);
}

/// diag(1.5, 1, 0.5, 1, 1.5, …), with couplings of some neighbours.
Sparse mass(Index n) {
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) entries.push_back({i, i, 0.5 + 0.5 * static_cast<double>(i % 3)});
  for (Index i = 0; i + 1 < n; i += 2) {
    entries.push_back({i, i + 1, 0.1});
    entries.push_back({i + 1, i, 0.1});
  }
  return csr_from_triplets<double>(host(), n, n, entries);
}

std::vector<Index> first(Index count) {
  std::vector<Index> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), Index{0});
  return numbers;
}

void expect_proven(const Result& result) {
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_EQ(result.completeness.method, CompletenessMethod::inertia) << result.reason;
  EXPECT_TRUE(result.completeness.proven) << result.reason;
}

/// The wanted pairs of `known`, computed with an inverse.
void expect_found(Known& known, Which which, const Result& result, Index count) {
  expect_proven(result);
  EXPECT_NE(result.reason.find("had missed"), std::string::npos) << result.reason;
  ASSERT_EQ(std::ssize(result.eigenvalues), count);
  ASSERT_EQ(result.eigenvectors.cols(), count);
  const double rounding = 1e-12 * known.values.cwiseAbs().maxCoeff();
  for (Index j = 0; j < count; ++j) {
    const auto k = static_cast<std::size_t>(j);
    EXPECT_NEAR(result.eigenvalues[k], known.value(which, j), rounding) << j;
    EXPECT_LE(std::abs(result.eigenvalues[k] - known.value(which, j)),
              result.error_bounds[k] + 0.1 * rounding);
    EXPECT_TRUE(result.converged[k]);
    // The Rayleigh quotient of the vector is the value.
    MultiVector<double, HostSpace> product(known.context, known.A.rows(), 1);
    const auto x = result.eigenvectors.columns(j, 1);
    known.A.apply(known.context, x, product.view());
    double energy = 0;
    for (Index i = 0; i < x.rows(); ++i) energy += x(i, 0) * product.view()(i, 0);
    EXPECT_NEAR(energy, known.value(which, j), rounding);
  }
}

class Certificate : public testing::TestWithParam<Which> {};

TEST_P(Certificate, OfACompleteResultIsAProof) {
  Known known(grid({17, 18}));
  for (const Index count : {1, 2, 7, 20}) {
    const Result result = known.certify(GetParam(), first(count));
    expect_proven(result);
    EXPECT_EQ(result.reason, "all pairs converged") << count;
    EXPECT_EQ(std::ssize(result.eigenvalues), count);
  }
}

TEST_P(Certificate, FindsAMissingPair) {
  Known known(grid({17, 18}));
  for (const std::vector<Index>& numbers :
       {std::vector<Index>{1}, {0, 2}, {1, 2, 3}, {0, 1, 2, 4, 5}, {0, 3, 6, 7, 9}}) {
    const Result result = known.certify(GetParam(), numbers);
    expect_found(known, GetParam(), result, std::ssize(numbers));
    EXPECT_GT(result.inverse_applications, 0);
    EXPECT_FALSE(result.history.empty());
  }
}

TEST_P(Certificate, OfAPencil) {
  Known known(grid({17, 18}), mass(17 * 18));
  expect_proven(known.certify(GetParam(), first(5)));
  expect_found(known, GetParam(), known.certify(GetParam(), {0, 1, 3}), 3);
}

/// The copies of a value that `nev` cuts are any of them.
TEST_P(Certificate, OfCopiesThatAreCutIsAProof) {
  Known known(grid({18, 18}));
  for (const Index count : {2, 5}) {
    ASSERT_NEAR(known.value(GetParam(), count - 1), known.value(GetParam(), count), 1e-12);
    expect_proven(known.certify(GetParam(), first(count)));
  }
}

TEST_P(Certificate, FindsACopy) {
  Known known(grid({18, 18}));
  expect_found(known, GetParam(), known.certify(GetParam(), {0, 1, 3, 4}), 4);
}

TEST_P(Certificate, CountsUnderConstraints) {
  const Index n = 17 * 18;
  std::srand(7);
  Eigen::MatrixXd Y = Eigen::MatrixXd::Random(n, 4);
  Y.col(3) = Y.col(0) - 2 * Y.col(1);  // depends on the others
  for (const bool pencil : {false, true}) {
    Known known(grid({17, 18}), pencil ? mass(n) : Sparse(), Y);
    ASSERT_EQ(known.values.size(), n - 3);
    for (const Index count : {1, 6}) expect_proven(known.certify(GetParam(), first(count)));
    const Result missing = known.certify(GetParam(), {0, 2, 3});
    EXPECT_EQ(missing.status, SolveStatus::verification_failed) << missing.reason;
    EXPECT_FALSE(missing.completeness.proven);
    EXPECT_EQ(std::count(missing.converged.begin(), missing.converged.end(), true), 0);
    EXPECT_EQ(
        missing.reason,
        "a count of the eigenvalues shows that a pair is missing, and an inverse does not find "
        "them with constraints; all pairs converged");
  }
}

TEST_P(Certificate, CountsUnderConstraintsThatAreEigenvectors) {
  Known free(grid({17, 18}));
  Eigen::MatrixXd Y(17 * 18, 2);
  Y << free.vectors.col(0), free.vectors.col(17 * 18 - 2);
  Known known(grid({17, 18}), {}, Y);
  expect_proven(known.certify(GetParam(), first(3)));
}

INSTANTIATE_TEST_SUITE_P(Ends, Certificate, testing::Values(Which::smallest, Which::largest));

/// A motion of a stiff part far below the other values.
TEST(CertificateOfStiffParts, FindsASoftMotion) {
  std::vector<Triplet<double>> entries;
  const Index n = 400;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, 2});
    if (i > 0) entries.push_back({i, i - 1, -1});
    if (i + 1 < n) entries.push_back({i, i + 1, -1});
  }
  constexpr double kStiff = 1e6;
  for (Index i : {n, n + 1}) {
    entries.push_back({i, i, kStiff + 1e-6});
    entries.push_back({i, 2 * n + 1 - i, -kStiff});
  }
  Known known(csr_from_triplets<double>(host(), n + 2, n + 2, entries));
  const Result result = known.certify(Which::smallest, {1});
  expect_proven(result);
  ASSERT_EQ(result.eigenvalues.size(), 1u);
  EXPECT_NEAR(result.eigenvalues[0], 1e-6, 1e-9);
}

TEST(CertificateOfSingularMasses, CountsFiniteEigenvalues) {
  const Index n = 300;
  std::vector<double> masses(static_cast<std::size_t>(n), 1);
  for (std::size_t i = 0; i < masses.size(); i += 3) masses[i] = 0;
  const Sparse A = grid({n});
  const Sparse B = diagonal(masses);
  // Without the massless unknowns: the Schur complement.
  const Eigen::MatrixXd K = to_dense(A.view());
  std::vector<Index> kept, left;
  for (Index i = 0; i < n; ++i) (i % 3 == 0 ? left : kept).push_back(i);
  const Eigen::MatrixXd coupling = K(left, kept);
  const Eigen::MatrixXd S =
      K(kept, kept) - coupling.transpose() * test::solve_definite(K(left, left), coupling);
  const Eigen::VectorXd truth = test::eigenvalues(S);

  HostContext context;
  SparseOperator<double, HostContext> A_(context, A.view()), B_(context, B.view());
  IndefiniteInverse<double, HostContext> inverse(A.view(), B.view());
  EigenProblem<double, HostContext> problem;
  problem.A = &A_;
  problem.B = &B_;
  for (const bool complete : {true, false}) {
    Result found;
    found.status = SolveStatus::converged;
    found.eigenvalues = {truth[0], truth[complete ? 1 : 2]};
    found.error_bounds = {1e-13, 1e-13};
    found.converged = {true, true};
    found.residuals = {0, 0};
    found.limited_by_rounding = {false, false};
    CertifyOptions options;
    options.nev = 2;
    const Result result =
        certified<double, HostContext>(context, problem, inverse, options, std::move(found));
    expect_proven(result);
    EXPECT_NEAR(result.eigenvalues[0], truth[0], 1e-12);
    EXPECT_NEAR(result.eigenvalues[1], truth[1], 1e-12);
  }
}

TEST(CertificateOfZeros, OfALaplacianIsAProof) {
  std::vector<Triplet<double>> entries;
  const auto connect = [&](Index i, Index j) {
    for (const Index row : {i, j}) {
      entries.push_back({row, row, 1});
      entries.push_back({row, i + j - row, -1});
    }
  };
  const Index a = 18, b = 17;
  for (Index i = 0; i < a; ++i) {
    for (Index j = 0; j < b; ++j) {
      if (i + 1 < a) connect(i * b + j, (i + 1) * b + j);
      if (j + 1 < b) connect(i * b + j, i * b + j + 1);
    }
  }
  Known known(csr_from_triplets<double>(host(), a * b, a * b, entries));
  ASSERT_NEAR(known.values[0], 0, 1e-13);
  expect_proven(known.certify(Which::smallest, first(1)));
  expect_proven(known.certify(Which::smallest, first(4)));
  expect_found(known, Which::smallest, known.certify(Which::smallest, {1, 2}), 2);
}

TEST(CertificateChoice, NoNeverCounts) {
  Known known(grid({17, 18}));
  CertifyOptions options;
  options.certify = Certify::no;
  const Result result = known.certify(Which::smallest, {1}, options);
  EXPECT_EQ(result.completeness.method, CompletenessMethod::random_search);
  EXPECT_EQ(result.inverse_applications, 0);
}

TEST(CertificateChoice, AMonitorThatStopsIsObeyed) {
  Known known(grid({17, 18}));
  Monitor monitor;
  monitor.stop = [] { return true; };
  const Result result = known.certify(Which::smallest, {1}, {}, monitor);
  EXPECT_FALSE(result.completeness.proven);
  EXPECT_EQ(result.eigenvalues[0], known.values[1]);
}

TEST(CertificateChoice, AForcedCountNamesItsCost) {
  Known known(grid({17, 18}));
  std::vector<std::string> stages;
  Monitor monitor;
  monitor.stage = [&](std::string_view name) { stages.emplace_back(name); };
  CertifyOptions options;
  options.certify = Certify::inertia;
  expect_proven(known.certify(Which::smallest, first(1), options, monitor));
  ASSERT_FALSE(stages.empty());
  EXPECT_EQ(stages[0].substr(0, 42), "counting eigenvalues by a factor of about ");
}

TEST(CertificateChoice, OtherStatusesStay) {
  Known known(grid({17, 18}));
  Result found = known.found(Which::smallest, {1});
  found.status = SolveStatus::max_iterations;
  CertifyOptions options;
  options.nev = 1;
  const Result result = certified<double, HostContext>(known.context, known.problem(),
                                                       known.inverse, options, std::move(found));
  EXPECT_EQ(result.status, SolveStatus::max_iterations);
  EXPECT_EQ(result.completeness.method, CompletenessMethod::random_search);
}

TEST(EigenvalueCounts, UnderConstraintsAreThoseOfADenseSolve) {
  std::srand(11);
  const Index n = 12 * 25;
  Known known(grid({12, 25}), mass(n), Eigen::MatrixXd::Random(n, 5));
  detail::EigenvalueCount<double, HostContext> count(known.context, known.problem(), known.inverse);
  EXPECT_EQ(count.all(), n - 5);
  for (const Index j : {0, 1, 10, 100, 250, 294}) {
    const double s = j == 0 ? known.values[0] - 0.1 : (known.values[j - 1] + known.values[j]) / 2;
    EXPECT_EQ(count.below(s), j);
  }
}

}  // namespace
}  // namespace heddle
