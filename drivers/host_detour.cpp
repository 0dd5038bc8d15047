#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <heddle/drivers/held_rows.hpp>
#include <heddle/drivers/host_detour.hpp>
#include <heddle/drivers/memory.hpp>
#include <heddle/drivers/scaling.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve_placed.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/row_contrast.hpp>
#include <type_traits>
#include <utility>

namespace heddle::detail {
namespace {

/// The part of ‖b‖ that rows which may be held have at least, where held rows dominate b.
constexpr double kPartOfHeld = 0.5;

/// Each pass leaves out rows beside those that the one before has left out. What is left after
/// these passes contains all held rows.
constexpr int kPasses = 8;

/// The rows of A that may be held: 1, and 0 for the others. Empty if these are none, or all.
template <Scalar T, class Ctx>
MultiVector<T, typename Ctx::Space> rows_that_may_be_held(Ctx& context,
                                                          CsrView<T, typename Ctx::Space> A) {
  using Space = typename Ctx::Space;
  MultiVector<T, Space> marks(context, A.rows, 1);
  Packet<Ctx> packet(context, 1);
  const auto root = packet.add(1, 1);
  const auto count = [&] {
    column_norms<T>(context, marks.view(), root.there);
    packet.fetch(context);
    return std::llround(root.here(0, 0) * root.here(0, 0));
  };
  mark_dominant_rows<T>(context, A, kHold, marks.view());
  Index marked = count();
  if (marked == 0 || marked == A.rows) return {};
  MultiVector<T, Space> left(context, A.rows, 1);
  for (int pass = 0; pass < kPasses && marked > 0; ++pass) {
    leave_out_like_neighbours<T>(context, A, kHold, std::as_const(marks).view(), left.view());
    std::swap(marks, left);
    const Index before = std::exchange(marked, count());
    if (marked == before) break;
  }
  return marked > 0 ? std::move(marks) : MultiVector<T, Space>();
}

/// Whether held rows may dominate a column of R in A X = R. True wherever they do.
template <Scalar T, class Ctx>
bool may_have_held_rows(Ctx& context, CsrView<T, typename Ctx::Space> A,
                        ConstBlockView<T, typename Ctx::Space> R) {
  using Space = typename Ctx::Space;
  const MultiVector<T, Space> marks = rows_that_may_be_held<T>(context, A);
  if (marks.rows() == 0) return false;
  MultiVector<T, Space> of_held(context, R.rows(), R.cols());
  Packet<Ctx> norms(context, 2 * R.cols());
  const auto whole = norms.add(R.cols(), 1), part = norms.add(R.cols(), 1);
  copy<T>(context, R, of_held.view());
  column_norms<T>(context, of_held.view(), whole.there);
  scale_rows<T>(context, marks.view(), of_held.view(), of_held.view());
  column_norms<T>(context, of_held.view(), part.there);
  norms.fetch(context);
  for (Index j = 0; j < R.cols(); ++j) {
    if (part.here(j, 0) > 0 && part.here(j, 0) >= kPartOfHeld * whole.here(j, 0)) return true;
  }
  return false;
}

/// A with entries in double. In host memory a matrix in double is not copied.
template <Scalar T>
Matrix on_host(HostContext&, Device& device, CsrView<T, HostSpace> A) {
  if constexpr (std::same_as<T, double>) {
    return Matrix(A);
  } else {
    return {convert<double>(device.host(), A), device.shared_host()};
  }
}

/// X with entries in double.
template <Scalar T>
Block on_host(HostContext&, Device& device, ConstBlockView<T, HostSpace> X) {
  if (X.cols() == 0) return {};
  if constexpr (std::same_as<T, double>) {
    return Block(X);
  } else {
    MultiVector<double, HostSpace> copy(device.host(), X.rows(), X.cols());
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) copy.view()(i, j) = static_cast<double>(X(i, j));
    }
    return {std::move(copy), device.shared_host()};
  }
}

#ifdef HEDDLE_HAS_CUDA
template <Scalar T>
Matrix on_host(CudaContext& context, Device& device, CsrView<T, DeviceSpace> A) {
  HostCsrMatrix<T> copy = fetch<T>(context, device.host(), A);
  if constexpr (std::same_as<T, double>) {
    return {std::move(copy), device.shared_host()};
  } else {
    return on_host<T>(device.host(), device, std::as_const(copy).view());
  }
}

