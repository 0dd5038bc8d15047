#include <gtest/gtest.h>

#include <heddle/solvers/lobpcg/blocks.hpp>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/random_block.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

using Eigen::MatrixXd;
using test::to_dense;

constexpr Index kRows = 50;
constexpr Index kBlock = 4;
constexpr Index kMaxLocked = 6;

/// The blocks of a solve with or without B: a constraint in Y, and X, P and W of random numbers.
template <class T>
LobpcgBlocks<T, HostContext> filled(HostContext& context, bool pencil) {
  LobpcgBlocks<T, HostContext> blocks(context, kRows, kBlock, kMaxLocked, pencil);
  blocks.reset();
  blocks.set_locked(1);
  blocks.restart(kBlock);
  blocks.set_p(3);
  blocks.set_w(2);
  fill_random<T>(context, 1, 0, blocks.S().all);
  fill_random<T>(context, 1, 1, blocks.AS().all);
  fill_random<T>(context, 1, 2, blocks.Y(0, kMaxLocked));
  if (pencil) fill_random<T>(context, 1, 3, blocks.BS().all);
  if (pencil) fill_random<T>(context, 1, 4, blocks.BY(0, kMaxLocked));
  return blocks;
}

template <class T>
class LobpcgBlocksTest : public testing::Test {
 protected:
  template <class Block>
  static MatrixXd dense(const Block& block) {
    return to_dense<T>(block);
  }

