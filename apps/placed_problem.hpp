#pragma once

#include <heddle/apps/inverse_operator.hpp>
#include <heddle/apps/preconditioner_plan.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/apps/problem_checks.hpp>
#include <heddle/linalg/transfer.hpp>
#include <heddle/solvers/eigen_problem.hpp>
#include <heddle/solvers/linear_system.hpp>
#include <heddle/solvers/normal_equations.hpp>
#include <heddle/solvers/preconditioners/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/chebyshev.hpp>
#include <heddle/solvers/sparse_operator.hpp>
#include <memory>
#include <utility>

namespace heddle::apps {

/// The preconditioner that `plan` says for `matrix`, in the memory of `context`; null: none.
template <Scalar T, class Ctx>
std::unique_ptr<Preconditioner<T, Ctx>> make_preconditioner(Ctx& context,
                                                            CsrView<T, typename Ctx::Space> matrix,
                                                            const PreconditionerPlan& plan,
                                                            const SpmmOptions& spmm) {
  switch (plan.type) {
    case PreconditionerChoice::jacobi:
      return std::make_unique<JacobiPreconditioner<T, Ctx>>(context, matrix);
    case PreconditionerChoice::block_jacobi:
      return std::make_unique<BlockJacobiPreconditioner<T, Ctx>>(context, matrix, plan.block_size,
                                                                 spmm);
    case PreconditionerChoice::chebyshev:
      return std::make_unique<ChebyshevPreconditioner<T, Ctx>>(context, matrix, plan.degree, spmm);
    case PreconditionerChoice::incomplete_cholesky:
      return std::make_unique<IncompleteCholeskyPreconditioner<T, Ctx>>(context, matrix,
                                                                        plan.triangular_solve);
    case PreconditionerChoice::none:
    case PreconditionerChoice::automatic:
      break;
  }
  return nullptr;
}

/// A problem in the memory of the context that solves it. Block Lanczos divides by B: at once where
/// B is diagonal, else by an inner solve.
template <Scalar T, class Ctx>
class PlacedProblem {
 public:
  using Space = typename Ctx::Space;

  /// Moves `input` there, plans the products and sets up what `config` asks for beside them. Throws
  /// `InputError` or `ConfigError` for a mass matrix that the solver cannot divide by.
  PlacedProblem(Ctx& context, ProblemInput<T> input, const Config& config)
      : sizes_(input.sizes()),
        A_(context, place(context, std::move(input.A)), config.spmm),
        constraints_(place(context, std::move(input.constraints))),
        initial_guess_(place(context, std::move(input.initial_guess))),
        rhs_(place(context, std::move(input.rhs))) {
    if (input.A_transposed) {
      A_transposed_.emplace(context, place(context, std::move(*input.A_transposed)), config.spmm);
    }
    if (input.B) {
      const bool lanczos = config.type == SolverType::block_lanczos;
      inner_solves_ = lanczos && !is_diagonal(std::as_const(*input.B).view());
      B_.emplace(context, place(context, std::move(*input.B)), config.spmm);
      if (lanczos) make_inverse(context, config);
    }
    const PreconditionerPlan plan = plan_preconditioner(config, sizes_.pencil);
    SetupCost cost(context);
    preconditioner_ = make_preconditioner<T, Ctx>(
        context, plan.of_mass ? B_->matrix() : A_.matrix(), plan, config.spmm);
    cost.stop(context);
    preconditioner_cost_ = {cost.seconds(), cost.bytes()};
  }

  PlacedProblem(const PlacedProblem&) = delete;
  PlacedProblem& operator=(const PlacedProblem&) = delete;

  const ProblemSizes& sizes() const noexcept { return sizes_; }
  const SparseOperator<T, Ctx>& A() const noexcept { return A_; }
  const PreconditionerCost& preconditioner_cost() const noexcept { return preconditioner_cost_; }

  /// Whether products with B⁻¹ are solves, and dear.
  bool inner_solves() const noexcept { return inner_solves_; }

  EigenProblem<T, Ctx> eigenproblem() {
    return {&A_,
            B_ ? &*B_ : nullptr,
            preconditioner_.get(),
            std::as_const(constraints_).view(),
            std::as_const(initial_guess_).view(),
            B_inverse_.get()};
  }

  /// Of a search for singular triplets.
  AdjointPair<T, Ctx> adjoint_pair() { return {&A_, &*A_transposed_}; }

  LinearSystem<T, Ctx> system() {
    return {&A_, preconditioner_.get(), std::as_const(rhs_).view(),
            std::as_const(initial_guess_).view()};
  }

 private:
  void make_inverse(Ctx& context, const Config& config) {
    if (!inner_solves_) {
      B_inverse_ = std::make_unique<JacobiPreconditioner<T, Ctx>>(context, B_->matrix());
      return;
    }
    auto inverse = std::make_unique<InverseOperator<T, Ctx>>(context, *B_, B_->matrix());
    if (!inverse->works(context)) {
      refuse(*config.problem.mass,
             "the mass matrix is too ill conditioned for block_lanczos, which divides by it: use "
             "heddle-lobpcg");
    }
    B_inverse_ = std::move(inverse);
  }

  ProblemSizes sizes_;
  SparseOperator<T, Ctx> A_;
  std::optional<SparseOperator<T, Ctx>> B_, A_transposed_;
  MultiVector<T, Space> constraints_, initial_guess_, rhs_;
  std::unique_ptr<LinearOperator<T, Ctx>> B_inverse_;       // for block Lanczos
  bool inner_solves_ = false;                               // B_inverse_ is an InverseOperator
  std::unique_ptr<Preconditioner<T, Ctx>> preconditioner_;  // null: none
  PreconditionerCost preconditioner_cost_;
};

}  // namespace heddle::apps
