#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/place/planned_stage.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/solvers/null_space/null_pairs.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <heddle/solvers/preconditioners/adaptive/condition_estimate.hpp>
#include <heddle/solvers/preconditioners/adaptive/multigrid_costs.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <memory>
#include <utility>

/// The choice between chebyshev, multigrid and, on the host, jacobi, which `preconditioner: auto`
/// makes.
namespace heddle::detail {

/// Makes the preconditioners of a plan that has a `strong` kind, for a stored A.
template <Scalar T, class Ctx>
class AutomaticPreconditioner {
 public:
  using Space = typename Ctx::Space;
  using Schedule = PreconditionerSchedule<T, Ctx>;
  using Choice = typename Schedule::Choice;

  /// A and its matrix must outlive what is made. `refusal`: why the matrix does not allow what the
  /// plan lowers, else empty. `block`: the columns that it is applied to. `null_space`: all null
  /// vectors of A, null if none are known. `host` outlives what is made, too. Processes that share
  /// A make it, and what it makes, together, and choose alike: by sums over all rows and by what
  /// one of them finds.
  AutomaticPreconditioner(Ctx& context, LinearOperator<T, Ctx>& A,
                          DistributedCsrView<T, Space> matrix, const PreconditionerPlan& plan,
                          std::string refusal, const SpmmOptions& spmm, Index block,
                          std::shared_ptr<const GraphNullSpace> null_space, HostContext& host)
      : A_(&A),
        host_(&host),
        matrix_(matrix),
        plan_(plan),
        refusal_(std::move(refusal)),
        spmm_(spmm),
        null_space_(std::move(null_space)),
        costs_(costs_of(context, matrix, block,
                        plan.strong_lowered && refusal_.empty() ? sizeof(float) : sizeof(T))),
        factor_(std::make_shared<Factor>(
            Factor{{}, may_be_diagonal() && !matrix.is_distributed() && !null_space_})) {}

  /// For LOBPCG: the strong kind if some steps of CG with the diagonal show that the wanted
  /// eigenvalues are small enough, the diagonal if they show that a polynomial saves few steps.
  /// Else the first kind of the plan, which becomes the strong one if they turn out to be far
  /// smaller than that.
  std::unique_ptr<Schedule> for_eigenpairs(Ctx& context) const {
    if (costs_.expected_degree(kLargestRoot) < costs_.least_degree()) return too_small(context);
    const double root = root_of_condition(context);
    const std::string found = describe(root);
    const bool definite = std::isfinite(root);
    if (definite && costs_.expected_degree(root) >= costs_.least_degree()) {
      Choice made = strong(context, found);
      return made.stage ? schedule(std::move(made)) : first(context, made.reason);
    }
    if (may_be_diagonal() && costs_.diagonal_suffices(root)) return sufficient(context, found);
    std::unique_ptr<Schedule> made =
        first(context, definite ? found + ", too small for multigrid to save its setup" : found);
    made->become_strong_from(costs_.least_degree_within_solve(), [self = *this](Ctx& later) {
      return self.strong(later, "the wanted eigenvalues are small");
    });
    return made;
  }

  /// For block CG. One column on the host begins with the diagonal, and another preconditioner
  /// takes over where the steps of the solve show that it pays. Else one preconditioner is chosen
  /// for the whole solve, by some steps of CG with the diagonal.
  std::unique_ptr<Schedule> for_linear_system(Ctx& context) const {
    if (may_be_diagonal() && costs_.one_column()) return diagonal_first(context);
    if (!kOnHost && !costs_.pays_for(kLargestRoot)) return too_small(context);
    const double root = root_of_condition(context);
    const std::string found = describe(root);
    if (may_be_diagonal() && costs_.diagonal_suffices(root)) return sufficient(context, found);
    if (!std::isfinite(root)) factor_->may_exist = false;
    const bool pays = costs_.pays_for(root);
    bool refused = false;
    Choice made = strongest(context, found, costs_.columns_of_chebyshev(root), pays, refused);
    if (made.stage) return schedule(std::move(made));
    return first(context,
                 pays ? made.reason : found + ", too small for multigrid to save its setup");
  }

