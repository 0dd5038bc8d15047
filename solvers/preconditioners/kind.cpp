#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/preconditioners/kind.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>

namespace heddle {

std::string_view matrix_name(PreconditionedMatrix matrix) noexcept {
  switch (matrix) {
    case PreconditionedMatrix::A:
      return "A";
    case PreconditionedMatrix::B:
      return "B";
    case PreconditionedMatrix::normal_equations:
      return "A^T A";
  }
  return "";
}

PreconditionedMatrix PreconditionedProblem::matrix() const noexcept {
  if (task == PreconditionedTask::least_squares) return PreconditionedMatrix::normal_equations;
  const bool far_end_of_pencil =
      task == PreconditionedTask::eigenpairs && which == Which::largest && pencil;
  return far_end_of_pencil ? PreconditionedMatrix::B : PreconditionedMatrix::A;
}

MatrixAccess PreconditionedProblem::access() const noexcept {
  if (!stored) return MatrixAccess::products;
  return task == PreconditionedTask::least_squares ? MatrixAccess::diagonal : MatrixAccess::entries;
}

double PreconditionerSizes::matrix_bytes(Index entries) const noexcept {
  return static_cast<double>(entries) * (static_cast<double>(scalar_size) + sizeof(std::int32_t)) +
         static_cast<double>(rows + 1) * sizeof(std::int64_t);
}

double PreconditionerSizes::vector_bytes(Index count) const noexcept {
  return static_cast<double>(rows) * static_cast<double>(count) * static_cast<double>(scalar_size);
}

PreconditionerOptions PreconditionerKind::options(const OptionValues& given) const {
  return PreconditionerOptions(name, keys, given);
}

std::string PreconditionerKind::unsuitable(const PreconditionedProblem& problem) const {
  if (problem.task == PreconditionedTask::unpreconditioned) {
    return "is not used by a solver that takes no preconditioner";
  }
  if (needs > problem.access()) {
    return fmt::format(
        "needs {}, of {} {}", needs == MatrixAccess::entries ? "a matrix's entries" : "a diagonal",
        matrix_name(problem.matrix()),
        problem.stored ? "only products and the diagonal are there" : "only products are there");
  }
  if (problem.distributed && !maker.serves_distributed()) {
    return "needs the whole matrix in one process; use chebyshev, block_jacobi, jacobi or none";
  }
  const bool of_far_end = problem.task == PreconditionedTask::eigenpairs &&
                          problem.which == Which::largest && !problem.pencil;
  if (near_inverse && of_far_end) {
    return "is for the smallest end and for pencils; use auto or none for the largest end of a "
           "single matrix";
  }
  return "";
}

std::string PreconditionerKind::describe(const PreconditionerOptions& options) const {
  return describe_options ? describe_options(options) : std::string();
}

PreconditionerBytes PreconditionerKind::bytes(const PreconditionerSizes& sizes,
                                              const PreconditionerOptions& options) const {
  return estimate_bytes ? estimate_bytes(sizes, options) : PreconditionerBytes{};
}

PreconditionerBytes PreconditionerKind::lowered_bytes(const PreconditionerSizes& sizes,
                                                      const PreconditionerOptions& options) const {
  PreconditionerSizes rounded = sizes;
  rounded.scalar_size = sizeof(float);
  const PreconditionerBytes full = bytes(sizes, options);
  const PreconditionerBytes single = bytes(rounded, options);
  const double beside = rounded.vector_bytes(2 * sizes.block);  // the blocks in single precision
  return {.matrix = full.matrix,
          .kept = std::max(full.kept, single.kept + beside),
          .setup = std::max(full.setup, full.matrix + single.matrix)};
}

void PreconditionerKind::refuse_pair() const {
  throw InvalidArgument(
      fmt::format("preconditioner {} is not there for this scalar and this context", name));
}

void PreconditionerKind::refuse_nothing() const {
  throw InvalidArgument(fmt::format("the maker of preconditioner {} returned null", name));
}

template <class Ctx>
PreconditionerStage<double, Ctx> PreconditionerKind::lowered_stage(
    Ctx& context, DistributedCsrView<double, typename Ctx::Space> A,
    const PreconditionerOptions& options, const SpmmOptions& spmm) const {
  const auto& make_single = maker.template get<float, Ctx, double>();
  PreconditionerOptions single = options;
  single.set_products(ProductPrecision::single_precision);
  typename PreconditionerStage<double, Ctx>::MakeSingle later_single;
  if (options.products() != single.products()) {
    later_single = [make_single, A, single, spmm](Ctx& later) {
      return make_single(later, A, single, spmm);
    };
  }
  PreconditionerStage<double, Ctx> stage(
      made_by(make_single, context, A, options, spmm), options.products(),
      [make_full = maker.template get<double, Ctx>(), A, single, spmm](Ctx& later) {
        return make_full(later, A, single, spmm);
      },
      std::move(later_single));
  stage.describe(name + describe(options), "");
  return stage;
}

template <class Ctx>
std::unique_ptr<Preconditioner<double, Ctx>> PreconditionerKind::make_lowered(
    Ctx& context, DistributedCsrView<double, typename Ctx::Space> A,
    const PreconditionerOptions& options, const SpmmOptions& spmm) const {
  SetupCost cost(context);
  auto stage = lowered_stage(context, A, options, spmm);
  cost.stop(context);
  return std::make_unique<PreconditionerSchedule<double, Ctx>>(std::move(stage), "", cost);
}

#define HEDDLE_INSTANTIATE(Ctx)                                                           \
  template PreconditionerStage<double, Ctx> PreconditionerKind::lowered_stage(            \
      Ctx&, DistributedCsrView<double, Ctx::Space>, const PreconditionerOptions&,         \
      const SpmmOptions&) const;                                                          \
  template std::unique_ptr<Preconditioner<double, Ctx>> PreconditionerKind::make_lowered( \
      Ctx&, DistributedCsrView<double, Ctx::Space>, const PreconditionerOptions&,         \
      const SpmmOptions&) const;
HEDDLE_INSTANTIATE(HostContext)
#ifdef HEDDLE_HAS_CUDA
HEDDLE_INSTANTIATE(CudaContext)
#endif
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
