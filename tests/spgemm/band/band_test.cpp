#include <cstring>
#include <heddle/spgemm/hybrid_band.hpp>

#include "spgemm/band/band_battery.hpp"
#include "support/on_host.hpp"

namespace heddle {
namespace {

using OnHostScalars = ::testing::Types<test::OnHost<float>, test::OnHost<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Host, Band, OnHostScalars);

TEST(BandThreads, GiveTheSameBits) {
  const auto A = test::band_matrix<double>(20000, 20000, 6);
  HostContext one(1);
  const HostDiaMatrix<double> banded =
      dia_from_csr<double>(one, A.view(), dia_shape(one, A.view()));
  const BandPlan<double, HostContext> plan(one, banded.shape(), banded.shape());
  EXPECT_EQ(plan.multiplications(), 20000 * 13 * 13);
  const HostDiaMatrix<double> expected = plan.multiply(one, banded, banded);
  for (const int threads : {2, 5}) {
    HostContext context(threads);
    const HostDiaMatrix<double> C = plan.multiply(context, banded, banded);
    for (Index d = 0; d < C.shape().diagonals(); ++d) {
      EXPECT_EQ(std::memcmp(C.values() + d * C.ld(), expected.values() + d * C.ld(),
                            20000 * sizeof(double)),
                0);
    }
  }
}

TEST(BandConversion, NamesWhatDoesNotFit) {
  HostContext context(1);
  const auto A = test::band_matrix<double>(30, 20, 2);
  EXPECT_THROW(dia_from_csr<double>(context, A.view(), {30, 20, {-1, 0, 1, 2}}), InvalidArgument);
  EXPECT_THROW(
      dia_from_csr<double>(context, A.view(), {30, 21, dia_shape(context, A.view()).offsets}),
      InvalidArgument);
  const DiaShape shape = dia_shape(context, A.view());
  EXPECT_EQ(shape.offsets, (std::vector<Index>{-2, -1, 0, 1, 2}));
  const auto banded = dia_from_csr<double>(context, A.view(), shape);
  const DiaPattern pattern = dia_pattern(context, A.view(), shape);
  EXPECT_TRUE(test::same_bits(csr_from_dia(context, banded, pattern).view(), A.view()));
  EXPECT_THROW(csr_from_dia(context, banded, DiaPattern({30, 20, {0}})), InvalidArgument);
  EXPECT_THROW(product_pattern(context, pattern, pattern), InvalidArgument);
}

TEST(BandSplit, IsThatOfThePaper) {
  const BandWork work{10, 7};
  constexpr double kAlpha = 3;
  constexpr double kBeta = 0.5;
  constexpr double kGamma = 0.8;
  const double g = kBeta * 10 + kGamma * 7;
  const auto split = [&](const BandCost& on_host, const BandCost& on_gpu) {
    return band_split({on_host, on_gpu, on_host, on_gpu}, work);
  };
  EXPECT_DOUBLE_EQ(split({kAlpha, 0, 0}, {kBeta, kGamma, 0}), g / (kAlpha * 10 + g));
  // With latencies, both sides finish together.
  const BandCost on_host{3, 0.1, 1};
  const BandCost on_gpu{0.5, 0.8, 4};
  const double t = split(on_host, on_gpu);
  EXPECT_NEAR(t * on_host.slope(work) + 1, (1 - t) * on_gpu.slope(work) + 4, 1e-12);
  EXPECT_EQ(split({3, 0, 0}, {0.5, 0.8, 100}), 1);
  EXPECT_EQ(split({3, 0, 100}, {0.5, 0.8, 0}), 0);
  EXPECT_EQ(band_split({}, work), 1);
  // A host that is much faster alone.
  EXPECT_EQ(band_split({on_host, on_gpu, {0.1, 0, 0}, on_gpu}, work), 1);
}

/// The time of a product of which the host computes `share`, where the side that is slower alone
/// needs twice its latency beside the other one.
double shared_ms(const BandCosts& costs, const BandWork& work, double share) {
  const double host = costs.host_alone.ms(work);
  const double gpu = costs.gpu_alone.ms(work);
  if (share == 1) return host;
  if (share == 0) return gpu;
  return std::max(share * costs.host.slope(work) + (host > gpu ? 2 : 1) * costs.host.latency,
                  (1 - share) * costs.gpu.slope(work) + (host > gpu ? 1 : 2) * costs.gpu.latency);
}

TEST(BandSplit, IsNoSlowerThanOneSideAloneWhereTheLatencyDoubles) {
  constexpr double kHostLatency = 0.01;
  constexpr double kGpuLatency = 0.03;
  const BandCost on_host{1e-7, 1e-7, kHostLatency};
  for (const double gpu_slope : {1e-7, 3e-7, 6e-7}) {
    const BandCost on_gpu{0, gpu_slope, kGpuLatency};
    const BandCosts costs{on_host, on_gpu, on_host, on_gpu};
    bool shared = false;
    for (double rows = 100; rows < 1e8; rows *= 1.5) {
      const BandWork work{12 * rows, 6 * rows};
      const double share = band_split(costs, work);
      const double faster = std::min(on_host.ms(work), on_gpu.ms(work));
      EXPECT_LE(shared_ms(costs, work, share), faster * (1 + 1e-12)) << rows;
      const bool shares = share > 0 && share < 1;
      EXPECT_TRUE(shares || !shared) << "a larger product is shared again, " << rows;
      shared = shares;
    }
    EXPECT_TRUE(shared);
  }
}

TEST(BandSplit, IsOneSideAloneWhereSharingSavesLittle) {
  // Times of products with 51200 rows, in ms: to share them saves less than the GPU's latency.
  const BandWork work{12 * 51200, 6 * 51200};
  const BandCost on_host{1e-7, 0, 0.01};
  const BandCost on_gpu{0, 1.5e-7, 0.04};
  EXPECT_EQ(band_split({on_host, on_gpu, on_host, on_gpu}, work), 1);
  // The GPU is faster, and the host too slow to help.
  EXPECT_EQ(band_split({{1e-6, 0, 0}, on_gpu, {1e-6, 0, 0}, on_gpu}, work), 0);
  const double large = band_split({on_host, on_gpu, on_host, on_gpu}, {12 * 51200e2, 6 * 51200e2});
  EXPECT_GT(large, 0);
  EXPECT_LT(large, 1);
}

TEST(BandCostFit, FindsTheCoefficientsAndNoNegativeOnes) {
  const std::vector<BandWork> works = {{6, 4}, {16, 7}, {18, 8}, {36, 11}, {60, 40}, {3, 2}};
  const auto fit = [&](const BandCost& truth, double slant) {
    std::vector<BandSample> samples;
    for (const BandWork& work : works) {
      samples.push_back({work, truth.ms(work) - slant * work.entries});
    }
    return fit_band_cost(samples);
  };
  const BandCost found = fit({0.3, 0.7, 2}, 0);
  EXPECT_NEAR(found.per_multiplication, 0.3, 1e-9);
  EXPECT_NEAR(found.per_entry, 0.7, 1e-9);
  EXPECT_NEAR(found.latency, 2, 1e-9);
  // Times of which a term would be negative.
  const BandCost bounded = fit({0.5, 0, 1}, 0.05);
  EXPECT_EQ(bounded.per_entry, 0);
  EXPECT_GT(bounded.per_multiplication, 0.3);
  // One size: the samples cannot tell the terms apart.
  const std::vector<BandSample> one = {{{10, 7}, 2}, {{10, 7}, 2}};
  EXPECT_NEAR(fit_band_cost(one).ms({10, 7}), 2, 1e-9);
  EXPECT_THROW(fit_band_cost({}), InvalidArgument);
  const std::vector<BandSample> none = {{{10, 7}, 0}};
  EXPECT_THROW(fit_band_cost(none), InvalidArgument);
}

}  // namespace
}  // namespace heddle
