#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/cg/loose_rows.hpp>
#include <vector>

namespace heddle::detail {
namespace {

/// Springs between rows, and to the ground (j = −1).
struct Spring {
  Index i, j;
  double stiffness;
};

LooseRows found(Index n, const std::vector<Spring>& springs, double strong) {
  HostContext context(1);
  std::vector<Triplet<double>> entries;
  for (const Spring& spring : springs) {
    entries.push_back({spring.i, spring.i, spring.stiffness});
    if (spring.j < 0) continue;
    entries.push_back({spring.j, spring.j, spring.stiffness});
    entries.push_back({spring.i, spring.j, -spring.stiffness});
    entries.push_back({spring.j, spring.i, -spring.stiffness});
  }
  const HostCsrMatrix<double> A = csr_from_triplets<double>(context, n, n, entries);
  return LooseRowsSearch().find(A.view(), strong);
}

TEST(LooseRows, AreNoneWhereLinksAreStrong) {
  const LooseRows loose = found(3, {{0, -1, 1}, {0, 1, 1}, {1, 2, 1}}, .5);
  EXPECT_EQ(loose.count, 0);
  EXPECT_TRUE(std::isinf(loose.link));
}

TEST(LooseRows, HangOnTheWeakestLinkThatIsNeeded) {
  // Rows 0 to 2 are strongly linked, 3 and 4 as well; the link of .25 is beside the one of .125.
  const LooseRows loose =
      found(5, {{0, -1, 8}, {0, 1, 8}, {1, 2, 8}, {2, 3, .25}, {1, 4, .125}, {3, 4, 8}}, 1);
  EXPECT_EQ(loose.count, 2);
  EXPECT_EQ(loose.link, .25);
}

TEST(LooseRows, AreNotThoseThatTheGroundHolds) {
  const LooseRows loose = found(4, {{0, -1, 8}, {0, 1, 8}, {1, 2, .25}, {2, -1, 8}, {2, 3, 8}}, 1);
  EXPECT_EQ(loose.count, 0);
  EXPECT_TRUE(std::isinf(loose.link));
}

TEST(LooseRows, NeedTheGroundOnlyWhereItHoldsAPart) {
  EXPECT_EQ(found(3, {{0, -1, .25}, {0, 1, 8}, {1, 2, 8}}, 1).count, 0) << "all rows hang on it";
  const LooseRows loose = found(4, {{0, -1, 8}, {1, -1, .5}, {1, 2, 8}, {3, 0, 8}}, 1);
  EXPECT_EQ(loose.count, 0) << "a component of its own";
  const LooseRows held = found(3, {{0, -1, 8}, {0, 1, .25}, {1, -1, .5}, {1, 2, 8}}, 1);
  EXPECT_EQ(held.count, 2);
  EXPECT_EQ(held.link, .5);
}

TEST(LooseRows, DoNotHangOnRounding) {
  const LooseRows loose = found(3, {{0, -1, 8}, {0, 1, 1e-15}, {1, 2, 8}}, 1);
  EXPECT_EQ(loose.count, 0) << "rows 1 and 2 are no part of the component of row 0";
}

TEST(LooseRows, AreFoundInEveryUnit) {
  for (const double unit : {1e-200, 1.0, 1e200}) {
    const LooseRows loose = found(2, {{0, -1, unit}, {0, 1, 1e-9 * unit}}, 1e-3 * unit);
    EXPECT_EQ(loose.count, 1);
    EXPECT_EQ(loose.link, 1e-9 * unit);
  }
}

}  // namespace
}  // namespace heddle::detail
