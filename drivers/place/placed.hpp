#pragma once

#include <algorithm>
#include <heddle/drivers/place/automatic_preconditioner.hpp>
#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/place/place.hpp>
#include <heddle/drivers/place/planned_stage.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/methods.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <heddle/linalg/context/apart.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/global_rows.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/cg/inverse_operator.hpp>
#include <heddle/solvers/null_space/null_pairs.hpp>
#include <heddle/solvers/operators/indefinite_inverse.hpp>
#include <heddle/solvers/operators/normal_equations.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::detail {

/// A problem in the memory of the context that solves it. Block Lanczos needs B⁻¹: directly if B is
/// diagonal, by its Cholesky factor if that is cheap, else by an iterative inner solve. For
/// smallest eigenvalues it may factor A − σB instead. If B is singular, if the request asks for the
/// inverse, or if B is not diagonal and this factorisation is cheap, block Lanczos gets only the
/// factorisation and no B⁻¹: dividing by a graded B is not backward stable.
template <Scalar T, class Ctx>
class PlacedProblem {
 public:
  using Space = typename Ctx::Space;

  /// Moves `problem`, a `HostProblem` or a `ResidentProblem` with these facts, to the context's
  /// memory, plans the products, and sets up the preconditioner of `plan` and the inverses that
  /// `request` needs. The inverses call `monitor`. `solver_bytes`: the bytes that the method will
  /// allocate, which factors leave free. `block`: the columns that A multiplies at once. `host`:
  /// the context of memory on the host, which is `context` itself where that is a host context.
  /// Throws `ProblemError` if the method needs B⁻¹, or a factor of A − σB, and there is none.
  template <class Source>
  PlacedProblem(Ctx& context, HostContext& host, Source problem, Facts facts,
                const Request& request, const PreconditionerPlan& plan, double solver_bytes,
                Index block, const Monitor& monitor)
      : sizes_(facts.sizes()),
        solver_bytes_(solver_bytes),
        block_(block),
        near_null_(facts.near_null),
        whole_A_(whole(context, host, problem.A, request)),
        whole_B_(problem.B ? whole(context, host, *problem.B, request) : PlacedMatrix<T, Ctx>()),
        A_(place_matrix(context, std::move(problem.A), request.spmm)),
        constraints_(place_block(context, std::move(problem.constraints))),
        initial_guess_(place_block(context, std::move(problem.initial_guess))),
        guess_from_random_(problem.guess_from_random),
        rhs_(place_block(context, std::move(problem.rhs))) {
    DistributedCsr<T, Space> squares;  // the diagonal of AᴴA
    if (problem.A_transposed) {
      if (plan.kind != nullptr) {
        squares = row_norms(context, host, *problem.A_transposed);
      }
      A_transposed_ = place_matrix(context, *std::move(problem.A_transposed), request.spmm);
    }
    const bool diagonal =
        problem.B && problem.B->is_stored() && is_diagonal_matrix(context, *problem.B);
    if (problem.B) B_ = place_matrix(context, *std::move(problem.B), request.spmm);
    if (facts.null_space && is_eigensolver(request.method)) {
      place_null_vectors(context, host, *facts.null_space, request.nev);
    }
    if (request.method == Method::block_lanczos && !counts_by_factors(request) &&
        !all_known(request, sizes_)) {
      make_inverses(context, request, diagonal, monitor);
    }
    if (!is_eigensolver(request.method) && facts.null_space && !facts.null_space->complete) {
      facts.null_space.reset();  // a preconditioner must know all null vectors
    }
    if (problem.preconditioner) {
      given_preconditioner_ =
          place_matrix(context, *std::move(problem.preconditioner), request.spmm);
      own_preconditioner_ = std::make_unique<OperatorPreconditioner<T, Ctx>>(
          std::shared_ptr(std::move(given_preconditioner_.product)));
    } else if (plan.kind != nullptr) {
      monitor.begin_stage("setting up the preconditioner");
      make_preconditioner(context, host,
                          preconditioned_matrix(plan.matrix, std::as_const(squares).view()),
                          request, plan, std::move(facts.null_space));
    }
  }

