#include <algorithm>
#include <heddle/linalg/blocks/row_maxima.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lobpcg/missed_pairs.hpp>

namespace heddle::detail {
namespace {

/// Products with random vectors from which the scale of the rows is taken.
constexpr Index kProbes = 4;

}  // namespace

template <Scalar T, class Ctx>
OrthonormalBlock MissedPairs<T, Ctx>::fill_P(double shift, std::uint64_t seed,
                                             std::uint64_t stream) {
  LobpcgBlocks<T, Ctx>& blocks = s_.blocks;
  blocks.set_p(0);
  const Index room = s_.shape.n() - blocks.locked() - blocks.x();
  const Index columns = std::min({blocks.kSearchColumns, room, blocks.columns_left()});
  OrthonormalBlock made;
  if (columns == 0) return made;
  scale_of_rows(std::min(kProbes, columns), seed, stream);
  draw_W(std::min(blocks.kSearchWidth, columns), seed, stream + 1);
  const Block first = blocks.S().W.columns(0, 1);
  scale_rows<T>(context_, s_.row_scale.columns(0, 1), first, first);
  while (true) {
    made = make_orthonormal(context_, s_.orthogonalizer, problem_.B,
                            {blocks.locked_basis(), blocks.XP_basis()}, blocks.S().W, blocks.BS().W,
                            s_.result.orthogonalization);
    if (made.rank == 0) return made;
    blocks.set_w(made.rank);
    problem_.A->apply(context_, blocks.S().W, blocks.AS().W);
    const Index step = std::min(made.rank, columns - blocks.p() - made.rank);
    blocks.set_p(blocks.p() + made.rank);  // P ← [P W]
    if (step == 0) return made;
    next_W(step, shift);
  }
}

template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::draw_W(Index cols, std::uint64_t seed, std::uint64_t stream) {
  s_.blocks.set_w(cols);
  fill_random(context_, seed, stream, s_.blocks.S().W, s_.shape.rows.first);
}

/// D^{1/2} and D⁻¹ from the products of A with random vectors.
template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::scale_of_rows(Index probes, std::uint64_t seed, std::uint64_t stream) {
  draw_W(probes, seed, stream);
  const Block AW = s_.blocks.AS().W;
  problem_.A->apply(context_, s_.blocks.S().W, AW);
  row_maxima<T>(context_, AW, 0.5, s_.row_scale.columns(0, 1));
  row_maxima<T>(context_, AW, -1, s_.row_scale.columns(1, 1));
}

/// W ← D⁻¹(A − σB) V with V the last columns of P.
template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::next_W(Index cols, double shift) {
  LobpcgBlocks<T, Ctx>& blocks = s_.blocks;
  blocks.set_w(cols);
  const Index last = blocks.p() - cols;
  const Block W = blocks.S().W;
  copy<T>(context_, blocks.AS().P.columns(last, cols), W);
  axpby<T>(context_, -shift, blocks.BS().P.columns(last, cols), 1, W);
  scale_rows<T>(context_, s_.row_scale.columns(1, 1), W, W);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class MissedPairs<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
