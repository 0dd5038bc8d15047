#include <gtest/gtest.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <vector>

#include "linalg/blocks/block_ops_battery.hpp"
#include "linalg/blocks/gram_battery.hpp"
#include "support/allocations.hpp"
#include "support/on_host.hpp"

namespace heddle {
namespace {

using OnHostScalars = ::testing::Types<test::OnHost<float>, test::OnHost<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Host, BlockOps, OnHostScalars);
INSTANTIATE_TYPED_TEST_SUITE_P(Host, Gram, OnHostScalars);

template <class T>
class HostBlockOps : public ::testing::Test {
 protected:
  HostContext context_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostBlockOps, Scalars);

/// All bytes that the operations give on `threads` threads.
template <class T>
std::vector<double> results(int threads) {
  HostContext context(threads);
  const Index n = 40099;
  RandomBlock<T> X(n, 19, 20, 1);
  RandomBlock<T> Y(n, 6, 6, 2);
  RandomSmall G(19, 19, 3);
  RandomSmall H(19, 6, 3);
  RandomSmall pair(19, 6, 3);
  RandomSmall norms(6, 1, 4);
  gram<T>(context, X.view(), X.view(), G.view());
  gram<T>(context, X.view(), Y.view(), H.view(), X.view().columns(3, 6), pair.view());
  gram<T>(context, X.view(), Y.view(), H.view());
  multiply<T>(context, 1, X.view(), H.view(), 1, Y.view());
  residual<T>(context, Y.view(), X.view().columns(0, 6), norms.view(), Y.view(), norms.view());
  scale_columns<T>(context, norms.view(), Y.view());
  fill_random<T>(context, 1, 2, X.view());
  std::vector<double> all(Y.data().begin(), Y.data().end());
  for (const auto& part : {G.data(), H.data(), pair.data(), norms.data()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  for (Index i = 0; i < n; ++i) all.push_back(static_cast<double>(X.view()(i, 18)));
  return all;
}

TYPED_TEST(HostBlockOps, SameBitsForEveryNumberOfThreads) {
  const std::vector<double> one = results<TypeParam>(1);
  EXPECT_EQ(one, results<TypeParam>(2));
  EXPECT_EQ(one, results<TypeParam>(3));
}

TYPED_TEST(HostBlockOps, NothingIsAllocatedAfterTheFirstCallAtASize) {
  using T = TypeParam;
  RandomBlock<T> X(5000, 72, 72, 1);
  RandomBlock<T> Y(5000, 24, 24, 2);
  RandomSmall G(72, 72, 3);
  RandomSmall C(72, 24, 3);
  RandomSmall norms(24, 1, 4);
  const auto run = [&] {
    gram<T>(this->context_, X.view(), X.view(), G.view());
    gram<T>(this->context_, X.view(), Y.view(), C.view());
    multiply<T>(this->context_, 1, X.view(), C.view(), 0, Y.view());
    column_norms<T>(this->context_, Y.view(), norms.view());
    residual<T>(this->context_, Y.view(), Y.view(), norms.view(), Y.view(), norms.view());
    scale_columns<T>(this->context_, norms.view(), Y.view());
    copy<T>(this->context_, Y.view(), X.view().columns(0, 24));
    set_zero<T>(this->context_, Y.view());
    fill_random<T>(this->context_, 1, 1, Y.view());
  };
  run();
  const std::size_t context_before = this->context_.allocation_count().allocations;
  const std::size_t heap_before = test::heap_allocations();
  run();
  EXPECT_EQ(test::heap_allocations(), heap_before);
  EXPECT_EQ(this->context_.allocation_count().allocations, context_before);
}

TYPED_TEST(HostBlockOps, CountTheirTrafficAndArithmetic) {
  using T = TypeParam;
  RandomBlock<T> X(1000, 6, 6, 1);
  RandomBlock<T> Y(1000, 4, 4, 1);
  RandomSmall G(6, 4, 3);
  const auto counted = [&](const auto& operation) {
    this->context_.profile().reset();
    operation();
    return this->context_.profile()[Phase::other];
  };
  const PhaseTotals two = counted([&] { gram<T>(this->context_, X.view(), Y.view(), G.view()); });
  EXPECT_EQ(two.bytes, 1000.0 * (6 + 4) * sizeof(T));
  EXPECT_EQ(two.flops, 2.0 * 1000 * 6 * 4);
  const PhaseTotals update =
      counted([&] { multiply<T>(this->context_, 1, X.view(), G.view(), 1, Y.view()); });
  EXPECT_EQ(update.bytes, 1000.0 * (6 + 2 * 4) * sizeof(T));
  EXPECT_EQ(update.flops, 2.0 * 1000 * 6 * 4);
}

#ifdef __SSE2__
/// What lies between the rows of a block is not read as a number: with denormal ones, products take
/// many times as long. The flag of the CPU shows whether one took part.
TEST(BlockOpsOnHost, DenormalNumbersBetweenRowsTakeNoPart) {
  constexpr unsigned kDenormal = 2;  // of MXCSR
  constexpr Index kRows = 2000;
  HostContext context(1);
  for (const Index cols : {1, 2, 3, 5, 7, 9}) {
    const Index ld = cols + 1;
    std::vector<double> values(static_cast<std::size_t>(kRows * ld), 1e-310);
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < cols; ++j)
        values[static_cast<std::size_t>(i * ld + j)] = 1.0 / static_cast<double>(i + 1);
    }
    std::vector<double> other = values;
    const ConstBlockView<double, HostSpace> X(values.data(), kRows, cols, ld);
    const BlockView<double, HostSpace> Y(other.data(), kRows, cols, ld);
    SmallMatrix<double, HostSpace> G(context, cols, cols);
    _mm_setcsr(_mm_getcsr() & ~kDenormal);
    gram<double>(context, X, X, G.view(cols, cols));
    gram<double>(context, X, Y, G.view(cols, cols));
    multiply<double>(context, .5, X, G.view(cols, cols), .25, Y, Y);
    axpby<double>(context, 2, X, 3, Y);
    EXPECT_EQ(_mm_getcsr() & kDenormal, 0u) << cols;
    EXPECT_EQ(other[static_cast<std::size_t>(ld - 1)], 1e-310);
  }
}
#endif

}  // namespace
}  // namespace heddle
