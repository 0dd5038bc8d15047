#include <gtest/gtest.h>

#include <Eigen/Core>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <string>

#include "solvers/linear_test_support.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace {

using test::random_vectors;
using test::tolerance;

/// Options that every way through a row's code is taken with.
std::vector<OptionValues> variants(std::string_view name) {
  if (name == "block_jacobi") return {{}, {{"block_size", 4}}};
  if (name == "chebyshev") return {{}, {{"degree", 1}}, {{"degree", 5}}};
  if (name == "incomplete_cholesky") {
    return {{}, {{"triangular_solve", "levels"}}, {{"triangular_solve", "iterated"}}};
  }
  return {{}};
}

const std::vector<std::string> kBuiltIn = {"jacobi", "block_jacobi", "chebyshev",
                                           "incomplete_cholesky"};

template <class T>
class PreconditionerTableOf : public ::testing::Test {
 protected:
  HostContext context_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PreconditionerTableOf, Scalars);

TYPED_TEST(PreconditionerTableOf, EveryRowMakesASymmetricPositiveDefiniteOperator) {
  using T = TypeParam;
  auto A = test::make_operator<T>(this->context_, {"laplace2d", {6, 7}});
  const Index n = A.rows();
  MultiVector<T, HostSpace> I(this->context_, n, n), M(this->context_, n, n);
  set_identity<T>(this->context_, I.view());
  for (const std::string& name : kBuiltIn) {
    for (const OptionValues& options : variants(name)) {
      const auto made =
          make_preconditioner<T>(this->context_, name, A.matrix(), options, SpmmOptions{});
      ASSERT_EQ(made.get()->rows(), n) << name;
      made.get()->apply(this->context_, I.view(), M.view());
      const Eigen::MatrixXd dense = test::to_dense<T>(M.view());
      const double norm = dense.cwiseAbs().maxCoeff();
      EXPECT_LE((dense - dense.transpose()).cwiseAbs().maxCoeff(),
                tolerance<T>(norm, static_cast<double>(n)))
          << name;
      EXPECT_GT(test::eigenvalues((dense + dense.transpose()) / 2).minCoeff(), 0) << name;
    }
  }
}

TYPED_TEST(PreconditionerTableOf, BytesAreWithinTheDocumentedFactorsOfWhatIsAllocated) {
  using T = TypeParam;
  constexpr Index kBlock = 8;
  for (const GallerySpec& spec :
       {GallerySpec{"laplace3d", {14, 15, 16}}, GallerySpec{"elasticity3d", {9, 9, 9}}}) {
    auto A = test::make_operator<T>(this->context_, spec);
    const PreconditionerSizes sizes{A.rows(), A.matrix().nnz, kBlock, sizeof(T)};
    const auto X = random_vectors<T>(this->context_, A.rows(), kBlock);
    MultiVector<T, HostSpace> Y(this->context_, A.rows(), kBlock);
    for (const std::string& name : kBuiltIn) {
      const PreconditionerKind& kind = preconditioner_table().get(name);
      for (const OptionValues& given : variants(name)) {
        SCOPED_TRACE(spec.name + " " + name);
        HostContext context(2);  // its scratch memory would be counted at the first call only
        const PreconditionerOptions options = kind.options(given);
        const PreconditionerBytes bytes = kind.bytes(sizes, options);
        const auto made = kind.make<T>(context, A.matrix(), options);
        made.get()->apply(context, X.view(), Y.view());
        const auto count = context.allocation_count();
        const auto kept = static_cast<double>(count.live_bytes);
        const bool is_bound = name == "block_jacobi" && given.empty();
        EXPECT_GE(bytes.kept, 0.75 * kept);
        EXPECT_LE(bytes.kept, (is_bound ? 30 : 2) * kept);
        EXPECT_GE(std::max(bytes.kept, bytes.setup), 0.75 * static_cast<double>(count.peak_bytes));
        EXPECT_LE(bytes.matrix, bytes.kept);
        EXPECT_LE(made->setup_cost().bytes(), count.live_bytes);
        EXPECT_GE(made->setup_cost().seconds(), 0);
      }
    }
  }
}

TEST(PreconditionerTable, HoldsTheBuiltInRowsInTheirOrder) {
  const auto names = preconditioner_table().names();
  ASSERT_GE(names.size(), kBuiltIn.size());
  for (std::size_t i = 0; i < kBuiltIn.size(); ++i) EXPECT_EQ(names[i], kBuiltIn[i]);
  EXPECT_EQ(preconditioner_table().find("jacobi")->name, "jacobi");
  EXPECT_EQ(preconditioner_table().find("none"), nullptr);
  EXPECT_EQ(preconditioner_table().find("auto"), nullptr);
}

