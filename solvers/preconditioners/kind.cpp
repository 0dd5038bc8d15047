#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/preconditioners/kind.hpp>

namespace heddle {

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

}  // namespace heddle
