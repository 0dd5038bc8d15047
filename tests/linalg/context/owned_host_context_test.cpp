#include <gtest/gtest.h>

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <utility>

namespace heddle {
namespace {

/// A class as those of the library: a context, and memory from it.
struct Owner {
  detail::OwnedHostContext host;
  SmallMatrix<double, HostSpace> memory;

  Owner() = default;
  explicit Owner(Index n) : host(1), memory(*host, n, n) {}

  std::size_t live_bytes() const { return (*host).allocation_count().live_bytes; }
};

constexpr std::size_t bytes_of(Index n) { return static_cast<std::size_t>(n * n) * sizeof(double); }

TEST(OwnedHostContext, KeepsItsAddressWhenItsOwnerMoves) {
  Owner first(3);
  const HostContext* const address = &*first.host;
  Owner second = std::move(first);
  EXPECT_EQ(&*second.host, address);
  EXPECT_EQ(second.live_bytes(), bytes_of(3));
}

/// The memory that is replaced returns to the context that it came from, which must still exist.
TEST(OwnedHostContext, OutlivesTheMemoryThatAnAssignmentFrees) {
  Owner old(2), fresh(5);
  HostContext* const context = &*old.host;
  old = std::move(fresh);
  EXPECT_EQ(old.live_bytes(), bytes_of(5));
  ASSERT_EQ(&*fresh.host, context) << "exchanged";
  EXPECT_EQ(fresh.live_bytes(), 0U);
  old = Owner();  // nothing in place of something
  Owner empty;
  empty = Owner(4);
  EXPECT_EQ(empty.live_bytes(), bytes_of(4));
}

/// Sanitizers see memory that is freed by a context that has been destroyed.
TEST(OwnedHostContext, ClassesThatOwnOneAreAssignedOverOthers) {
  DenseEigensolver solver(4);
  solver = DenseEigensolver(2);
  double H[] = {2, 1, 1, 2}, G[] = {1, 0, 0, 1}, theta[2], Z[4];
  ASSERT_EQ(solver.solve({H, 2, 2, 2}, {G, 2, 2, 2}, {theta, 2, 1, 2}, {Z, 2, 2, 2}),
            DenseFailure::none);
  EXPECT_NEAR(theta[0], 1, 1e-14);
  EXPECT_NEAR(theta[1], 3, 1e-14);
  HostContext host(1);
  Orthogonalizer<double, HostContext> orthogonalizer(host, 3, 3);
  orthogonalizer = Orthogonalizer<double, HostContext>(host, 1, 1);
  MultiVector<double, HostSpace> x(host, 2, 1);
  x.view()(0, 0) = 3;
  x.view()(1, 0) = 4;
  EXPECT_EQ(orthogonalizer.orthonormalize(host, x.view(), x.view()).rank, 1);
  EXPECT_NEAR(x.view()(0, 0), 0.6, 1e-14);
}

}  // namespace
}  // namespace heddle
