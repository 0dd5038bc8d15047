#include <fmt/format.h>

#include <cmath>
#include <heddle/drivers/plan/held_rows.hpp>
#include <heddle/drivers/plan/resident.hpp>
#include <heddle/drivers/plan/scaling.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/row_contrast.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// The part of ‖b‖ that rows which may be held have at least, where held rows dominate b.
constexpr double kPartOfHeld = 0.5;

/// Each pass leaves out rows in addition to those that the one before has left out. What is left
/// after these passes contains all held rows.
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

}  // namespace

template <Scalar T, class Ctx>
std::string rows_to_scale(Ctx& context, const ResidentProblem<T, Ctx>& problem, const Facts& facts,
                          const MethodChoice& choice) {
  using View = CsrView<T, typename Ctx::Space>;
  if (facts.normal_equations) return {};
  if (!is_eigensolver(choice.request.method)) {
    const bool held = may_have_held_rows<T>(context, problem.A.view(), problem.rhs);
    return held ? "rows with large diagonal entries dominate the right-hand sides" : "";
  }
  if (kComplex<T>) return {};  // their rows are not scaled
  Request last = choice.request;
  if (choice.may_continue) last.method = Method::block_lanczos;
  const double least = least_graded_span(facts, last);
  if (std::isinf(least)) return {};
  const double span =
      row_span<T>(context, problem.A.view(), problem.B ? problem.B->view() : View{});
  return span >= least ? fmt::format("its rows span a factor of {:.0e}", span) : "";
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                       \
  template std::string rows_to_scale(Ctx&, const ResidentProblem<T, Ctx>&, const Facts&, \
                                     const MethodChoice&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