 private:
  static constexpr bool kOnHost = std::same_as<Ctx, HostContext>;
  /// Products with one column that take as long as the estimate of a factorisation.
  static constexpr double kColumnsOfEstimate = 500;
  /// Seconds by which a factorisation, which cannot be interrupted, may exceed a time limit.
  static constexpr double kLongestFactorisation = 2;
  /// Of a factor without fill. With larger ones it saves few steps.
  static constexpr double kLargestShift = .05;

  /// The complete factor of A, which the solve that needs it takes over.
  struct Factor {
    std::unique_ptr<ShiftedInverse<T, Ctx>> inverse;  // null before its cost was asked for
    bool may_exist;                                   // false once it was made or there is none
  };

  /// On a GPU that was not measured.
  bool may_be_diagonal() const noexcept { return kOnHost && plan_.may_be_diagonal; }

  /// The costs for the whole of a distributed matrix: processes choose as one of them alone would,
  /// but for setups that are not made on their GPUs.
  static MultigridCosts costs_of(Ctx& context, const DistributedCsrView<T, Space>& matrix,
                                 Index block, std::size_t scalar_size) {
    if (!matrix.is_distributed()) {
      return {matrix.own.rows, matrix.own.nnz, block, scalar_size,
              kOnHost ? kSetupOnHost : kSetupOnGpu};
    }
    return {row_range(matrix).global, total_rows(context, local_entries(matrix)), block,
            scalar_size, kOnHost ? kSetupOnHost : kSetupBesideGpus};
  }

  static constexpr Index kProbeSteps = 24;
  /// Roots of condition numbers beyond this are not reckoned with.
  static constexpr double kLargestRoot = 300;
  static constexpr Index kQualitySteps = 5;
  static constexpr double kMostCondition = 8;  // of M⁻¹A with multigrid. That of meshes is 1.5 to 4

  /// The square root of the condition number of A, scaled to a diagonal of ones: an estimate from
  /// below. Infinite: A is not positive semidefinite.
  double root_of_condition(Ctx& context) const {
    const PreconditionerKind& jacobi = preconditioner_table().get("jacobi");
    return condition_estimate<T, Ctx>(context, *A_,
                                      jacobi.make<T, Ctx>(context, matrix_, jacobi.options()).get(),
                                      kProbeSteps, known_null_vectors(context).view())
        .expected_root();
  }

  static std::string describe(double root) {
    return std::isfinite(root) ? fmt::format("condition number about {:.1e}", root * root)
                               : "CG with the diagonal met a p'Ap or r'M⁻¹r that is not positive";
  }

  static std::unique_ptr<Schedule> schedule(Choice made) {
    return std::make_unique<Schedule>(*std::move(made.stage), std::move(made.reason), made.cost);
  }

  /// The first kind, for this reason.
  std::unique_ptr<Schedule> first(Ctx& context, std::string reason) const {
    return schedule(measure_setup(context, std::move(reason), [&] {
      return planned_stage<T>(context, plan_, false, matrix_, refusal_, spmm_);
    }));
  }

  /// The first kind, without a probe that could not change it.
  std::unique_ptr<Schedule> too_small(Ctx& context) const {
    return first(context, "the matrix is too small for multigrid to save its setup");
  }

  std::unique_ptr<Schedule> diagonal(Ctx& context, std::string reason) const {
    const PreconditionerKind& jacobi = preconditioner_table().get("jacobi");
    return schedule(measure_setup(context, std::move(reason), [&] {
      return full_stage(jacobi.make<T, Ctx>(context, matrix_, jacobi.options(), spmm_),
                        plan_.describe(jacobi, jacobi.options()),
                        std::same_as<T, double> ? "jacobi has no form in single precision"
                                                : plan_.precision_reason);
    }));
  }

