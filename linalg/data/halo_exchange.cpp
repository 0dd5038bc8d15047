#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/halo_exchange.hpp>

namespace heddle {
namespace {

/// Grows `buffer` to `size` values.
template <class T>
void reserve(HostContext& context, Index size, Buffer<T, HostSpace>& buffer) {
  const auto needed = static_cast<std::size_t>(size);
  if (buffer.size() >= needed) return;
  buffer = {};
  buffer = Buffer<T, HostSpace>(context, needed);
}

/// One message per run, of `width` values per row, in memory from `data` on.
template <class T>
void set_messages(const std::vector<HaloLists::Run>& runs, Index width, T* data,
                  std::vector<Processes::Message>& messages) {
  messages.clear();
  for (const HaloLists::Run& run : runs) {
    const Index values = run.count * width;
    messages.push_back({run.process, data, static_cast<std::size_t>(values) * sizeof(T)});
    data += values;
  }
}

}  // namespace

template <Scalar T>
void HaloExchange<T>::begin(HostContext& context, ConstBlockView<T, HostSpace> X) {
  const PhaseScope phase(context, Phase::halo);
  width_ = X.cols();
  const auto rows = static_cast<Index>(lists_->send_rows.size());
  reserve(context, rows * width_, sent_);
  reserve(context, halo_rows_ * width_, halo_);
  const double bytes = 2 * static_cast<double>(rows * width_) * sizeof(T);
  parallel_for(team_size(context.threads(), bytes, 0), rows, [&](Index k) {
    const Index row = lists_->send_rows[static_cast<std::size_t>(k)];
    std::copy_n(X.data() + row * X.ld(), width_, sent_.data() + k * width_);
  });
  set_messages(lists_->receive, width_, halo_.data(), receive_);
  set_messages(lists_->send, width_, sent_.data(), send_);
  context.processes()->begin_exchange(receive_, send_);
  context.profile().count(bytes, 0);
}

template <Scalar T>
ConstBlockView<T, HostSpace> HaloExchange<T>::end(HostContext& context) {
  const PhaseScope phase(context, Phase::halo);
  context.processes()->end_exchange();
  return {halo_.data(), halo_rows_, width_, width_};
}

#define HEDDLE_INSTANTIATE(T) template class HaloExchange<T>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
