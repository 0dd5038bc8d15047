#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/preconditioners/multigrid/narrow_smoother.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <utility>

namespace heddle::detail {
namespace {

template <class V, class Ctx>
class Smoother final : public NarrowSmoother<Ctx> {
 public:
  using Space = typename Ctx::Space;

  Smoother(Ctx& context, CsrView<float, Space> A, std::vector<float> polynomial)
      : rows_(A.rows),
        polynomial_(std::move(polynomial)),
        plan_(context, A, {.scaling = RangeScaling::none}) {}

  void reserve(Ctx& context, Index width) override {
    for (NarrowBlock<V, Space>* block : {&right_, &odd_, &even_}) {
      *block = NarrowBlock<V, Space>();
      *block = NarrowBlock<V, Space>(context, rows_, width);
    }
    scales_ = SmallMatrix<double, Space>(context, width, 2);
  }

  void smooth(Ctx& context, ConstBlockView<float, Space> r, float beta,
              BlockView<float, Space> x) override {
    const Index b = r.cols();
    const SmallView<double, Space> scales = scales_.view(b, 2);
    const NarrowView<V, Space> right = right_.columns(b);
    norm_scales<float>(context, r, scales);
    narrow<V>(context, r, scales.block(0, 0, b, 1), right);
    const std::vector<float>& a = polynomial_;
    NarrowView<V, Space> y = right, next = odd_.columns(b), other = even_.columns(b);
    for (std::size_t k = a.size() - 1; k-- > 0;) {  // y ← A y + a_k r, at first from a_{k+1} r
      const bool first = k + 2 == a.size();
      plan_.multiply(context, first ? a.back() : 1.0f, y,
                     {.gamma = first ? a[k] : 0, .delta = first ? 0 : a[k], .X = right}, next);
      y = next;
      std::swap(next, other);
    }
    widen<V>(context, y, scales.block(0, 1, b, 1), beta, x);
  }

 private:
  Index rows_;
  std::vector<float> polynomial_;
  LowPrecisionPlan<V, Ctx> plan_;
  NarrowBlock<V, Space> right_, odd_, even_;  // n×b
  SmallMatrix<double, Space> scales_;         // b×2
};

}  // namespace

template <class Ctx>
std::unique_ptr<NarrowSmoother<Ctx>> make_narrow_smoother(Ctx& context, ProductPrecision precision,
                                                          CsrView<float, typename Ctx::Space> A,
                                                          std::vector<float> polynomial) {
  return with_narrow_float(precision, [&]<class V>(V) -> std::unique_ptr<NarrowSmoother<Ctx>> {
    return std::make_unique<Smoother<V, Ctx>>(context, A, std::move(polynomial));
  });
}

#define HEDDLE_INSTANTIATE(Ctx)                                       \
  template std::unique_ptr<NarrowSmoother<Ctx>> make_narrow_smoother( \
      Ctx&, ProductPrecision, CsrView<float, Ctx::Space>, std::vector<float>);
HEDDLE_FOR_EACH_ROUNDING(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
