
#include "spmm/transpose/transposed_battery.hpp"
#include "support/on_host.hpp"

namespace heddle {
namespace {

using Backends = ::testing::Types<test::OnHost<float>, test::OnHost<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Host, SpmmTransposed, Backends);

template <class T>
class HostSpmmTransposed : public ::testing::Test {};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostSpmmTransposed, Scalars);

TYPED_TEST(HostSpmmTransposed, SameBitsForEveryNumberOfThreads) {
  using T = TypeParam;
  const TestMatrix<T> A = test::matrix_with_pattern<T>(9000, 120, [](Index i) {
    std::vector<Index> columns;
    for (Index j = i % 50; j < 120; j += 50) columns.push_back(j);
    if (columns.front() > 7) columns.insert(columns.begin(), 7);
    return columns;
  });
  const TestMatrix<T> At = explicit_adjoint(A);
  for (const Index N : {1, 7, 32}) {
    ProductCase<T> product(At, N, {0, 0}, T{1}, T{0});
    std::vector<std::vector<T>> results;
    for (const int threads : {1, 2, 3}) {
      HostContext context(threads);
      TransposedWork<test::OnHost<T>> work(context, A);
      results.push_back(work.multiply(product, work.indexed));
    }
    EXPECT_EQ(results[1], results[0]) << "N = " << N;
    EXPECT_EQ(results[2], results[0]) << "N = " << N;
  }
}

TYPED_TEST(HostSpmmTransposed, CountsTrafficAndArithmetic) {
  using T = TypeParam;
  const TestMatrix<T> A = test::random_matrix<T>(30, 40, 5);
  const TestMatrix<T> At = explicit_adjoint(A);
  const double nnz = static_cast<double>(A.columns.size());
  const double blocks = 70.0 * 6 * static_cast<double>(sizeof(T));
  const double offsets = 41.0 * 8;
  HostContext context(1);
  TransposedWork<test::OnHost<T>> work(context, A);
  ProductCase<T> product(At, 6, {0, 0}, T{1}, T{1});
  const double old_values = 40.0 * 6 * static_cast<double>(sizeof(T));
  const auto expect = [&](const auto& plan, double entry_bytes) {
    context.profile().reset();
    work.multiply(product, plan);
    EXPECT_EQ(context.profile()[Phase::other].bytes,
              nnz * entry_bytes + offsets + blocks + old_values);
    EXPECT_EQ(context.profile()[Phase::other].flops, 2 * 6 * nnz);
  };
  expect(work.indexed, 8.0 + sizeof(T));
  expect(work.stored, 4.0 + sizeof(T));
}

}  // namespace
}  // namespace heddle
