#include <gtest/gtest.h>

#include <complex>
#include <heddle/apps/info/matrix_report.hpp>
#include <heddle/apps/info/pencil_report.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

TEST(ComplexReport, OfHermitianAndOtherMatrices) {
  HostContext context(1);
  using Complex = std::complex<double>;
  const auto ring = detail::load_matrix<Complex>(context, "ring_flux:40:0.3");
  const MatrixReport report = inspect(context, "ring", ring.view(), {8});
  EXPECT_TRUE(report.symmetric);
  EXPECT_DOUBLE_EQ(report.largest_entry, 2);
  EXPECT_NEAR(report.gershgorin->upper, 4, 1e-15);
  EXPECT_LE(report.ritz->upper, 4);
  const std::string text = to_text(report);
  EXPECT_NE(text.find("numbers      complex"), std::string::npos) << text;
  EXPECT_NE(text.find("Hermitian    yes"), std::string::npos) << text;
  EXPECT_EQ(text.find("GPU"), std::string::npos) << text;
  EXPECT_TRUE(nlohmann::json::parse(to_json(report)).at("hermitian").get<bool>());

  const std::vector<Triplet<Complex>> skewed{{0, 0, 1}, {0, 1, {0, 3}}, {1, 0, {0, 3}}, {1, 1, 4}};
  const auto A = csr_from_triplets<Complex>(context, 2, 2, skewed);
  const MatrixReport other = inspect(context, "A", A.view(), {});
  EXPECT_FALSE(other.symmetric);
  EXPECT_NE(to_text(other).find("entry (1, 2) is 0+3i, entry (2, 1) is 0+3i"), std::string::npos)
      << to_text(other);
  const auto json = nlohmann::json::parse(to_json(other));
  EXPECT_EQ(json.at("asymmetry").at("value"), nlohmann::json({0.0, 3.0}));
}

}  // namespace
}  // namespace heddle::apps
