#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/linalg/data/remote_columns.hpp>
#include <heddle/solvers/null_space/null_pairs.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <heddle/solvers/preconditioners/adaptive/adaptive_preconditioner.hpp>
#include <heddle/solvers/preconditioners/adaptive/condition_estimate.hpp>
#include <heddle/solvers/preconditioners/adaptive/deferred_preconditioner.hpp>
#include <heddle/solvers/preconditioners/adaptive/multigrid_costs.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <memory>
#include <utility>

/// The choice between chebyshev, multigrid and, on the host, jacobi, which `preconditioner: auto`
/// makes.
namespace heddle::detail {

/// What `auto` chose, and why. A solve may change it.
struct AutomaticChoice {
  std::string name{};    ///< the description of the kind in use, for reports
  bool lowered = false;  ///< whether it is made in the lower precision of the plan
  bool strong = false;   ///< whether it is the strong kind of the plan
  std::string reason{};  ///< empty: there was no choice
  /// Why it has its precision. Empty: the reason of the plan.
  std::string precision_reason{};
  double seconds = 0;     ///< to make the strong one
  std::size_t bytes = 0;  ///< that it keeps
};

/// Makes the preconditioners of a plan that has a `strong` kind, for a stored A.
template <Scalar T, class Ctx>
class AutomaticPreconditioner {
 public:
  using Space = typename Ctx::Space;
  using Made = MadePreconditioner<T, Ctx>;

  /// A and its matrix must outlive what is made. `may_lower`: whether the matrix allows what the
  /// plan lowers.
  /// `block`: the columns that it is applied to. `null_space`: all null vectors of A, null if none
  /// are known. `host` outlives what is made, too. Processes that share A make it, and what it
  /// makes, together, and choose alike: by sums over all rows and by what one of them finds.
  AutomaticPreconditioner(Ctx& context, LinearOperator<T, Ctx>& A, CsrView<T, Space> matrix,
                          const PreconditionerPlan& plan, bool may_lower, const SpmmOptions& spmm,
                          Index block, std::shared_ptr<const GraphNullSpace> null_space,
                          HostContext& host)
      : A_(&A),
        host_(&host),
        matrix_(matrix),
        plan_(plan),
        lowered_(may_lower && plan.lowered),
        strong_lowered_(may_lower && plan.strong_lowered),
        spmm_(spmm),
        null_space_(std::move(null_space)),
        costs_(costs_of(context, matrix, block, strong_lowered_ ? sizeof(float) : sizeof(T))),
        factor_(std::make_shared<Factor>(
            Factor{{}, may_be_diagonal() && matrix.remote == nullptr && !null_space_})),
        choice_(std::make_shared<AutomaticChoice>(
            AutomaticChoice{.name = plan.describe(), .lowered = lowered_})) {}

  std::shared_ptr<const AutomaticChoice> choice() const noexcept { return choice_; }

  /// For LOBPCG: the strong kind if some steps of CG with the diagonal show that the wanted
  /// eigenvalues are small enough, the diagonal if they show that a polynomial saves few steps.
  /// Else the first kind of the plan, which becomes the strong one if they turn out to be far
  /// smaller than that.
  Made for_eigenpairs(Ctx& context) const {
    if (costs_.expected_degree(kLargestRoot) < costs_.least_degree()) return too_small(context);
    const double root = root_of_condition(context);
    const std::string found = describe(root);
    const bool definite = std::isfinite(root);
    if (definite && costs_.expected_degree(root) >= costs_.least_degree()) {
      Made made = strong(context, found);
      return made.preconditioner != nullptr ? std::move(made) : first(context);
    }
    if (may_be_diagonal() && costs_.diagonal_suffices(root)) return sufficient(context, found);
    Made made = first(context);
    choice_->reason = definite ? found + ", too small for multigrid to save its setup" : found;
    const auto make_strong = [self = *this](Ctx& later) {
      Made strong = self.strong(later, "the wanted eigenvalues are small");
      self.choice_->seconds = strong.cost.seconds();
      self.choice_->bytes = strong.cost.bytes();
      return std::move(strong.preconditioner);
    };
    made.preconditioner = std::make_unique<AdaptivePreconditioner<T, Ctx>>(
        std::move(made.preconditioner), make_strong, costs_.least_degree_within_solve());
    return made;
  }