  PlacedProblem(const PlacedProblem&) = delete;
  PlacedProblem& operator=(const PlacedProblem&) = delete;

  const ProblemSizes& sizes() const noexcept { return sizes_; }
  /// The operator of a stored A. Null if A is a callable.
  const SparseOperator<T, Ctx>* stored_A() const noexcept { return A_.stored; }

  /// The preconditioner that the request led to. Null: there is none, or that of the problem.
  const PreconditionerSchedule<T, Ctx>* schedule() const noexcept { return schedule_.get(); }

  /// The library of the factor of A − σB that the solve took last. Empty: it took none.
  std::string factor_library() const {
    const bool factored = shifted_inverse_ && shifted_inverse_->columns_solved() > 0;
    if (factored) return shifted_inverse_->library();
    return indefinite_inverse_ ? indefinite_inverse_->library() : std::string();
  }

  /// Whether products with B⁻¹ are iterative solves, which are expensive.
  bool inner_solves() const noexcept { return inner_solves_; }

  EigenProblem<T, Ctx> eigenproblem() {
    return {A_.product.get(),
            B_.product.get(),
            preconditioner(),
            std::as_const(constraints_).view(),
            std::as_const(initial_guess_).view(),
            B_inverse_.get(),
            shifted_inverse_ ? &*shifted_inverse_ : nullptr,
            std::as_const(null_vectors_).view(),
            guess_from_random_};
  }

  /// Whether A and B are stored and this process has all rows of them.
  bool has_whole_matrices() const noexcept {
    return sizes_.processes == 1 && A_.stored != nullptr && (!B_ || B_.stored != nullptr);
  }

  /// The problem with all rows of A and B in this process, where several share the rows and pairs
  /// are counted by factors. Without A otherwise.
  EigenProblem<T, Ctx> whole_eigenproblem() {
    return {whole_A_.product.get(), whole_B_.product.get()};
  }

  /// (A − σB)⁻¹ for any σ, of whole matrices.
  IndefiniteInverse<T, Ctx>& indefinite_inverse(const Ctx& context, FactorLibrary library) {
    if (!indefinite_inverse_) {
      const PlacedMatrix<T, Ctx>& A = whole_A_ ? whole_A_ : A_;
      const PlacedMatrix<T, Ctx>& B = whole_A_ ? whole_B_ : B_;
      indefinite_inverse_.emplace(A.matrix().whole(), B ? B.matrix().whole() : CsrView<T, Space>{},
                                  factor_bytes(context), library);
    }
    return *indefinite_inverse_;
  }

  /// The pair (A, Aᴴ) of a problem with `normal_equations`.
  AdjointPair<T, Ctx> adjoint_pair() { return {A_.product.get(), A_transposed_.product.get()}; }

  LeastSquaresProblem<T, Ctx> least_squares_problem() {
    return {adjoint_pair(), preconditioner(), std::as_const(rhs_).view(),
            std::as_const(initial_guess_).view()};
  }

  LinearSystem<T, Ctx> system() {
    return {A_.product.get(), preconditioner(), std::as_const(rhs_).view(),
            std::as_const(initial_guess_).view()};
  }

 private:
  Preconditioner<T, Ctx>* preconditioner() const noexcept {
    if (schedule_) return schedule_.get();
    return own_preconditioner_.get();
  }

  /// A with all its rows in this process, where several hold them and it is to be factored.
  static PlacedMatrix<T, Ctx> whole(Ctx& context, HostContext& host, const HostMatrix<T>& A,
                                    const Request& request) {
    if constexpr (WideScalar<T>) {
      if (host.processes() != nullptr && counts_by_factors(request)) {
        HostCsrMatrix<T> rows = global_rows(host, A.distributed_view());
        rows = all_rows(host, rows.view());
        const Apart<Ctx> apart(context);
        return place_matrix(context, HostMatrix<T>(std::move(rows)), request.spmm);
      }
    }
    return {};
  }
  /// Arrays in the memory of a context belong to one process.
  template <class Matrix>
  static PlacedMatrix<T, Ctx> whole(Ctx&, HostContext&, const Matrix&, const Request&) {
    return {};
  }