  std::unique_ptr<Schedule> sufficient(Ctx& context, const std::string& found) const {
    return diagonal(context, found + ", so small that the diagonal suffices");
  }

  /// The diagonal until the steps of the solve show the condition number.
  std::unique_ptr<Schedule> diagonal_first(Ctx& context) const {
    std::unique_ptr<Schedule> made =
        diagonal(context, "the solve took too few steps for another preconditioner to pay");
    made->choose_by_steps([self = *this, refused = false](Ctx& later, double steps) mutable {
      return self.for_one_column(later, steps, refused);
    });
    return made;
  }

  /// The stage that `make` returns, and its cost.
  template <class Make>
  static Choice measure_setup(Ctx& context, std::string reason, const Make& make) {
    SetupCost cost(context);
    std::optional<PreconditionerStage<T, Ctx>> stage = make();
    cost.stop(context);
    return {std::move(stage), std::move(reason), cost};
  }

  /// A stage that the plan might have had in lower precision.
  PreconditionerStage<T, Ctx> full_stage(std::shared_ptr<Preconditioner<T, Ctx>> made,
                                         std::string name, const std::string& reason) const {
    PreconditionerStage<T, Ctx> stage(std::move(made));
    stage.describe(std::move(name), reason_of_precision(plan_.lowered, reason, refusal_));
    return stage;
  }

  /// The stage that takes over from the diagonal where it would take `steps` more, or none.
  /// `refused`: whether multigrid or a factor without fill was found not to suit A, so that neither
  /// is tried any more.
  Choice for_one_column(Ctx& context, double steps, bool& refused) const {
    const std::string found = fmt::format("the diagonal would take about {:.0f} more steps", steps);
    const bool pays = costs_.pays_after(steps);
    Choice made = strongest(context, found, costs_.columns_of_steps(steps), pays, refused);
    if (made.stage || refused) return made;
    if (!matrix_.is_distributed() && costs_.incomplete_factor_pays_after(steps)) {
      // An early estimate of ill conditioned matrices is too low. A complete factor may pay later.
      constexpr double kGrowth = 3;
      if (factor_pays(context, costs_.columns_of_steps(kGrowth * steps))) return made;
      return incomplete_factor(context, found, refused);
    }
    made.reason = found + ", too few for another preconditioner to save its setup";
    return made;
  }

  /// For linear systems: a complete factor of A or the strong kind, whichever is expected to cost
  /// less, or none. Without one of them, the solve would take as long as `columns` products of A
  /// with one column. `pays`: whether multigrid costs less than that. `refused`: whether it was
  /// found not to suit A.
  Choice strongest(Ctx& context, const std::string& cause, double columns, bool pays,
                   bool& refused) const {
    const bool either = pays && !refused;
    const double least = either ? std::min(columns, costs_.columns_of_multigrid()) : columns;
    Choice made = complete_factor(context, cause, least);
    if (made.stage || !either) return made;
    made = strong(context, cause);
    refused = !made.stage;
    if (!refused) return made;
    Choice factored = complete_factor(context, cause, columns);
    return factored.stage ? std::move(factored) : std::move(made);
  }

  /// Whether a complete factor of A and its solves cost less than `columns` products of A with one
  /// column. Reads the pattern of A only.
  bool factor_pays(Ctx& context, double columns) const {
    if (!factor_->may_exist || !(columns >= kColumnsOfEstimate)) return false;
    std::unique_ptr<ShiftedInverse<T, Ctx>>& inverse = factor_->inverse;
    if (inverse == nullptr) {
      inverse = std::make_unique<ShiftedInverse<T, Ctx>>(matrix_.whole(), CsrView<T, Space>{},
                                                         kFactorShare * memory_bytes(context));
    }
    return inverse->pays(context, costs_.columns_of_factor(), columns) &&
           inverse->seconds_to_factor(context) < kLongestFactorisation;
  }