  HostContext context_{2};
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(LobpcgBlocksTest, Scalars);

TYPED_TEST(LobpcgBlocksTest, XPAndWLieSideBySide) {
  for (const bool pencil : {true, false}) {
    auto blocks = filled<TypeParam>(this->context_, pencil);
    const auto expect_side_by_side = [&](const auto& parts) {
      ASSERT_EQ(parts.all.cols(), kBlock + 3 + 2);
      MatrixXd together(kRows, parts.all.cols());
      together << this->dense(parts.X), this->dense(parts.P), this->dense(parts.W);
      EXPECT_EQ(this->dense(parts.all), together);
      EXPECT_EQ(this->dense(parts.XP), together.leftCols(kBlock + 3));
    };
    expect_side_by_side(blocks.S());
    expect_side_by_side(blocks.AS());
    expect_side_by_side(blocks.BS());
    EXPECT_EQ(blocks.XP_basis().Q.cols(), kBlock + 3);
    EXPECT_EQ(this->dense(blocks.XP_basis().BQ),
              this->dense(blocks.BS().all.columns(0, kBlock + 3)));
  }
}

TYPED_TEST(LobpcgBlocksTest, WithoutBItsProductsAreTheBlocksThemselves) {
  auto blocks = filled<TypeParam>(this->context_, false);
  EXPECT_EQ(blocks.BS().all.data(), blocks.S().all.data());
  EXPECT_EQ(blocks.BY(0, 2).data(), blocks.Y(0, 2).data());
  EXPECT_EQ(blocks.BS_scratch().cols(), 0);
  auto pencil = filled<TypeParam>(this->context_, true);
  EXPECT_NE(pencil.BS().all.data(), pencil.S().all.data());
  EXPECT_NE(pencil.BY(0, 2).data(), pencil.Y(0, 2).data());
}

TYPED_TEST(LobpcgBlocksTest, LockingMovesTheLeadingColumnsBehindY) {
  for (const bool pencil : {true, false}) {
    auto blocks = filled<TypeParam>(this->context_, pencil);
    blocks.set_w(0);
    fill_random<TypeParam>(this->context_, 2, 0, blocks.R());
    const MatrixXd S = this->dense(blocks.S().all), AS = this->dense(blocks.AS().all),
                   BS = this->dense(blocks.BS().all), R = this->dense(blocks.R());
    const MatrixXd Y = this->dense(blocks.Y(0, 1)), BY = this->dense(blocks.BY(0, 1));
    blocks.lock(this->context_, 2);
    EXPECT_EQ(blocks.x(), kBlock - 2);
    EXPECT_EQ(blocks.p(), 3);
    EXPECT_EQ(blocks.locked(), 3);
    EXPECT_EQ(this->dense(blocks.S().all), S.rightCols(S.cols() - 2));
    EXPECT_EQ(this->dense(blocks.AS().all), AS.rightCols(S.cols() - 2));
    EXPECT_EQ(this->dense(blocks.BS().all), BS.rightCols(S.cols() - 2));
    EXPECT_EQ(this->dense(blocks.R()), R.rightCols(kBlock - 2));
    MatrixXd locked(kRows, 3), B_locked(kRows, 3);
    locked << Y, S.leftCols(2);
    B_locked << BY, BS.leftCols(2);
    EXPECT_EQ(this->dense(blocks.locked_basis().Q), locked);
    EXPECT_EQ(this->dense(blocks.locked_basis().BQ), B_locked);
  }
}

TYPED_TEST(LobpcgBlocksTest, AnUpdateMultipliesAllBlocksAndReturnsToTheStart) {
  using T = TypeParam;
  for (const bool pencil : {true, false}) {
    SCOPED_TRACE(pencil);
    auto blocks = filled<T>(this->context_, pencil);
    const T* start = blocks.S().all.data();
    blocks.lock(this->context_, 1);
    const MatrixXd S = this->dense(blocks.S().all), AS = this->dense(blocks.AS().all),
                   BS = this->dense(blocks.BS().all);
    test::RandomSmall coefficients(S.cols(), 5, 9);
    const auto C = coefficients.view();
    const MatrixXd dense_C = Eigen::Map<const MatrixXd>(C.data, C.rows, C.cols);
    blocks.update(this->context_, C, 3, 2);
    EXPECT_EQ(blocks.x(), 3);
    EXPECT_EQ(blocks.p(), 2);
    EXPECT_EQ(blocks.w(), 0);
    const double rounding = test::tolerance<T>(1, static_cast<double>(S.cols()));
    EXPECT_LE((this->dense(blocks.S().all) - S * dense_C).cwiseAbs().maxCoeff(), rounding);
    EXPECT_LE((this->dense(blocks.AS().all) - AS * dense_C).cwiseAbs().maxCoeff(), rounding);
    EXPECT_LE((this->dense(blocks.BS().all) - BS * dense_C).cwiseAbs().maxCoeff(), rounding);
    EXPECT_EQ(blocks.S().all.data(), start);
  }
}

TYPED_TEST(LobpcgBlocksTest, ResidualsLeaveXAndPAlone) {
  auto blocks = filled<TypeParam>(this->context_, true);
  blocks.set_p(kBlock);
  const MatrixXd AX = this->dense(blocks.AS().X), AP = this->dense(blocks.AS().P);
  set_zero<TypeParam>(this->context_, blocks.R());
  EXPECT_EQ(blocks.R().cols(), kBlock);
  EXPECT_EQ(this->dense(blocks.AS().X), AX);
  EXPECT_EQ(this->dense(blocks.AS().P), AP);
}

TYPED_TEST(LobpcgBlocksTest, ACheckpointHoldsAllThatAnIterationBeginsWith) {
  using T = TypeParam;
  for (const bool pencil : {true, false}) {
    auto blocks = filled<T>(this->context_, pencil);
    blocks.lock(this->context_, 1);
    std::vector<std::byte> memory;
    Archive save(memory, Archive::Mode::save);
    blocks.archive(save);
    std::vector<MatrixXd> saved;
    blocks.for_each([&](auto block) { saved.push_back(this->dense(block)); });

    LobpcgBlocks<T, HostContext> other(this->context_, kRows, kBlock, kMaxLocked, pencil);
    Archive load(memory, Archive::Mode::load);
    other.archive(load);
    std::size_t next = 0;
    other.for_each([&](auto block) {
      ASSERT_LT(next, saved.size());
      ASSERT_EQ(block.cols(), saved[next].cols());
      copy<T>(this->context_, test::to_block<T>(this->context_, saved[next++]).view(), block);
    });
    EXPECT_EQ(next, saved.size());
    blocks.set_w(0);
    other.set_w(0);
    EXPECT_EQ(this->dense(other.S().all), this->dense(blocks.S().all));
    EXPECT_EQ(this->dense(other.AS().all), this->dense(blocks.AS().all));
    EXPECT_EQ(this->dense(other.BS().all), this->dense(blocks.BS().all));
    EXPECT_EQ(this->dense(other.locked_basis().Q), this->dense(blocks.locked_basis().Q));
    EXPECT_EQ(this->dense(other.locked_basis().BQ), this->dense(blocks.locked_basis().BQ));
  }
}

}  // namespace
}  // namespace heddle