  void place_null_vectors(Ctx& context, HostContext& host, const GraphNullSpace& found,
                          Index most) {
    const Index count = std::min(found.dimension, most);
    if constexpr (RealScalar<T>) {
      null_vectors_ = null_vectors<T, Ctx>(context, host, found, count, B_.product.get());
    }
    if (null_vectors_.cols() == count) return;
    throw ProblemError(ProblemPart::mass,
                       "x'Bx is not positive for the null vectors x of the matrix: the mass matrix "
                       "is zero on one, which makes every number an eigenvalue, or indefinite");
  }

  void make_preconditioner(Ctx& context, HostContext& host, DistributedCsrView<T, Space> M,
                           const Request& request, const PreconditionerPlan& plan,
                           std::shared_ptr<const GraphNullSpace> null_space) {
    std::string refusal;
    if constexpr (std::same_as<T, double>) {
      if (plan.lowered || plan.strong_lowered) refusal = refuse_single_precision(context, M.own);
    }
    if (!refusal.empty() && asks_for_lower(request.preconditioner.precision)) {
      refuse_lower_precision(request.preconditioner.precision, refusal);
    }
    if constexpr (RealScalar<T>) {
      if (plan.strong != nullptr && A_.stored != nullptr) {
        const AutomaticPreconditioner<T, Ctx> automatic(context, *A_.product, M, plan, refusal,
                                                        request.spmm, block_, std::move(null_space),
                                                        host);
        schedule_ = is_eigensolver(request.method) ? automatic.for_eigenpairs(context)
                                                   : automatic.for_linear_system(context);
        return;
      }
    }
    SetupCost cost(context);
    auto stage = planned_stage<T>(context, plan, false, M, refusal, request.spmm);
    cost.stop(context);
    schedule_ = std::make_unique<PreconditionerSchedule<T, Ctx>>(std::move(stage), "", cost);
  }

  DistributedCsrView<T, Space> preconditioned_matrix(PreconditionedMatrix matrix,
                                                     DistributedCsrView<T, Space> squares) {
    switch (matrix) {
      case PreconditionedMatrix::A:
        break;
      case PreconditionedMatrix::B:
        return shape_or_matrix(B_);
      case PreconditionedMatrix::normal_equations:
        return squares;
    }
    return shape_or_matrix(A_);
  }

  /// The matrix, or a view that has only its shape if it is not stored.
  static DistributedCsrView<T, Space> shape_or_matrix(const PlacedMatrix<T, Ctx>& A) {
    if (A.stored != nullptr) return A.matrix();
    return {A.product->rows(), A.product->cols()};
  }

  void make_inverses(Ctx& context, const Request& request, bool diagonal_mass,
                     const Monitor& monitor) {
    if (may_invert(request, sizes_) && A_.stored != nullptr) {
      shifted_inverse_.emplace(A_.matrix().whole(), B_ ? B_.matrix().whole() : CsrView<T, Space>{},
                               factor_bytes(context), request.factorization);
      shifted_inverse_->set_stage(monitor.stage, "A - sigma B");
    }
    if (!B_) return;
    if (sizes_.infinite_eigenvalues > 0) {
      require_shifted_inverse(context);
    } else if (diagonal_mass && request.filter != LanczosFilter::inverse) {
      B_inverse_ = std::make_unique<JacobiPreconditioner<T, Ctx>>(context, B_.matrix());
    } else if (!shifted_inverse_ || !inverts_at_once(context, request)) {
      invert_mass(context, request.factorization, monitor);
    }
  }

  /// The memory that a factor may take, now that the problem is in memory and the solver is not.
  /// The processes of a machine share its memory, and have GPUs of their own.
  double factor_bytes(const Ctx& context) const {
    const Processes* const processes = context.processes();
    const double host_share = processes == nullptr ? 1 : 1.0 / processes->on_this_machine();
    const double share = std::same_as<Ctx, HostContext> ? host_share : 1;
    return std::min(
        host_share * kFactorShare * host_memory_bytes(),
        share * factor_budget(memory_bytes(context), unused_bytes(context), solver_bytes_));
  }