template <Scalar T>
Block on_host(CudaContext& context, Device& device, ConstBlockView<T, DeviceSpace> X) {
  if (X.cols() == 0) return {};
  MultiVector<T, HostSpace> copy(device.host(), X.rows(), X.cols());
  fetch<T>(context, X, copy.view());
  if constexpr (std::same_as<T, double>) {
    return {std::move(copy), device.shared_host()};
  } else {
    return on_host<T>(device.host(), device, std::as_const(copy).view());
  }
}
#endif

template <Scalar T, class Ctx>
Problem on_host(Ctx& context, Device& device, const ResidentProblem<T, Ctx>& problem) {
  const auto optional = [&](const std::optional<ResidentMatrix<T, Ctx>>& A) {
    return A ? std::optional<Matrix>(on_host<T>(context, device, A->view())) : std::nullopt;
  };
  return {.A = on_host<T>(context, device, problem.A.view()),
          .B = optional(problem.B),
          .constraints = on_host<T>(context, device, problem.constraints),
          .initial_guess = on_host<T>(context, device, problem.initial_guess),
          .guess_from_random = problem.guess_from_random,
          .rhs = on_host<T>(context, device, problem.rhs),
          .normal_equations = problem.normal_equations,
          .A_transposed = optional(problem.A_transposed),
          .preconditioner = optional(problem.preconditioner),
          .near_null = problem.near_null,
          .coordinates = problem.coordinates};
}

/// Moves vectors in the precision T to the memory of the context.
template <Scalar T, class Ctx>
MultiVector<T, typename Ctx::Space> taken(Ctx& context, HostVectors& from) {
  const HostVectors vectors = std::exchange(from, {});
  const auto* const X = std::get_if<HostBlock<T>>(&vectors);
  if (X == nullptr || X->cols() == 0) return {};
  MultiVector<T, typename Ctx::Space> placed(context, X->rows(), X->cols());
  send<T>(context, X->view(), placed.view());
  context.synchronize();
  return placed;
}

}  // namespace

template <Scalar T, class Ctx>
bool is_stored(const ResidentProblem<T, Ctx>& problem) {
  const auto stored = [](const std::optional<ResidentMatrix<T, Ctx>>& A) {
    return !A || A->is_stored();
  };
  return problem.A.is_stored() && stored(problem.B) && stored(problem.A_transposed) &&
         stored(problem.preconditioner);
}

template <Scalar T, class Ctx>
std::string rows_to_scale(Ctx& context, const ResidentProblem<T, Ctx>& problem,
                          const Problem& shape, const MethodChoice& choice) {
  using View = CsrView<T, typename Ctx::Space>;
  if (problem.normal_equations) return {};
  if (!is_eigensolver(choice.request.method)) {
    const bool held = may_have_held_rows<T>(context, problem.A.view(), problem.rhs);
    return held ? "rows with large diagonal entries dominate the right-hand sides" : "";
  }
  Request last = choice.request;
  if (choice.may_continue) last.method = Method::block_lanczos;
  const double least = least_graded_span(shape, last);
  if (std::isinf(least)) return {};
  const double span =
      row_span<T>(context, problem.A.view(), problem.B ? problem.B->view() : View{});
  return span >= least ? fmt::format("its rows span a factor of {:.0e}", span) : "";
}

template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> solve_from_host(
    Device& device, Ctx& context, const ResidentProblem<T, Ctx>& problem, const Problem& shape,
    const Request& request, const Monitor& monitor, const std::string& why) {
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  monitor.begin_stage("copying the problem to host memory");
  require_host_memory(shape.bytes(), shape.rhs.cols() > 0 ? kFewerRightHandSides : kFewerPairs);
  Problem copy = on_host(context, device, problem);
  const double copying_seconds = seconds_since(start);
  Solution solution = solve(device, std::move(copy), request, monitor);
  solution.setup_seconds += copying_seconds;
  solution.reason += "; the problem was copied to host memory and solved from there: " + why;
  auto vectors = taken<T>(context, solution.vectors);
  auto left_vectors = taken<T>(context, solution.left_vectors);
  return {std::move(solution), std::move(vectors), std::move(left_vectors)};
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                         \
  template bool is_stored(const ResidentProblem<T, Ctx>&);                                 \
  template std::string rows_to_scale(Ctx&, const ResidentProblem<T, Ctx>&, const Problem&, \
                                     const MethodChoice&);                                 \
  template ResidentSolution<T, Ctx::Space> solve_from_host(                                \
      Device&, Ctx&, const ResidentProblem<T, Ctx>&, const Problem&, const Request&,       \
      const Monitor&, const std::string&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
