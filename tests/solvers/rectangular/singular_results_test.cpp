#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <limits>
#include <string>

#include "solvers/rectangular/singular_support.hpp"
#include "support/sanitized.hpp"

namespace heddle {
namespace {

using test::geometric;
using test::options_for;
using test::shifted_diagonal;
using test::SparsePair;
using test::TestMatrix;

/// What a search for singular triplets tells beside them: history, status, counts and messages.

TEST(SingularTripletsDouble, HistoryCountsOnFromRoundToRound) {
  HostContext context(2);
  std::vector<double> sigma{1e-3, 2e-3, 4e-3};
  for (int i = 3; i < 520; ++i) sigma.push_back(0.5 + 0.5 * i / 520);
  SparsePair<double> pair(context, shifted_diagonal<double>(530, 520, sigma).view());
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    SingularOptions options = options_for(3, Which::smallest, solver);
    options.criterion = Criterion::relative;
    std::vector<IterationRecord> seen;
    const Index before = pair.pair().columns_applied();
    const auto result =
        singular_triplets(context, pair.pair(), options, [&](const MonitorState& state) {
          seen.push_back(state.record);
          EXPECT_LE(state.record.operator_applications, pair.pair().columns_applied() - before);
          return true;
        });
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    for (const std::vector<IterationRecord>& records : {result.history, seen}) {
      ASSERT_FALSE(records.empty());
      for (std::size_t i = 1; i < records.size(); ++i) {
        EXPECT_GE(records[i].iteration, records[i - 1].iteration);
        EXPECT_GE(records[i].seconds, records[i - 1].seconds);
        EXPECT_GE(records[i].operator_applications, records[i - 1].operator_applications);
      }
      EXPECT_EQ(records.back().iteration, result.iterations);
      EXPECT_GT(records.back().operator_applications, result.operator_applications / 2);
    }
  }
}

TEST(SingularTripletsDouble, TheSearchForVectorsOfZerosCanBeStopped) {
  HostContext context(2);
  const std::vector<double> sigma(520, 1.0);
  SparsePair<double> pair(context, shifted_diagonal<double>(700, 522, sigma).view());
  const Monitor stop_block_cg = [](const MonitorState& state) {
    return !state.eigenvalues.empty();
  };
  const auto result =
      singular_triplets(context, pair.pair(), options_for(3, Which::smallest), stop_block_cg);
  EXPECT_EQ(result.status, SolveStatus::interrupted) << result.reason;
  EXPECT_NE(result.reason.find("vectors of the longer side"), std::string::npos) << result.reason;
  EXPECT_EQ(std::ssize(result.residuals), 3);
}

TEST(SingularTripletsDouble, CountsOrthonormalisations) {
  HostContext context(1);
  SparsePair<double> pair(context,
                          shifted_diagonal<double>(6000, 520, std::vector<double>(3, 1.0)).view());
  const auto counts = [&](Index nev, Which which, SingularSolver solver) {
    return singular_triplets(context, pair.pair(), options_for(nev, which, solver))
        .orthogonalization;
  };
  const OrthoCounts dense = counts(140, Which::largest, SingularSolver::automatic);
  EXPECT_EQ(dense.dropped, 517);
  EXPECT_GT(dense.cholqr + dense.cholqr2 + dense.shifted + dense.svqb, 0);
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    const OrthoCounts iterated = counts(2, Which::smallest, solver);
    EXPECT_GT(iterated.cholqr + iterated.cholqr2, 0);
  }
}

TEST(SingularTripletsDouble, SaysWhenItStoppedEarly) {
  std::vector<double> sigma;
  for (int i = 0; i < 600; ++i) sigma.push_back(1 + 1e-3 * i);
  HostContext context(2);
  SparsePair<double> pair(context, shifted_diagonal<double>(601, 600, sigma).view());
  SingularOptions options = options_for(4, Which::smallest, SingularSolver::lobpcg);
  options.max_iterations = 2;
  const auto result = singular_triplets(context, pair.pair(), options);
  EXPECT_EQ(result.status, SolveStatus::max_iterations) << result.reason;
  EXPECT_EQ(std::ssize(result.singular_values), 4);
  options.max_iterations = 1000;
  const auto stopped =
      singular_triplets(context, pair.pair(), options, [](const MonitorState&) { return false; });
  EXPECT_EQ(stopped.status, SolveStatus::interrupted) << stopped.reason;
}

