#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/spgemm/hybrid_band.hpp>
#include <heddle/spgemm/spgemm.hpp>

#include "spgemm/band/band_battery.hpp"
#include "support/in_device_memory.hpp"

namespace heddle {
namespace {

using OnGpuScalars = ::testing::Types<test::InDeviceMemory<float>, test::InDeviceMemory<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, Band, OnGpuScalars);

class BandOnBoth : public test::CudaTest {
 protected:
  HostContext host_{2};
};

TEST_F(BandOnBoth, GivesTheProductWithEveryShare) {
  const auto A = test::band_matrix<double>(3010, 2500, 2);
  const auto B = test::band_matrix<double>(2500, 2600, 3);
  const auto left = dia_from_csr<double>(host_, A.view(), dia_shape(host_, A.view()));
  const auto right = dia_from_csr<double>(host_, B.view(), dia_shape(host_, B.view()));
  const DiaPattern pattern = product_pattern(host_, dia_pattern(host_, A.view(), left.shape()),
                                             dia_pattern(host_, B.view(), right.shape()));
  HybridBand<double> product(context(), host_, left, right);
  EXPECT_EQ(product.work().multiplications, 3010.0 * 5 * 7);
  EXPECT_EQ(product.work().entries, 3010.0 * 11);
  for (const double share : {0.0, 0.3, 1.0, 0.6}) {
    SCOPED_TRACE(share);
    HybridReport report;
    const HostCsrMatrix<double> C = csr_from_dia(host_, product.multiply(share, report), pattern);
    EXPECT_EQ(fault_of_product(host_, A.view(), B.view(), C.view()), "");
    EXPECT_NEAR(report.gpu_share, 1 - share, 0.01);
    EXPECT_EQ(report.gpu_ms > 0, share < 1);
    EXPECT_EQ(report.cpu_ms > 0, share > 0);
    EXPECT_EQ(report.gpu_rows == 3010, share == 0);
  }
  HybridReport report;
  EXPECT_THROW(product.multiply(-0.1, report), InvalidArgument);
  EXPECT_THROW(product.multiply(1.5, report), InvalidArgument);
}

TEST_F(BandOnBoth, MeasuresCosts) {
  const BandCosts costs = measure_band_costs<double>(context(), host_, 20000);
  const BandWork work{20000.0 * 15, 20000.0 * 7};
  EXPECT_GT(costs.host.ms(work), 0);
  EXPECT_GT(costs.gpu.ms(work), 0);
  EXPECT_GT(costs.host_alone.ms(work), 0);
  EXPECT_GT(costs.gpu_alone.ms(work), 0);
  EXPECT_GT(measure_band_costs<float>(context(), host_, 3).host.ms(work), 0);
  EXPECT_THROW(measure_band_costs<double>(context(), host_, 0), InvalidArgument);
}

template <class Backend>
class ColumnRow : public Backend::Fixture {
 protected:
  using T = typename Backend::Scalar;
  HostContext host_{2};

  void check(const CsrView<T, HostSpace>& A, const CsrView<T, HostSpace>& B) {
    const auto left = place(this->on(), convert<T>(host_, A));
    const auto right = place(this->on(), convert<T>(host_, B));
    const auto product = [&] {
      const auto C = spgemm_column_row<T>(this->on(), left.view(), right.view());
      return fetch(this->on(), host_, C.view());
    };
    const HostCsrMatrix<T> C = product();
    EXPECT_EQ(fault_of_product(host_, A, B, C.view()), "");
    EXPECT_TRUE(test::same_bits(product().view(), C.view()));
  }
};

TYPED_TEST_SUITE(ColumnRow, OnGpuScalars);

TYPED_TEST(ColumnRow, IsTheProduct) {
  using T = typename TestFixture::T;
  const auto square = [&](const auto& A) { this->check(A.view(), A.view()); };
  square(test::band_matrix<T>(100, 100, 3));
  square(test::power_law_matrix<T>(500, 500, 300));
  square(generate<T>(this->host_, {"rmat", {9}, 8}));
  this->check(test::random_matrix<T>(90, 400, 9).view(), test::random_matrix<T>(400, 33, 2).view());
  const auto empty = [](Index rows, Index cols) {
    return test::matrix_with_pattern<T>(rows, cols, [](Index) { return std::vector<Index>{}; });
  };
  this->check(empty(0, 0).view(), empty(0, 0).view());
  this->check(test::random_matrix<T>(6, 4, 2).view(), empty(4, 9).view());
  const auto apart = test::matrix_with_pattern<T>(
      50, 50, [](Index i) { return i == 3 ? std::vector<Index>{7} : std::vector<Index>{}; });
  square(apart);
}

TYPED_TEST(ColumnRow, RefusesShapesThatDoNotFit) {
  using T = typename TestFixture::T;
  const auto A = place(this->on(), convert<T>(this->host_, test::random_matrix<T>(5, 4, 2).view()));
  EXPECT_THROW(spgemm_column_row<T>(this->on(), A.view(), A.view()), InvalidArgument);
}

}  // namespace
}  // namespace heddle
