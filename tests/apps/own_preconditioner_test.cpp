#include <gtest/gtest.h>

#include <apps/config_support.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/preconditioners/table.hpp>

namespace heddle::apps {
namespace {

/// M⁻¹ = s I: of no use, but symmetric positive definite.
class ScaledIdentity final : public Preconditioner<double, HostContext> {
 public:
  ScaledIdentity(Index order, Index scale)
      : Preconditioner<double, HostContext>(order, order), scale_(static_cast<double>(scale)) {}

  static inline Index applications = 0;

 private:
  void apply_block(HostContext& context, ConstBlockView<double, HostSpace> X,
                   BlockView<double, HostSpace> Y) override {
    ++applications;
    axpby<double>(context, scale_, X, 0, Y);
  }

  double scale_;
};

/// The row that makes it known to configurations, reports, the estimate of memory and solves. It is
/// added before the schema is read for the first time.
const bool kAdded = [] {
  preconditioner_table().add({.name = "scaled_identity",
                              .doc = "a multiple of the identity",
                              .keys = {{.name = "scale",
                                        .doc = "of scaled_identity",
                                        .integers = IntegerRange{1, 10},
                                        .fallback = Index{2}}},
                              .needs = MatrixAccess::products,
                              .describe_options =
                                  [](const PreconditionerOptions& options) {
                                    return ", scale " + std::to_string(options.integer("scale"));
                                  },
                              .maker =
                                  [](HostContext&, CsrView<double, HostSpace> A,
                                     const PreconditionerOptions& options, const SpmmOptions&) {
                                    return std::make_unique<ScaledIdentity>(
                                        A.rows, options.integer("scale"));
                                  }});
  return true;
}();

const std::string kProblem =
    "problem: {matrix: {generate: laplace2d, size: [20, 21]}}\ndevice: host\n";

TEST(OwnPreconditioner, IsChosenByNameInAConfiguration) {
  ASSERT_TRUE(kAdded);
  const Config config = test::config_of(
      kProblem + "solver: {nev: 2, preconditioner: {type: scaled_identity, scale: 3}}");
  Device device(DeviceChoice::host, 1);
  const Solution solution = solve(device, read_problem(device.host(), config), config.request);
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  EXPECT_EQ(solution.preconditioner_name, "scaled_identity of A, scale 3");
  EXPECT_GT(ScaledIdentity::applications, 0);
  EXPECT_NEAR(solution.eigenvalues.at(0), laplace_smallest_eigenvalues({20, 21}, 1).at(0), 1e-7);
}

TEST(OwnPreconditioner, IsInTheHelpAndInMessages) {
  EXPECT_NE(describe_keys(SolverType::lobpcg).find("scale:  # of scaled_identity"),
            std::string::npos);
  EXPECT_EQ(
      test::error_of(kProblem + "solver: {preconditioner: {type: scaled_identity, scale: 11}}"),
      "case.yaml:3:57: solver.preconditioner.scale: expected an integer from 1 to 10, got "
      "'11'");
  EXPECT_EQ(test::error_of(kProblem + "solver: {preconditioner: {type: jacobi, scale: 5}}"),
            "case.yaml:3:48: solver.preconditioner.scale does not go with "
            "solver.preconditioner.type: jacobi");
}

}  // namespace
}  // namespace heddle::apps
