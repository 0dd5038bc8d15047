#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>

#include "solvers/factor/triangular_solves_battery.hpp"
#include "solvers/preconditioners/multigrid/multigrid_battery.hpp"
#include "support/cuda_test.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

template <class T>
class MultigridCuda : public test::CudaTest {
 protected:
  HostContext host_;
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(MultigridCuda, Scalars);

/// The levels of the host, its products within rounding, and the same bits every time, for widths
/// that are padded and for growing ones.
TYPED_TEST(MultigridCuda, DoesWhatItDoesOnTheHost) {
  using T = TypeParam;
  for (const test::MultigridCase& problem : test::multigrid_battery(this->host_)) {
    SCOPED_TRACE(problem.name);
    const HostCsrMatrix<T> A = convert<T>(this->host_, problem.A.view());
    MultigridPreconditioner<T, HostContext> expected(this->host_, A.view());
    const auto there = place(this->context(), convert<T>(this->host_, A.view()));
    MultigridPreconditioner<T, CudaContext> M(this->context(), there.view());
    ASSERT_EQ(M.levels().size(), expected.levels().size());
    for (std::size_t l = 0; l < M.levels().size(); ++l) {
      EXPECT_EQ(M.levels()[l].rows, expected.levels()[l].rows);
      EXPECT_EQ(M.levels()[l].nnz, expected.levels()[l].nnz);
    }
    for (const Index b : {1, 5, 3, 18}) {
      const auto X = test::random_vectors<T>(this->host_, A.rows(), b);
      MultiVector<T, HostSpace> wanted(this->host_, A.rows(), b);
      expected.apply(this->host_, X.view(), wanted.view());
      const auto X_there =
          place(this->context(), test::random_vectors<T>(this->host_, A.rows(), b));
      MultiVector<T, DeviceSpace> Y(this->context(), A.rows(), b),
          again(this->context(), A.rows(), b);
      M.apply(this->context(), X_there.view(), Y.view());
      M.apply(this->context(), X_there.view(), again.view());
      const auto found = fetch(this->context(), this->host_, std::move(Y));
      const auto repeated = fetch(this->context(), this->host_, std::move(again));
      for (Index j = 0; j < b; ++j) {
        double difference = 0, size = 0;
        for (Index i = 0; i < A.rows(); ++i) {
          EXPECT_EQ(found.view()(i, j), repeated.view()(i, j));
          const double d = static_cast<double>(found.view()(i, j)) - wanted.view()(i, j);
          difference += d * d;
          size += static_cast<double>(wanted.view()(i, j)) * wanted.view()(i, j);
        }
        EXPECT_LE(std::sqrt(difference), test::tolerance<T>(std::sqrt(size), 500))
            << "column " << j;
      }
    }
  }
}

}  // namespace
}  // namespace heddle