TEST(PreconditionerTable, RowsDescribeTheirOptions) {
  const auto described = [](const char* name, const OptionValues& given) {
    const PreconditionerKind& kind = preconditioner_table().get(name);
    return kind.describe(kind.options(given));
  };
  EXPECT_EQ(described("jacobi", {}), "");
  EXPECT_EQ(described("block_jacobi", {}), "");
  EXPECT_EQ(described("block_jacobi", {{"block_size", 4}}), ", blocks of 4");
  EXPECT_EQ(described("chebyshev", {}), ", degree auto");
  EXPECT_EQ(described("chebyshev", {{"degree", 3}}), ", degree 3");
  EXPECT_EQ(described("incomplete_cholesky", {}), "");
  EXPECT_EQ(described("incomplete_cholesky", {{"triangular_solve", "levels"}}),
            ", solved by levels");
  EXPECT_EQ(described("incomplete_cholesky", {{"triangular_solve", "iterated"}}),
            ", solved by sweeps");
}

/// The message of the `InvalidArgument` that `action` throws.
template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(PreconditionerTable, WrongOptionsAreNamedWithWhatIsAllowed) {
  const auto asked = [](const char* name, const OptionValues& given) {
    return refusal([&] { preconditioner_table().get(name).options(given); });
  };
  EXPECT_EQ(asked("jacobi", {{"degree", 3}}),
            "preconditioner jacobi has no option \"degree\": it has no options");
  EXPECT_EQ(asked("chebyshev", {{"order", 3}}),
            "preconditioner chebyshev has no option \"order\": its options are: degree");
  EXPECT_EQ(asked("chebyshev", {{"degree", 0}}),
            "preconditioner chebyshev: degree must be auto or an integer from 1 to 1000, it is 0");
  EXPECT_EQ(asked("chebyshev", {{"degree", "low"}}),
            "preconditioner chebyshev: degree must be auto or an integer from 1 to 1000, it is "
            "\"low\"");
  EXPECT_EQ(asked("block_jacobi", {{"block_size", 257}}),
            "preconditioner block_jacobi: block_size must be auto or an integer from 1 to 256, it "
            "is 257");
  EXPECT_EQ(asked("incomplete_cholesky", {{"triangular_solve", 1}}),
            "preconditioner incomplete_cholesky: triangular_solve must be auto, levels or "
            "iterated, it is 1");
  EXPECT_NE(refusal([] { preconditioner_table().get("jacoby"); }).find("jacoby"),
            std::string::npos);
  const PreconditionerOptions options = preconditioner_table().get("block_jacobi").options();
  EXPECT_THROW(options.integer("block_size"), InvalidArgument);
  EXPECT_THROW(options.integer("degree"), InvalidArgument);
  EXPECT_TRUE(options.is("block_size", "auto"));
}

const PreconditionedProblem kSmallest{};
const PreconditionedProblem kLargest{.which = Which::largest};
const PreconditionedProblem kLargestOfPencil{.which = Which::largest, .pencil = true};
const PreconditionedProblem kLinear{.task = PreconditionedTask::linear_system};
const PreconditionedProblem kLeastSquares{.task = PreconditionedTask::least_squares};
const PreconditionedProblem kUnpreconditioned{.task = PreconditionedTask::unpreconditioned};
const PreconditionedProblem kOperator{.task = PreconditionedTask::linear_system, .stored = false};

TEST(PreconditionerTable, RowsSayWhatTheySuit) {
  const auto suits = [](const char* name, const PreconditionedProblem& problem) {
    return preconditioner_table().get(name).unsuitable(problem).empty();
  };
  for (const std::string& name : kBuiltIn) {
    const bool near = name == "chebyshev" || name == "incomplete_cholesky";
    EXPECT_TRUE(suits(name.c_str(), kSmallest)) << name;
    EXPECT_EQ(suits(name.c_str(), kLargest), !near) << name;
    EXPECT_TRUE(suits(name.c_str(), kLargestOfPencil)) << name;
    EXPECT_TRUE(suits(name.c_str(), kLinear)) << name;
    EXPECT_EQ(suits(name.c_str(), kLeastSquares), name == "jacobi") << name;
    EXPECT_FALSE(suits(name.c_str(), kUnpreconditioned)) << name;
    EXPECT_FALSE(suits(name.c_str(), kOperator)) << name;
  }
  EXPECT_EQ(preconditioner_table().get("chebyshev").unsuitable(kLargest),
            "is for the smallest end and for pencils; use auto or none for the largest end of a "
            "single matrix");
}

