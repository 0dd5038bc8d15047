#pragma once

#include <heddle/apps/device.hpp>
#include <heddle/apps/preconditioner_plan.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/apps/problem_checks.hpp>
#include <heddle/apps/solver_options.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/cg/inverse_operator.hpp>
#include <heddle/solvers/operators/normal_equations.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/linear_system.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <memory>
#include <utility>
#include <vector>

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

/// diag(A Aᵀ), as a matrix: the squares of the norms of A's rows.
template <Scalar T>
HostCsrMatrix<T> squared_row_norms(CsrView<T, HostSpace> A) {
  std::vector<Triplet<T>> diagonal;
  for (Index i = 0; i < A.rows; ++i) {
    double sum = 0;
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      sum += static_cast<double>(A.values[k]) * static_cast<double>(A.values[k]);
    }
    diagonal.push_back({i, i, static_cast<T>(sum)});
  }
  HostContext context(1);
  return csr_from_triplets<T>(context, A.rows, A.rows, diagonal);
}

/// A problem in the memory of the context that solves it. Block Lanczos divides by B: at once where
/// B is diagonal, else by an inner solve. At the smallest end it may factor A − σB instead; where B
/// is not diagonal and that is cheap, it is all that it gets.
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
    const PreconditionerPlan plan = plan_preconditioner(config, sizes_.pencil);
    CsrMatrix<T, Space> squares;  // the diagonal of AᵀA
    if (input.A_transposed) {
      if (plan.type != PreconditionerChoice::none) {
        squares = place(context, squared_row_norms(std::as_const(*input.A_transposed).view()));
      }
      A_transposed_.emplace(context, place(context, std::move(*input.A_transposed)), config.spmm);
    }
    const bool diagonal = input.B && is_diagonal(std::as_const(*input.B).view());
    if (input.B) B_.emplace(context, place(context, std::move(*input.B)), config.spmm);
    if (config.type == SolverType::block_lanczos) make_inverses(context, config, diagonal);
    SetupCost cost(context);
    preconditioner_ = make_preconditioner<T, Ctx>(
        context, preconditioned_matrix(plan.matrix, std::as_const(squares).view()), plan,
        config.spmm);
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
            B_inverse_.get(),
            shifted_inverse_ ? &*shifted_inverse_ : nullptr};
  }

  /// With `transform: normal_equations`.
  AdjointPair<T, Ctx> adjoint_pair() { return {&A_, &*A_transposed_}; }

  LeastSquaresProblem<T, Ctx> least_squares_problem() {
    return {adjoint_pair(), preconditioner_.get(), std::as_const(rhs_).view(),
            std::as_const(initial_guess_).view()};
  }

  LinearSystem<T, Ctx> system() {
    return {&A_, preconditioner_.get(), std::as_const(rhs_).view(),
            std::as_const(initial_guess_).view()};
  }

 private:
  CsrView<T, Space> preconditioned_matrix(PreconditionedMatrix matrix, CsrView<T, Space> squares) {
    switch (matrix) {
      case PreconditionedMatrix::A:
        break;
      case PreconditionedMatrix::B:
        return B_->matrix();
      case PreconditionedMatrix::normal_equations:
        return squares;
    }
    return A_.matrix();
  }

  void make_inverses(Ctx& context, const Config& config, bool diagonal_mass) {
    if (may_invert(config)) {
      constexpr double kShare = 0.25;  // of all memory, for the factor
      shifted_inverse_.emplace(A_.matrix(), B_ ? B_->matrix() : CsrView<T, Space>{},
                               kShare * std::min(host_memory_bytes(), memory_bytes(context)));
    }
    if (!B_) return;
    if (diagonal_mass) {
      B_inverse_ = std::make_unique<JacobiPreconditioner<T, Ctx>>(context, B_->matrix());
    } else if (!shifted_inverse_ || !inverts_at_once(context, config)) {
      make_inner_solver(context, config);
    }
  }

  /// Whether inner solves are not worth it beside a factorisation: some hundred columns of a basis
  /// take dozens of products each.
  bool inverts_at_once(Ctx& context, const Config& config) {
    if (config.solver.filter == LanczosFilter::inverse) return true;
    constexpr double kColumns = 200;
    constexpr double kInnerProducts = 1e5;
    const auto cost = shifted_inverse_->cost_in_products(context, kColumns);
    return cost && *cost <= kInnerProducts;
  }

  void make_inner_solver(Ctx& context, const Config& config) {
    inner_solves_ = true;
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
  std::optional<ShiftedInverse<T, Ctx>> shifted_inverse_;   // likewise
  bool inner_solves_ = false;                               // B_inverse_ is an InverseOperator
  std::unique_ptr<Preconditioner<T, Ctx>> preconditioner_;  // null: none
  PreconditionerCost preconditioner_cost_;
};

}  // namespace heddle::apps
