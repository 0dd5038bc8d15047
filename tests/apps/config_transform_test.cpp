#include <gtest/gtest.h>

#include <apps/config_support.hpp>
#include <string>

namespace heddle::apps {
namespace {

using test::error_of;

TEST(ConfigErrors, KeysOfGraphLaplacians) {
  const auto refused = [](const std::string& keys) {
    return error_of("problem: {matrix: a.mtx, " + keys + "}");
  };
  EXPECT_EQ(refused("weights: unit"),
            "case.yaml:1:35: problem.weights does not go with transform: none; it is for graph "
            "Laplacians");
  EXPECT_EQ(refused("symmetrize: true, transform: normal_equations"),
            "case.yaml:1:38: problem.symmetrize does not go with transform: normal_equations");
  EXPECT_EQ(refused("symmetrize: average, transform: normal_equations"),
            "case.yaml:1:38: problem.symmetrize does not go with transform: normal_equations");
  EXPECT_EQ(refused("symmetrize: average, transform: laplacian"),
            "case.yaml:1:38: problem.symmetrize does not go with a graph Laplacian; true takes the "
            "larger weight of both directions");
  EXPECT_EQ(refused("symmetrize: average"), "");
  EXPECT_EQ(refused("symmetrize: true, weights: unit, transform: laplacian"), "");
  EXPECT_EQ(refused("weights: unit, transform: normalized_laplacian"), "");
}

}  // namespace
}  // namespace heddle::apps
