#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/halo_exchange.hpp>
#include <heddle/linalg/data/halo_rows.hpp>
#include <heddle/linalg/data/transfer.hpp>

namespace heddle {
namespace {

using Messages = std::vector<Processes::Message>;

/// Grows `buffer` to `size` values.
template <class T, class Ctx>
void reserve(Ctx& context, Index size, Buffer<T, typename Ctx::Space>& buffer) {
  const auto needed = static_cast<std::size_t>(size);
  if (buffer.size() >= needed) return;
  buffer = {};
  buffer = Buffer<T, typename Ctx::Space>(context, needed);
}

template <class Ctx>
Buffer<std::int32_t, typename Ctx::Space> place_rows(Ctx& context,
                                                     const std::vector<std::int32_t>& rows) {
  HostContext beside(1);
  Buffer<std::int32_t, HostSpace> values(host_of(context, beside), rows.size());
  std::copy(rows.begin(), rows.end(), values.data());
  return place(context, std::move(values));
}

/// One message per run, of `width` values per row, in memory from `data` on.
template <class T>
void set_messages(const std::vector<HaloLists::Run>& runs, Index width, T* data,
                  Messages& messages) {
  messages.clear();
  for (const HaloLists::Run& run : runs) {
    const Index values = run.count * width;
    messages.push_back({run.process, data, static_cast<std::size_t>(values) * sizeof(T)});
    data += values;
  }
}

/// packed(k, j) = X(rows[k], j), with all rows of `packed` one after another.
template <class T>
void pack_rows(HostContext& context, const Buffer<std::int32_t, HostSpace>& rows,
               ConstBlockView<T, HostSpace> X, T* packed) {
  const auto count = static_cast<Index>(rows.size());
  const double bytes = 2 * static_cast<double>(count * X.cols()) * sizeof(T);
  parallel_for(team_size(context.threads(), bytes, 0), count, [&](Index k) {
    const Index row = rows[static_cast<std::size_t>(k)];
    std::copy_n(X.data() + row * X.ld(), X.cols(), packed + k * X.cols());
  });
}

void begin_exchange(HostContext& context, const Messages& receive, const Messages& send) {
  context.processes()->begin_exchange(receive, send);
}
void end_exchange(HostContext& context) { context.processes()->end_exchange(); }

#ifdef HEDDLE_HAS_CUDA
void begin_exchange(CudaContext& context, const Messages& receive, const Messages& send) {
  context.begin_exchange(receive, send);
}
void end_exchange(CudaContext& context) { context.end_exchange(); }
#endif

}  // namespace

template <Scalar T, class Ctx>
HaloExchange<T, Ctx>::HaloExchange(Ctx& context, const HaloLists& lists)
    : lists_(&lists), halo_rows_(lists.halo()), send_rows_(place_rows(context, lists.send_rows)) {}

template <Scalar T, class Ctx>
void HaloExchange<T, Ctx>::prepare(Ctx& context, Index width) {
  reserve(context, static_cast<Index>(send_rows_.size()) * width, sent_);
  reserve(context, halo_rows_ * width, halo_);
}

template <Scalar T, class Ctx>
void HaloExchange<T, Ctx>::begin(Ctx& context, ConstBlockView<T, Space> X) {
  const PhaseScope phase(context, Phase::halo);
  width_ = X.cols();
  prepare(context, width_);
  pack_rows<T>(context, send_rows_, X, sent_.data());
  set_messages(lists_->receive, width_, halo_.data(), receive_);
  set_messages(lists_->send, width_, sent_.data(), send_);
  begin_exchange(context, receive_, send_);
  context.profile().count(
      2 * static_cast<double>(send_rows_.size()) * static_cast<double>(width_) * sizeof(T), 0);
}

template <Scalar T, class Ctx>
ConstBlockView<T, typename Ctx::Space> HaloExchange<T, Ctx>::end(Ctx& context) {
  const PhaseScope phase(context, Phase::halo);
  end_exchange(context);
  return {halo_.data(), halo_rows_, width_, width_};
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class HaloExchange<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