  /// For block CG. One column on the host begins with the diagonal, and another preconditioner
  /// takes over where the steps of the solve show that it pays. Else one preconditioner is chosen
  /// for the whole solve, by some steps of CG with the diagonal.
  Made for_linear_system(Ctx& context) const {
    if (may_be_diagonal() && costs_.one_column()) return diagonal_first(context);
    if (!kOnHost && !costs_.pays_for(kLargestRoot)) return too_small(context);
    const double root = root_of_condition(context);
    const std::string found = describe(root);
    if (may_be_diagonal() && costs_.diagonal_suffices(root)) return sufficient(context, found);
    if (!std::isfinite(root)) factor_->may_exist = false;
    const bool pays = costs_.pays_for(root);
    if (!pays) choice_->reason = found + ", too small for multigrid to save its setup";
    bool refused = false;
    Made made = strongest(context, found, costs_.columns_of_chebyshev(root), pays, refused);
    return made.preconditioner != nullptr ? std::move(made) : first(context);
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
  static MultigridCosts costs_of(Ctx& context, const CsrView<T, Space>& matrix, Index block,
                                 std::size_t scalar_size) {
    if (matrix.remote == nullptr) {
      return {matrix.rows, matrix.nnz, block, scalar_size, kOnHost ? kSetupOnHost : kSetupOnGpu};
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

  Made diagonal(Ctx& context) const {
    const PreconditionerKind& jacobi = preconditioner_table().get("jacobi");
    use(jacobi, jacobi.options());
    if (std::same_as<T, double>) {
      choice_->precision_reason = "jacobi has no form in single precision";
    }
    return jacobi.make<T, Ctx>(context, matrix_, jacobi.options(), spmm_);
  }

  Made sufficient(Ctx& context, const std::string& found) const {
    choice_->reason = found + ", so small that the diagonal suffices";
    return diagonal(context);
  }

  /// The diagonal until the steps of the solve show the condition number.
  Made diagonal_first(Ctx& context) const {
    Made made = diagonal(context);
    choice_->reason = "the solve took too few steps for another preconditioner to pay";
    const auto choose = [self = *this, refused = false](Ctx& later, double steps) mutable {
      Made chosen = self.for_one_column(later, steps, refused);
      self.choice_->seconds += chosen.cost.seconds();
      self.choice_->bytes = chosen.cost.bytes();
      return std::move(chosen.preconditioner);
    };
    made.preconditioner =
        std::make_unique<DeferredPreconditioner<T, Ctx>>(std::move(made.preconditioner), choose);
    return made;
  }

  /// What takes over from the diagonal where it would take `steps` more, or none. `refused`:
  /// whether multigrid or a factor without fill was found not to suit A, so that neither is tried
  /// any more.
  Made for_one_column(Ctx& context, double steps, bool& refused) const {
    const std::string found = fmt::format("the diagonal would take about {:.0f} more steps", steps);
    const bool pays = costs_.pays_after(steps);
    Made made = strongest(context, found, costs_.columns_of_steps(steps), pays, refused);
    if (made.preconditioner != nullptr || refused) return made;
    if (matrix_.remote == nullptr && costs_.incomplete_factor_pays_after(steps)) {
      // An early estimate of ill conditioned matrices is too low. A complete factor may pay later.
      constexpr double kGrowth = 3;
      if (factor_pays(context, costs_.columns_of_steps(kGrowth * steps))) return made;
      return incomplete_factor(context, found, refused);
    }
    choice_->reason = found + ", too few for another preconditioner to save its setup";
    return made;
  }

  /// For linear systems: a complete factor of A or the strong kind, whichever is expected to cost
  /// less, or none. Without one of them, the solve would take as long as `columns` products of A
  /// with one column. `pays`: whether multigrid costs less than that. `refused`: whether it was
  /// found not to suit A.
  Made strongest(Ctx& context, const std::string& cause, double columns, bool pays,
                 bool& refused) const {
    const bool either = pays && !refused;
    const double least = either ? std::min(columns, costs_.columns_of_multigrid()) : columns;
    Made made = complete_factor(context, cause, least);
    if (made.preconditioner != nullptr || !either) return made;
    made = strong(context, cause);
    refused = made.preconditioner == nullptr;
    return refused ? complete_factor(context, cause, columns) : std::move(made);
  }

  /// Whether a complete factor of A and its solves cost less than `columns` products of A with one
  /// column. Reads the pattern of A only.
  bool factor_pays(Ctx& context, double columns) const {
    if (!factor_->may_exist || !(columns >= kColumnsOfEstimate)) return false;
    std::unique_ptr<ShiftedInverse<T, Ctx>>& inverse = factor_->inverse;
    if (inverse == nullptr) {
      inverse = std::make_unique<ShiftedInverse<T, Ctx>>(matrix_, CsrView<T, Space>{},
                                                         kFactorShare * memory_bytes(context));
    }
    return inverse->pays(context, costs_.columns_of_factor(), columns) &&
           inverse->seconds_to_factor(context) < kLongestFactorisation;
  }

  /// A = PᵀLLᵀP where that costs less than `columns` products of A with one column, else none.
  Made complete_factor(Ctx& context, const std::string& cause, double columns) const {
    SetupCost cost(context);
    if (!factor_pays(context, columns)) return {nullptr, cost};
    factor_->may_exist = false;  // not once more
    if (!factor_->inverse->factor(context, 0)) return {nullptr, cost};
    choice_->name = fmt::format("cholesky of {}", matrix_name(plan_.matrix));
    choice_->lowered = choice_->strong = false;
    choice_->precision_reason = "a complete factor is made in double precision";
    choice_->reason = cause + ", which cost more than a complete factor";
    cost.stop(context);
    return {std::move(factor_->inverse), cost};
  }

  /// A factor without fill, or none where pivots made it that of a matrix far from A. `refused`
  /// then becomes true.
  Made incomplete_factor(Ctx& context, const std::string& cause, bool& refused) const {
    using Incomplete = IncompleteCholeskyPreconditioner<T, Ctx>;
    const PreconditionerKind& kind = preconditioner_table().get("incomplete_cholesky");
    Made made = kind.make<T, Ctx>(context, matrix_, kind.options(), spmm_);
    const double shift = dynamic_cast<const Incomplete&>(*made.preconditioner).shift();
    refused = shift > kLargestShift;
    if (refused) {
      choice_->reason =
          fmt::format("{}, but a factor without fill needs a shift of {}", cause, shift);
      made.preconditioner.reset();
      return made;
    }
    use(kind, kind.options());
    choice_->reason = cause + ", and the matrix is small";
    return made;
  }

  /// Notes that a kind in full precision is in use.
  void use(const PreconditionerKind& kind, const PreconditionerOptions& options) const {
    choice_->name = plan_.describe(kind, options);
    choice_->lowered = choice_->strong = false;
    choice_->precision_reason.clear();
  }

  /// The first kind, without a probe that could not change it.
  Made too_small(Ctx& context) const {
    choice_->reason = "the matrix is too small for multigrid to save its setup";
    return first(context);
  }

  Made first(Ctx& context) const { return make(context, *plan_.kind, plan_.options, lowered_); }

  Made make(Ctx& context, const PreconditionerKind& kind, const PreconditionerOptions& options,
            bool lowered) const {
    if constexpr (std::same_as<T, double>) {
      if (lowered) return kind.make_lowered(context, matrix_, options, spmm_);
    }
    return kind.make<T, Ctx>(context, matrix_, options, spmm_);
  }

  /// The strong kind, or none if it does not suit the matrix. `cause`: why it was tried.
  Made strong(Ctx& context, const std::string& cause) const {
    SetupCost cost(context);
    std::unique_ptr<Preconditioner<T, Ctx>> made;
    choice_->reason = fmt::format("{}, but {}", cause, strong_into(context, made));
    if (made != nullptr) {
      choice_->name = plan_.describe(*plan_.strong, plan_.strong_options);
      choice_->strong = true;
      choice_->precision_reason.clear();
      choice_->lowered = strong_lowered_;
      choice_->reason = cause;
    }
    cost.stop(context);
    return {std::move(made), cost};
  }

  /// An orthonormal basis of the null space of A, without columns if none is known.
  MultiVector<T, Space> known_null_vectors(Ctx& context) const {
    if (!null_space_) return {};
    return null_vectors<T, Ctx>(context, *host_, *null_space_, null_space_->dimension, nullptr);
  }

  /// Makes the strong kind. Returns the reason why it does not suit, with `made` null.
  std::string strong_into(Ctx& context, std::unique_ptr<Preconditioner<T, Ctx>>& made) const {
    const double bytes =
        plan_.strong
            ->bytes({.rows = matrix_.rows, .nnz = local_entries(matrix_)}, plan_.strong_options)
            .setup;
    if (context.agree(bytes > kFactorShare * memory_bytes(context))) {
      return fmt::format("multigrid would take {:.1e} bytes", bytes);
    }
    try {
      made = make(context, *plan_.strong, plan_.strong_options, strong_lowered_).preconditioner;
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    const double condition = condition_estimate<T, Ctx>(context, *A_, made.get(), kQualitySteps,
                                                        known_null_vectors(context).view())
                                 .whole;
    if (condition < kMostCondition) return "";
    made.reset();
    return std::isfinite(condition)
               ? fmt::format("multigrid leaves a condition number of {:.1e}", condition)
               : "CG with multigrid met a p'Ap or r'M⁻¹r that is not positive";
  }

  LinearOperator<T, Ctx>* A_;
  HostContext* host_;
  CsrView<T, Space> matrix_;
  PreconditionerPlan plan_;
  bool lowered_;
  bool strong_lowered_;
  SpmmOptions spmm_;
  std::shared_ptr<const GraphNullSpace> null_space_;
  MultigridCosts costs_;
  std::shared_ptr<Factor> factor_;
  std::shared_ptr<AutomaticChoice> choice_;
};

}  // namespace heddle::detail
