#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/preconditioners/adaptive/deferred_preconditioner.hpp>
#include <utility>

namespace heddle::detail {

template <Scalar T, class Ctx>
DeferredPreconditioner<T, Ctx>::DeferredPreconditioner(
    std::unique_ptr<Preconditioner<T, Ctx>> first, Choose choose)
    : Preconditioner<T, Ctx>(first->row_range(), first->column_range()),
      current_(std::move(first)),
      choose_(std::move(choose)) {}

template <Scalar T, class Ctx>
bool DeferredPreconditioner<T, Ctx>::adapt(Ctx& context, double steps) {
  if (next_choice_ == 0) return false;
  const PhaseScope phase(context, Phase::setup);
  next_choice_ = next_choice_ < kLastChoice ? 2 * next_choice_ : 0;
  std::unique_ptr<Preconditioner<T, Ctx>> chosen = choose_(context, steps);
  if (chosen == nullptr) return false;
  current_ = std::move(chosen);
  next_choice_ = 0;
  return true;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class DeferredPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