  /// A = PᵀLLᵀP where that costs less than `columns` products of A with one column, else none.
  Choice complete_factor(Ctx& context, const std::string& cause, double columns) const {
    SetupCost cost(context);
    if (!factor_pays(context, columns)) return {};
    factor_->may_exist = false;  // not once more
    if (!factor_->inverse->factor(context, 0)) return {};
    cost.stop(context);
    auto stage = full_stage(std::make_shared<OperatorPreconditioner<T, Ctx>>(
                                std::shared_ptr(std::move(factor_->inverse))),
                            fmt::format("cholesky of {}", matrix_name(plan_.matrix)),
                            "a complete factor is made in double precision");
    return {std::move(stage), cause + ", which cost more than a complete factor", cost};
  }

  /// A factor without fill, or none where pivots made it that of a matrix far from A. `refused`
  /// then becomes true.
  Choice incomplete_factor(Ctx& context, const std::string& cause, bool& refused) const {
    using Incomplete = IncompleteCholeskyPreconditioner<T, Ctx>;
    const PreconditionerKind& kind = preconditioner_table().get("incomplete_cholesky");
    SetupCost cost(context);
    auto made = std::make_shared<Incomplete>(context, matrix_.whole());
    const double shift = made->shift();
    refused = shift > kLargestShift;
    if (refused) made.reset();
    cost.stop(context);
    if (refused) {
      return {
          {}, fmt::format("{}, but a factor without fill needs a shift of {}", cause, shift), cost};
    }
    auto stage =
        full_stage(std::move(made), plan_.describe(kind, kind.options()), plan_.precision_reason);
    return {std::move(stage), cause + ", and the matrix is small", cost};
  }

  /// The strong kind, or none if it does not suit the matrix. `cause`: why it was tried.
  Choice strong(Ctx& context, const std::string& cause) const {
    std::string obstacle;
    Choice made = measure_setup(context, cause, [&] { return strong_stage(context, obstacle); });
    if (!made.stage) made.reason += ", but " + obstacle;
    return made;
  }

  /// An orthonormal basis of the null space of A, without columns if none is known.
  MultiVector<T, Space> known_null_vectors(Ctx& context) const {
    if (!null_space_) return {};
    return null_vectors<T, Ctx>(context, *host_, *null_space_, null_space_->dimension, nullptr);
  }

  /// The strong kind, or none and the reason why it does not suit.
  std::optional<PreconditionerStage<T, Ctx>> strong_stage(Ctx& context,
                                                          std::string& obstacle) const {
    const double bytes =
        plan_.strong
            ->bytes({.rows = matrix_.own.rows, .nnz = local_entries(matrix_)}, plan_.strong_options)
            .setup;
    if (context.agree(bytes > kFactorShare * memory_bytes(context))) {
      obstacle = fmt::format("multigrid would take {:.1e} bytes", bytes);
      return std::nullopt;
    }
    std::optional<PreconditionerStage<T, Ctx>> made;
    try {
      made = planned_stage<T>(context, plan_, true, matrix_, refusal_, spmm_);
    } catch (const InvalidArgument& error) {
      obstacle = error.what();
      return std::nullopt;
    }
    const double condition = condition_estimate<T, Ctx>(context, *A_, &*made, kQualitySteps,
                                                        known_null_vectors(context).view())
                                 .whole;
    if (condition < kMostCondition) return made;
    obstacle = std::isfinite(condition)
                   ? fmt::format("multigrid leaves a condition number of {:.1e}", condition)
                   : "CG with multigrid met a p'Ap or r'M⁻¹r that is not positive";
    return std::nullopt;
  }

  LinearOperator<T, Ctx>* A_;
  HostContext* host_;
  DistributedCsrView<T, Space> matrix_;
  PreconditionerPlan plan_;
  std::string refusal_;
  SpmmOptions spmm_;
  std::shared_ptr<const GraphNullSpace> null_space_;
  MultigridCosts costs_;
  std::shared_ptr<Factor> factor_;
};

}  // namespace heddle::detail