TEST(PreconditionerTable, TheAutomaticChoiceSuitsItsProblem) {
  EXPECT_EQ(automatic_preconditioner(kSmallest), "chebyshev");
  EXPECT_EQ(automatic_preconditioner(kLargest), "none");
  EXPECT_EQ(automatic_preconditioner(kLargestOfPencil), "jacobi");
  EXPECT_EQ(automatic_preconditioner(kLinear), "chebyshev");
  EXPECT_EQ(automatic_preconditioner(kLeastSquares), "none");
  EXPECT_EQ(automatic_preconditioner(kUnpreconditioned), "none");
  EXPECT_EQ(automatic_preconditioner(kOperator), "none");
  for (const PreconditionedProblem& problem :
       {kSmallest, kLargest, kLargestOfPencil, kLinear, kLeastSquares, kOperator}) {
    const std::string_view name = automatic_preconditioner(problem);
    if (name == "none") continue;
    EXPECT_EQ(preconditioner_table().get(name).unsuitable(problem), "") << name;
  }
  EXPECT_EQ(kSmallest.matrix(), PreconditionedMatrix::A);
  EXPECT_EQ(kLargestOfPencil.matrix(), PreconditionedMatrix::B);
  EXPECT_EQ(kLeastSquares.matrix(), PreconditionedMatrix::normal_equations);
}

/// Y = s X, and how often it was asked.
template <Scalar T, class Ctx>
class ScaledIdentity final : public Preconditioner<T, Ctx> {
 public:
  ScaledIdentity(Index n, double factor) : Preconditioner<T, Ctx>(n, n), factor_(factor) {}

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, typename Ctx::Space> X,
                   BlockView<T, typename Ctx::Space> Y) override {
    axpby<T>(context, factor_, X, 0, Y);
  }

 private:
  double factor_;
};

PreconditionerKind scaled_identity(std::string name) {
  return {
      .name = std::move(name),
      .doc = "multiplies by a number",
      .keys = {{.name = "factor", .integers = IntegerRange{1, 9}, .fallback = Index{2}}},
      .needs = MatrixAccess::products,
      .maker =
          []<Scalar T, class Ctx>(Ctx&, CsrView<T, typename Ctx::Space> A,
                                  const PreconditionerOptions& options, const SpmmOptions&) {
            const auto factor = static_cast<double>(options.integer("factor"));
            return std::make_unique<ScaledIdentity<T, Ctx>>(A.rows, factor);
          },
  };
}

TEST(PreconditionerTable, AUsersOwnIsUsedByNameInLobpcgAndBlockCg) {
  preconditioner_table().add(scaled_identity("scaled_identity"));
  const PreconditionerKind& kind = preconditioner_table().get("scaled_identity");
  EXPECT_EQ(kind.describe(kind.options()), "");
  EXPECT_EQ(kind.bytes({}, kind.options()).kept, 0);
  EXPECT_EQ(kind.unsuitable(kOperator), "");
  HostContext context(2);
  auto A = test::make_operator<double>(context, {"laplace2d", {25, 26}});
  const auto M =
      make_preconditioner<double>(context, "scaled_identity", A.matrix(), {{"factor", 3}});
  EigenProblem<double, HostContext> pairs;
  pairs.A = &A;
  pairs.preconditioner = M.get();
  LobpcgOptions eigen_options;
  eigen_options.nev = 3;
  const auto found = lobpcg(context, pairs, eigen_options);
  EXPECT_EQ(found.status, SolveStatus::converged) << found.reason;
  const Eigen::VectorXd expected = test::eigenvalues(test::to_dense(A.matrix()));
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.eigenvalues[static_cast<std::size_t>(i)], expected[i], 1e-8);
  }
  const Index applied = M.get()->columns_applied();
  EXPECT_GT(applied, 0);

  const auto B = random_vectors<double>(context, A.rows(), 4);
  LinearSystem<double, HostContext> system;
  system.A = &A;
  system.preconditioner = M.get();
  system.B = B.view();
  const auto solved = block_cg(context, system, {});
  EXPECT_EQ(solved.status, SolveStatus::converged) << solved.reason;
  for (const double residual :
       test::true_linear_residuals<double>(A.matrix(), B.view(), solved.solution.view())) {
    EXPECT_LE(residual, 1.01 * kDefaultTolerance<double>);
  }
  EXPECT_GT(M.get()->columns_applied(), applied);
}

