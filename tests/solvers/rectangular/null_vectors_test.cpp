#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/rectangular/null_vectors.hpp>

#include "solvers/rectangular/singular_support.hpp"

namespace heddle {
namespace {

using test::shifted_diagonal;
using test::SparsePair;

TEST(NullVectors, ThatDoNotExistAreNotFound) {
  HostContext context(2);
  SparsePair<double> pair(context,
                          shifted_diagonal<double>(31, 30, std::vector<double>(30, 1.0)).view());
  OrthoCounts counts;
  const Monitor no_monitor;
  detail::NullVectorOptions options;
  options.limit = 1e-8;
  const detail::StopControl control(1000, 1e9);
  for (const Index columns : {1, 2}) {
    MultiVector<double, HostSpace> U(context, 31, columns);
    detail::NullVectors<double, HostContext> search(context, pair.pair(), options, control,
                                                    no_monitor);
    // Only the first row is empty.
    EXPECT_EQ(search.find({}, U.view(), counts),
              columns == 1 ? SolveStatus::converged : SolveStatus::verification_failed);
    if (columns == 1) {
      EXPECT_NEAR(std::abs(U.view()(0, 0)), 1, test::tolerance<double>(1, 31));
    }
  }
}

}  // namespace
}  // namespace heddle
