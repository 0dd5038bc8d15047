#include <heddle/linalg/base/error.hpp>

#include "linalg/orthogonal/gram_schmidt_battery.hpp"
#include "linalg/orthogonal/orthogonalize_battery.hpp"
#include "support/allocations.hpp"
#include "support/on_host.hpp"

namespace heddle {
namespace {

using OnHostScalars = ::testing::Types<test::OnHost<float>, test::OnHost<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Host, Orthogonalize, OnHostScalars);
INSTANTIATE_TYPED_TEST_SUITE_P(Host, GramSchmidt, OnHostScalars);

template <class T>
class HostOrthogonalize : public ::testing::Test {
 protected:
  HostContext context_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostOrthogonalize, Scalars);

TYPED_TEST(HostOrthogonalize, SameBitsForEveryNumberOfThreads) {
  using T = TypeParam;
  const auto result = [&](int threads) {
    HostContext context(threads);
    RandomBlock<T> X = conditioned<T>(30000, 10, 1e9);
    Orthogonalizer<T, HostContext> orthogonalizer(context, 10, 1);
    orthogonalizer.orthonormalize(context, X.view().columns(0, 9), X.view().columns(0, 9));
    orthogonalizer.project(context, {X.view().columns(0, 1), X.view().columns(0, 1)},
                           X.view().columns(9, 1), {});
    RandomBlock<T> Y(30000, 10, 10, 2);
    RandomSmall status(CholeskyQrStatus::rows, 1, 3);
    orthogonalizer.gram_schmidt(context, {{X.view().columns(0, 1), X.view().columns(0, 1)}},
                                Y.view(), Y.view(), status.view());
    EXPECT_GT(status.data()[CholeskyQrStatus::diagonal_ratio], 0);
    std::vector<T> values = Y.data();
    for (Index i = 0; i < 30000; ++i) {
      for (Index j = 0; j < 10; ++j) values.push_back(X.view()(i, j));
    }
    return values;
  };
  const std::vector<T> one = result(1);
  EXPECT_EQ(one, result(2));
  EXPECT_EQ(one, result(3));
}

TYPED_TEST(HostOrthogonalize, NothingIsAllocatedAfterTheFirstCall) {
  using T = TypeParam;
  Orthogonalizer<T, HostContext> orthogonalizer(this->context_, 30, 10);
  auto basis = with_image(conditioned<T>(kRows, 10, 1e3), &kMass);
  RandomSmall status(CholeskyQrStatus::rows, 1, 1);
  const auto run = [&](RandomBlock<T>& X, RandomBlock<T>& BX) {
    orthogonalizer.gram_schmidt(this->context_, {{basis.X.view(), basis.BX()}}, X.view(), BX.view(),
                                status.view());
    orthogonalizer.project(this->context_, {basis.X.view(), basis.BX()}, X.view(), BX.view());
    orthogonalizer.orthonormalize(this->context_, X.view(), BX.view());
  };
  auto blocks = with_image(conditioned<T>(kRows, 30, 1e14), &kMass);
  auto again = blocks;
  run(blocks.X, blocks.image);
  const std::size_t context_before = this->context_.allocation_count().allocations;
  const std::size_t heap_before = test::heap_allocations();
  run(again.X, again.image);
  EXPECT_EQ(test::heap_allocations(), heap_before);
  EXPECT_EQ(this->context_.allocation_count().allocations, context_before);
}

TYPED_TEST(HostOrthogonalize, BlocksThatDoNotFitThrow) {
  using T = TypeParam;
  Orthogonalizer<T, HostContext> orthogonalizer(this->context_, 3, 2);
  RandomBlock<T> X(10, 4, 4, 1);
  RandomBlock<T> other(11, 3, 3, 1);
  const auto three = X.view().columns(0, 3);
  EXPECT_THROW(orthogonalizer.orthonormalize(this->context_, X.view(), X.view()), InvalidArgument);
  EXPECT_THROW(orthogonalizer.orthonormalize(this->context_, three, other.view()), InvalidArgument);
  EXPECT_THROW(orthogonalizer.orthonormalize(this->context_, three, X.view()), InvalidArgument);
  EXPECT_THROW(orthogonalizer.project(this->context_, {three, three}, three, {}), InvalidArgument);
  EXPECT_THROW(
      orthogonalizer.project(this->context_,
                             {other.view().columns(0, 2), other.view().columns(0, 2)}, three, {}),
      InvalidArgument);
}

TYPED_TEST(HostOrthogonalize, BlocksThatDoNotFitThrowInGramSchmidt) {
  using T = TypeParam;
  Orthogonalizer<T, HostContext> orthogonalizer(this->context_, 3, 2);
  RandomBlock<T> S(10, 7, 7, 1);
  RandomBlock<T> other(11, 3, 3, 1);
  RandomSmall status(CholeskyQrStatus::rows, 1, 1);
  RandomSmall short_status(CholeskyQrStatus::rows - 1, 1, 1);
  const auto Q = S.view().columns(2, 2);
  const auto X = S.view().columns(4, 3);
  const auto throws = [&](std::initializer_list<Basis<T, HostSpace>> bases,
                          BlockView<T, HostSpace> block, BlockView<T, HostSpace> image,
                          RandomSmall& to) {
    EXPECT_THROW(orthogonalizer.gram_schmidt(this->context_, bases, block, image, to.view()),
                 InvalidArgument);
  };
  const auto few_rows = [](BlockView<T, HostSpace> block) {
    return ConstBlockView<T, HostSpace>(block.data(), 9, block.cols(), block.ld());
  };
  throws({}, S.view().columns(0, 4), S.view().columns(0, 4), status);
  throws({{S.view().columns(1, 3), S.view().columns(1, 3)}}, X, X, status);
  throws({{Q, Q}, {S.view().columns(0, 1), S.view().columns(0, 1)}}, X, X, status);
  throws({}, X, Q, status);
  throws({}, X, other.view(), status);
  throws({{Q, Q}}, X, X, short_status);
  throws({{Q, S.view().columns(0, 1)}}, X, X, status);
  throws({{few_rows(Q), few_rows(Q)}}, X, X, status);
  throws({{other.view().columns(0, 2), other.view().columns(0, 2)}}, X, X, status);
}

TEST(OrthoCounts, AddUpTheRungsAndTheLostColumns) {
  OrthoCounts counts;
  counts.add({5, OrthoMethod::cholqr, false, true}, 5);
  counts.add({5, OrthoMethod::cholqr2, false, true}, 5);
  counts.add({3, OrthoMethod::shifted_cholqr3, false, true}, 5);
  counts.add({4, OrthoMethod::svqb, false, true}, 5);
  EXPECT_EQ(counts.cholqr, 1);
  EXPECT_EQ(counts.cholqr2, 1);
  EXPECT_EQ(counts.shifted, 1);
  EXPECT_EQ(counts.svqb, 1);
  EXPECT_EQ(counts.dropped, 3);
}

}  // namespace
}  // namespace heddle
