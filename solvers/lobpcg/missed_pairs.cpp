#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/row_maxima.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lobpcg/missed_pairs.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Products with random vectors from which the size of each row is taken.
constexpr Index kProbes = 6;

/// The columns of a search where no row is far above those of the pairs, so that the iteration sees
/// all motions alike.
constexpr Index kFewColumns = 4;

/// The weight of a row of size d in the first random vector is d to this power.
constexpr double kWeight = 0.25;

}  // namespace

template <Scalar T, class Ctx>
OrthonormalBlock MissedPairs<T, Ctx>::fill_P(std::uint64_t stream, Index constraints) {
  LobpcgBlocks<T, Ctx>& blocks = s_.blocks;
  due_ = false;
  list_wanted(s_.wanted_values);
  blocks.set_p(0);
  const Index room = s_.shape.n() - blocks.locked() - blocks.x();
  Index columns = std::min({blocks.kSearchColumns, room, blocks.columns_left()});
  OrthonormalBlock made;
  if (columns == 0) return made;
  const double shift = s_.wanted_values.back();
  measure_rows(std::min(kProbes, columns), shift, stream);
  blocks.set_w(std::min(blocks.kSearchWidth, columns));
  s_.scaled_constraints.prepare(context_, blocks.basis_of_constraints(constraints),
                                s_.row_scale.columns(1, 1), blocks.S().W);
  const Index soft = motions_.find(s_.wanted_values.front(), constraints > 0, columns, stream + 3);
  method_ = motions_.method();
  blocks.set_w(soft);
  if (!motions_.uneven()) columns = std::min(columns, kFewColumns);
  if (soft == 0) draw_weighted_W(std::min(blocks.kSearchWidth, columns), stream + 2);
  while (true) {
    made = make_orthonormal(context_, s_.orthogonalizer, problem_.B,
                            {blocks.locked_basis(), blocks.XP_basis()}, blocks.S().W, blocks.BS().W,
                            s_.result.orthogonalization);
    blocks.set_w(made.rank);
    if (made.rank == 0) return made;
    problem_.A->apply(context_, blocks.S().W, blocks.AS().W);
    const Index next = std::min(made.rank, columns - blocks.p() - made.rank);
    blocks.set_p(blocks.p() + made.rank);  // P ← [P W]
    if (next == 0) return made;
    next_W(next, shift);
  }
}

template <Scalar T, class Ctx>
bool MissedPairs<T, Ctx>::conclude() {
  list_wanted(s_.found_values);
  done_ = s_.found_values.size() == s_.wanted_values.size();
  for (std::size_t j = 0; done_ && j < s_.found_values.size(); ++j) {
    const double change = std::abs(s_.found_values[j] - s_.wanted_values[j]);
    done_ = s_.pairs.convergence().settled(s_.found_values[j], change);
  }
  return done_;
}

/// values ← the nev best values of the locked pairs and X together, best first.
template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::list_wanted(std::vector<double>& values) const {
  const auto ritz = s_.ritz.theta();
  s_.pairs.list(s_.ritz.values(), values, s_.monitor_residuals);
  values.resize(static_cast<std::size_t>(s_.pairs.locked()));  // which are listed first
  values.insert(values.end(), ritz.begin(), ritz.end());
  std::sort(values.begin(), values.end());
  if (options_.which == Which::largest) std::reverse(values.begin(), values.end());
  values.resize(std::min(values.size(), static_cast<std::size_t>(options_.nev)));
}

template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::draw_W(Index cols, std::uint64_t stream) {
  s_.blocks.set_w(cols);
  fill_random(context_, options_.seed, stream, s_.blocks.S().W, s_.shape.rows.first);
}

template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::draw_weighted_W(Index cols, std::uint64_t stream) {
  draw_W(cols, stream);
  const Block W = s_.blocks.S().W;
  scale_rows<T>(context_, s_.row_scale.columns(0, 1), W.columns(0, 1), W.columns(0, 1));
  motions_.project(W);
}

/// D, as its powers for the weight and D⁻¹, from products of [A σB] with random vectors.
template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::measure_rows(Index probes, double shift, std::uint64_t stream) {
  draw_W(probes, stream);
  problem_.A->apply(context_, s_.blocks.S().W, s_.blocks.AS().W);
  draw_W(probes, stream + 1);
  if (problem_.B != nullptr) problem_.B->apply(context_, s_.blocks.S().W, s_.blocks.BS().W);
  const Block sums = s_.blocks.AS().W;
  axpby<T>(context_, shift, s_.blocks.BS().W, 1, sums);  // A G + σ B G'
  row_maxima<T>(context_, sums, kWeight, s_.row_scale.columns(0, 1));
  row_maxima<T>(context_, sums, -1, s_.row_scale.columns(1, 1));
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
  motions_.project(W);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class MissedPairs<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
