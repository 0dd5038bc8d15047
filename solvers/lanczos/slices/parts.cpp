#include <algorithm>
#include <array>
#include <cstdlib>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/solvers/lanczos/slices/slice_sizes.hpp>
#include <heddle/solvers/lanczos/slices/solve.hpp>
#include <utility>

/// The parts of the interval that several processes search, and the pairs of all of them.
namespace heddle::detail {
namespace {

/// A part holds at least so many pairs: two factors find its place, and one or two its pairs.
constexpr Index kLeastOfPart = 16;

/// A seam lies in a gap of at least this part of the mean distance of the eigenvalues around it.
/// It is looked for by so many factors, or twice as many.
constexpr double kGap = 0.02;
constexpr int kSeamTries = 12;

/// What a process tells the others between two slices.
struct Meeting {
  SolveStatus status{};
  bool ended = false;
  bool has_slices = false;
  Index found = 0;
  std::array<char, 512> reason{};  // of the end
};

/// The values that each of the processes has, in the order of the processes.
template <class Value>
std::vector<Value> of_all(Processes& processes, const std::vector<Value>& own) {
  const RowRanges places = ranges_of_all(processes, std::ssize(own));
  Index most = 0;
  for (int k = 0; k < processes.size(); ++k) most = std::max(most, places.of(k).local);
  std::vector<Value> padded = own;
  padded.resize(static_cast<std::size_t>(most));
  std::vector<Value> gathered(padded.size() * static_cast<std::size_t>(processes.size()));
  processes.gather_all(padded.data(), gathered.data(), padded.size() * sizeof(Value));
  std::vector<Value> all;
  for (int k = 0; k < processes.size(); ++k) {
    const auto first = gathered.begin() + k * most;
    all.insert(all.end(), first, first + places.of(k).local);
  }
  return all;
}

}  // namespace

/// The columns multiplied by A.
template <Scalar T, class Ctx>
Index SliceSolve<T, Ctx>::products() const {
  const Index of_rows = team_ == nullptr ? 0 : problem_.A->columns_applied();
  return whole_.A->columns_applied() + of_rows;
}

/// Process 0 counts the eigenvalues below both ends for all. False if the solve has ended.
template <Scalar T, class Ctx>
bool SliceSolve<T, Ctx>::count_ends() {
  if (team_ == nullptr || team_->leads()) {
    const Apart<Ctx> apart(context_);
    count_both_ends();
  }
  goes_on();
  if (team_ != nullptr) team_->broadcast(&interval_, sizeof interval_);
  return !engine_.ended();
}

/// A number in a gap between eigenvalues, below which `target` of them lie, or up to `apart` more
/// or fewer. Factors at both ends of the gap count alike. Nothing if none is found, as where copies
/// of one value are more than that.
template <Scalar T, class Ctx>
std::optional<typename SliceSolve<T, Ctx>::Counted> SliceSolve<T, Ctx>::seam(Index target,
                                                                             Index apart) {
  const LimitCounts& counts = interval_.counts;
  Bracket bracket{{interval_.lower, counts.lower}, {interval_.upper, counts.upper}};
  for (int tries = 0; tries < kSeamTries; ++tries) {
    if (engine_.stop_requested()) return engine_.end_as_requested(), std::nullopt;
    const double mean = (bracket.high.at - bracket.low.at) /
                        static_cast<double>(bracket.high.below - bracket.low.below);
    const double at = guess(interval_, bracket, target, tries);
    engine_.begin_stage("counting eigenvalues");
    if (!inverse_.factor(context_, at)) continue;
    const Counted here{at, inverse_.below()};
    const bool near = std::abs(here.below - target) <= apart;
    if (near && inverse_.factor(context_, at + kGap * mean) && inverse_.below() == here.below) {
      return Counted{at + 0.5 * kGap * mean, here.below};
    }
    (here.below < target ? bracket.low : bracket.high) = here;
  }
  return std::nullopt;
}

/// Divides the interval between processes. Process k looks for the seam below its part. Where it
/// finds none, the pairs belong to the part of the process before.
template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::divide() {
  if (slices_.empty()) return;
  if (team_ != nullptr) {
    const Index pairs = interval_.counts.between();
    const Index count = std::clamp<Index>(pairs / kLeastOfPart, 1, team_->size());
    const auto target = [&](Index k) { return interval_.counts.lower + pairs * k / count; };
    const Index rank = team_->rank();
    std::vector<Counted> own;
    if (rank == 0) own.push_back({interval_.lower, interval_.counts.lower});
    if (rank > 0 && rank < count) {
      const Apart<Ctx> apart(context_);
      const auto found = seam(target(rank), pairs / (4 * count));
      if (found) own.push_back(*found);
    }
    slices_.clear();
    std::vector<Counted> seams = of_all(*team_, own);
    seams.push_back({interval_.upper, interval_.counts.upper});
    for (std::size_t k = 0; !own.empty() && k + 1 < seams.size(); ++k) {
      const Counted &low = seams[k], &high = seams[k + 1];
      if (low.at != own.front().at) continue;
      slices_.push_back({low.at, high.at, {low.below, high.below}, interval_.pairs});
    }
  }
  const Index most = slices_.empty() ? 0 : slices_.front().counts.between();
  X_ = MultiVector<T, Space>(context_, n_, most);
}

/// Whether slices are left and nothing has ended the solve, in any process.
template <Scalar T, class Ctx>
bool SliceSolve<T, Ctx>::goes_on() {
  if (team_ == nullptr) return !engine_.ended() && !slices_.empty();
  Meeting own{
      .ended = engine_.ended(), .has_slices = !slices_.empty(), .found = std::ssize(found_)};
  if (own.ended) {
    own.status = engine_.status();
    engine_.reason().copy(own.reason.data(), own.reason.size() - 1);
  }
  std::vector<Meeting> all(static_cast<std::size_t>(team_->size()));
  team_->gather_all(&own, all.data(), sizeof own);
  found_elsewhere_ = -own.found;
  bool more = false;
  for (const Meeting& each : all) {
    found_elsewhere_ += each.found;
    more = more || each.has_slices;
    if (each.ended && !engine_.ended()) end_with(each.status, each.reason.data());
  }
  return more && !engine_.ended();
}

/// Gathers the pairs that all processes have found, each with its rows of their vectors.
template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::join() {
  if (team_ == nullptr || dense_ || interval_.counts.between() == 0) return;
  const auto count = std::ssize(found_);
  found_ = of_all(*team_, found_);
  found_elsewhere_ = 0;
  slices_ = of_all(*team_, slices_);
  proven_ = !team_->any(!proven_);
  if (!found_.empty()) {
    HostContext beside(1);
    HostContext& host = host_of(context_, beside);
    const MultiVector<T, HostSpace> own = fetch(context_, host, std::move(X_));
    X_ = heddle::place(context_, rows_of_columns<T>(*team_, host, own.view().columns(0, count),
                                                    ranges_of_all(*team_, rows_.local)));
  }
  std::array<double, 4> sums{static_cast<double>(solved_), static_cast<double>(result_.iterations),
                             static_cast<double>(products() - products_before_),
                             static_cast<double>(inverse_.columns_applied() - solves_before_)};
  team_->sum(sums);
  solved_ = static_cast<Index>(sums[0]);
  result_.iterations = static_cast<Index>(sums[1]);
  // `finish` adds those of this process.
  result_.operator_applications = static_cast<Index>(sums[2]) - (products() - products_before_);
  result_.inverse_applications =
      static_cast<Index>(sums[3]) - (inverse_.columns_applied() - solves_before_);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class SliceSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