  void require_shifted_inverse(Ctx& context) {
    if (shifted_inverse_->cost_in_products(context, kColumns)) return;
    throw ProblemError(ProblemPart::mass,
                       "the mass matrix is singular, and the factor of A - sigma B, which such a "
                       "pencil needs, does not fit into memory: condense the unknowns without mass "
                       "out of both matrices");
  }

  /// Whether a factorisation costs less than inner solves for some hundred columns of a basis, at
  /// some dozens of products per column.
  bool inverts_at_once(Ctx& context, const Request& request) {
    if (request.filter == LanczosFilter::inverse) return true;
    constexpr double kInnerProducts = 1e5;
    return shifted_inverse_->pays(context, kColumns, kInnerProducts);
  }

  /// Sets B⁻¹ to the Cholesky factor of B if that costs less than CG, else to CG, as where several
  /// processes hold B. Where CG does not
  /// converge, the factor is taken in spite of its cost, or there is no B⁻¹ if A − σB can be
  /// factored.
  void invert_mass(Ctx& context, FactorLibrary library, const Monitor& monitor) {
    // Products with B per column that CG takes at least. For small matrices on a GPU the ten
    // launches of an iteration cost as much as ten products.
    constexpr double kInnerProducts = std::same_as<Ctx, HostContext> ? 30 : 300;
    std::unique_ptr<ShiftedInverse<T, Ctx>> factor;
    if (sizes_.processes == 1) {
      factor = std::make_unique<ShiftedInverse<T, Ctx>>(B_.matrix().whole(), CsrView<T, Space>{},
                                                        factor_bytes(context), library);
      factor->set_stage(monitor.stage, "B");
    }
    const bool cheap = factor && factor->pays(context, kColumns, kColumns * kInnerProducts);
    if (cheap && factor->factor(context, 0)) {
      B_inverse_ = std::move(factor);
      return;
    }
    inner_solves_ = true;
    auto inverse = std::make_unique<InverseOperator<T, Ctx>>(context, *B_.product, B_.matrix());
    inverse->set_stop(monitor.stop);
    if (inverse->works(context)) {
      B_inverse_ = std::move(inverse);
    } else if (factor && !cheap && factor->cost_in_products(context, kColumns) &&
               factor->factor(context, 0)) {
      B_inverse_ = std::move(factor);
    } else if (!shifted_inverse_ || !shifted_inverse_->cost_in_products(context, kColumns)) {
      throw ProblemError(ProblemPart::mass,
                         "the mass matrix is too ill conditioned for block_lanczos, which divides "
                         "by it: use heddle-lobpcg");
    }
  }

  static constexpr double kColumns = 200;  // columns of a basis for which a factor must pay

  using PlacedBlock =
      std::remove_cvref_t<decltype(place_block(std::declval<Ctx&>(), HostBlock<T>()))>;

  ProblemSizes sizes_;
  double solver_bytes_;                     // as in the constructor
  Index block_;                             // as in the constructor
  HostBlock<double> near_null_;             // which the options of a preconditioner refer to
  PlacedMatrix<T, Ctx> whole_A_, whole_B_;  // with all rows. Empty unless processes share them
  PlacedMatrix<T, Ctx> A_, B_, A_transposed_, given_preconditioner_;
  PlacedBlock constraints_, initial_guess_;
  bool guess_from_random_;
  PlacedBlock rhs_;
  MultiVector<T, Space> null_vectors_;
  std::unique_ptr<LinearOperator<T, Ctx>> B_inverse_;      // B⁻¹ for block Lanczos
  std::optional<ShiftedInverse<T, Ctx>> shifted_inverse_;  // (A − σB)⁻¹ for block Lanczos
  std::optional<IndefiniteInverse<T, Ctx>> indefinite_inverse_;  // made when needed
  bool inner_solves_ = false;  // whether B_inverse_ is an InverseOperator
  std::unique_ptr<OperatorPreconditioner<T, Ctx>> own_preconditioner_;  // that of the problem
  std::unique_ptr<PreconditionerSchedule<T, Ctx>> schedule_;            // null: none was made
};

}  // namespace heddle::detail
