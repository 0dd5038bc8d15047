#include <gtest/gtest.h>

#include <heddle/solvers/cg/operator_norm.hpp>
#include <limits>
#include <optional>

namespace heddle::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// An operator of which only the norm matters.
template <class T>
class NormOnly final : public LinearOperator<T, HostContext> {
 public:
  explicit NormOnly(std::optional<double> norm)
      : LinearOperator<T, HostContext>(1, 1), norm_(norm) {}
  std::optional<double> one_norm() const override { return norm_; }

 protected:
  void apply_block(HostContext&, ConstBlockView<T, HostSpace>, BlockView<T, HostSpace>) override {}

 private:
  std::optional<double> norm_;
};

template <class T>
class OperatorNormTest : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(OperatorNormTest, Scalars);

TYPED_TEST(OperatorNormTest, IsTheNormWhereItIsKnownElseTheLargestRayleighQuotient) {
  const NormOnly<TypeParam> known(50), unknown(std::nullopt);
  OperatorNorm<TypeParam, HostContext> exact(known), estimated(unknown);
  EXPECT_EQ(estimated.value(), 0);
  for (const double quotient : {3.0, 7.0, kInfinity, kNaN, 5.0}) {
    exact.add_rayleigh_quotient(quotient);
    estimated.add_rayleigh_quotient(quotient);
  }
  EXPECT_EQ(exact.value(), 50);
  EXPECT_EQ(estimated.value(), 7);
  EXPECT_EQ(exact.largest_rayleigh_quotient(), 7);
}

TYPED_TEST(OperatorNormTest, BackwardErrorsAreRelativeToAXAndB) {
  const NormOnly<TypeParam> A(50);
  const OperatorNorm<TypeParam, HostContext> norm(A);
  EXPECT_EQ(norm.backward_error({.rhs_norm = 4, .norm = 2, .x_norm = 3}), 2.0 / (50 * 3 + 4));
  EXPECT_EQ(norm.backward_error({}), 0) << "0/0";
}

TYPED_TEST(OperatorNormTest, ANegativeQuotientBeyondRoundingIsAnIndefiniteA) {
  const NormOnly<TypeParam> A(50);
  const OperatorNorm<TypeParam, HostContext> norm(A);
  const double rounding =
      10 * 3 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()) * 50;
  EXPECT_FALSE(norm.check_least_rayleigh_quotient(0, 3).has_value());
  EXPECT_FALSE(norm.check_least_rayleigh_quotient(-0.9 * rounding, 3).has_value());
  const auto indefinite = norm.check_least_rayleigh_quotient(-1.1 * rounding, 3);
  ASSERT_TRUE(indefinite.has_value());
  EXPECT_EQ(indefinite->status, SolveStatus::indefinite);
  const auto broken = norm.check_least_rayleigh_quotient(kNaN, 3);
  ASSERT_TRUE(broken.has_value());
  EXPECT_EQ(broken->status, SolveStatus::breakdown);
}

}  // namespace
}  // namespace heddle::detail