TEST(PreconditionerTable, AMakerThatReturnsNullIsNamed) {
  PreconditionerKind nothing = scaled_identity("nothing");
  nothing.maker = PreconditionerMaker([]<Scalar T, class Ctx>(Ctx&, CsrView<T, typename Ctx::Space>,
                                                              const PreconditionerOptions&,
                                                              const SpmmOptions&) {
    return std::unique_ptr<Preconditioner<T, Ctx>>();
  });
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace1d", {5}});
  EXPECT_EQ(
      refusal([&] { nothing.make<double, HostContext>(context, A.matrix(), nothing.options()); }),
      "the maker of preconditioner nothing returned null");
}

TEST(PreconditionerTable, AddedRowsKeepTheirAddressAndNamesAreUnique) {
  PreconditionerTable table({scaled_identity("first")});
  const PreconditionerKind* first = table.find("first");
  for (int i = 0; i < 100; ++i) table.add(scaled_identity("more" + std::to_string(i)));
  EXPECT_EQ(table.find("first"), first);
  EXPECT_EQ(refusal([&] { table.add(scaled_identity("first")); }),
            "preconditioner \"first\": the name is taken");
  for (const char* name : {"", "none", "auto"}) {
    EXPECT_THROW(table.add(scaled_identity(name)), InvalidArgument);
  }
  PreconditionerKind bare = scaled_identity("bare");
  bare.maker = {};
  EXPECT_THROW(table.add(bare), InvalidArgument);
  PreconditionerKind wrong = scaled_identity("wrong");
  wrong.keys[0].fallback = Index{10};
  EXPECT_THROW(table.add(wrong), InvalidArgument);
  PreconditionerKind twice = scaled_identity("twice");
  twice.keys.push_back(twice.keys[0]);
  EXPECT_THROW(table.add(twice), InvalidArgument);
  EXPECT_EQ(table.names().size(), 101u);
}

/// A maker that takes a `CsrView` refuses a matrix that processes share, one that takes a
/// `DistributedCsrView` gets it.
TEST(PreconditionerTable, AMakerServesProcessesByWhatItTakes) {
  HostContext context(1);
  const RowRange rows{0, 4, 9};
  const RemoteColumns<double, HostSpace> others{
      HostCsrMatrix<double>(context, 0, 0, 0),
      {context, 0},
      std::make_shared<const HaloLists>(HaloLists{rows, rows, {}, {}, {}})};
  const DistributedCsrView<double, HostSpace> A(CsrView<double, HostSpace>{4, 4}, &others);
  const PreconditionerKind whole = scaled_identity("whole");
  EXPECT_FALSE(whole.maker.serves_distributed());
  EXPECT_EQ(refusal([&] { whole.make<double>(context, A, whole.options()); }),
            "a whole matrix is needed, processes share this one of 9x9: this process has 4 rows "
            "from row 1 on");
  PreconditionerKind shared = scaled_identity("shared");
  shared.maker = []<Scalar T, class Ctx>(Ctx&, DistributedCsrView<T, typename Ctx::Space> matrix,
                                         const PreconditionerOptions&, const SpmmOptions&) {
    return std::make_unique<ScaledIdentity<T, Ctx>>(matrix.own.rows, 1);
  };
  EXPECT_TRUE(shared.maker.serves_distributed());
  EXPECT_EQ(shared.make<double>(context, A, shared.options()).get()->rows(), 4);
}

TEST(PreconditionerTable, AMakerMayServeOnePair) {
  PreconditionerKind kind = scaled_identity("of_doubles");
  kind.maker = [](HostContext&, CsrView<double, HostSpace> A, const PreconditionerOptions&,
                  const SpmmOptions&) {
    return std::make_unique<ScaledIdentity<double, HostContext>>(A.rows, 1);
  };
  HostContext context(1);
  EXPECT_EQ(kind.make<double>(context, {4, 4}, kind.options()).get()->rows(), 4);
  EXPECT_EQ(refusal([&] {
              kind.make<float>(context, {4, 4}, kind.options());
            }),
            "preconditioner of_doubles is not there for this scalar and this context");
}

}  // namespace
}  // namespace heddle