TEST(SingularTripletsDouble, NothingIsDecomposedThatWouldOutlastTheTimeLimit) {
  HostContext context(2);
  SparsePair<double> pair(context,
                          shifted_diagonal<double>(1201, 1200, geometric(1200, 1e-6)).view());
  SingularOptions options = options_for(2, Which::smallest, SingularSolver::lobpcg);
  options.time_limit_s = 4;  // the decomposition is thought to take 5
  const auto result = singular_triplets(context, pair.pair(), options);
  EXPECT_NE(result.status, SolveStatus::converged) << result.reason;
  EXPECT_GT(result.iterations, 0);
}

TEST(SingularTripletsDouble, NumbersThatAreNotFiniteAreABreakdown) {
  HostContext context(2);
  for (const Index cols : {20, 600}) {
    TestMatrix<double> A = test::band_matrix<double>(610, cols, 2);
    A.values[5] = std::numeric_limits<double>::quiet_NaN();
    SparsePair<double> pair(context, A.view());
    const auto result = singular_triplets(context, pair.pair(), options_for(2, Which::largest));
    EXPECT_EQ(result.status, SolveStatus::breakdown) << result.reason;
  }
}

TEST(SingularTripletsDouble, MemoryIsForetold) {
  HEDDLE_SKIP_WITH_SANITIZER();
  std::vector<double> sigma(300);
  for (std::size_t i = 0; i < sigma.size(); ++i) sigma[i] = 1 + 0.01 * static_cast<double>(i);
  const auto foretold = [&](Index rows, Index cols, const SingularOptions& options) {
    SCOPED_TRACE(::testing::Message() << rows << "x" << cols << ", nev " << options.nev);
    HostContext context(2);  // scratch memory grows with the threads
    const auto last = sigma.begin() + std::min<Index>(std::ssize(sigma), cols);
    SparsePair<double> pair(context,
                            shifted_diagonal<double>(rows, cols, {sigma.begin(), last}).view());
    const auto before = static_cast<double>(context.allocation_count().live_bytes);
    const auto result = singular_triplets(context, pair.pair(), options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    const double peak = static_cast<double>(context.allocation_count().peak_bytes) - before;
    const double bytes = singular_memory_bytes(options, rows, cols, sizeof(double));
    EXPECT_LE(peak, 1.2 * bytes);  // as near as the eigensolvers' own
    EXPECT_GE(peak, 0.6 * bytes);
  };
  foretold(2000, 300, options_for(80, Which::largest));   // decomposed on the host
  foretold(10000, 120, options_for(30, Which::largest));  // as a dense problem
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    foretold(2000, 1000, options_for(6, Which::largest, solver));
    foretold(9000, 320, options_for(6, Which::smallest, solver));  // vectors of zeros
    foretold(600, 2000, options_for(6, Which::smallest, solver));
  }
  sigma = geometric(600, 1e-6);
  foretold(2000, 600, options_for(2, Which::smallest));  // decomposed after an eigensolver
}

TEST(SingularTripletsDouble, SameBitsForEveryNumberOfThreads) {
  const auto matrix = test::random_matrix<double>(1200, 900, 5);
  std::vector<double> first;
  for (const int threads : {1, 3}) {
    HostContext context(threads);
    SparsePair<double> pair(context, matrix.view());
    const auto result = singular_triplets(context, pair.pair(), options_for(4, Which::largest));
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    if (threads == 1) first = result.singular_values;
    EXPECT_EQ(result.singular_values, first);
  }
}

TEST(SingularTripletsDouble, MisuseNamesBothSides) {
  HostContext context(1);
  SparsePair<double> pair(context, test::band_matrix<double>(7, 4, 2).view());
  SparsePair<double> other(context, test::band_matrix<double>(4, 6, 2).view());
  const auto message = [&](const AdjointPair<double, HostContext>& operators,
                           const SingularOptions& options) -> std::string {
    try {
      singular_triplets(context, operators, options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  const SingularOptions fine = options_for(2, Which::largest);
  EXPECT_EQ(message({nullptr, pair.pair().A}, fine),
            "singular_triplets: both A and its transpose are needed, A is missing");
  EXPECT_EQ(message({pair.pair().A, other.pair().A}, fine),
            "singular_triplets: A is 7x4, what is given as its transpose 4x6");
  EXPECT_EQ(message(pair.pair(), options_for(5, Which::largest)),
            "singular_triplets: nev must be at least 1 and at most the shorter side of A, 4; it "
            "is 5");
  SingularOptions bad = fine;
  bad.tolerance = 2;
  EXPECT_EQ(message(pair.pair(), bad),
            "singular_triplets: the tolerance must lie in (0, 1), it is 2");
  bad.criterion = Criterion::absolute;
  bad.tolerance = 0;
  EXPECT_EQ(message(pair.pair(), bad),
            "singular_triplets: an absolute tolerance must be positive, it is 0");
}

}  // namespace
}  // namespace heddle
