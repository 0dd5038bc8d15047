#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/triangular/row_flags.hpp>

namespace heddle::detail::cuda {

RowFlags::RowFlags(CudaContext& context, Index rows)
    : memory_(context, static_cast<std::size_t>(rows) + 1) {
  clear(context);
}

RowSignals RowFlags::next(CudaContext& context, unsigned blocks) {
  if (++epoch_ == 0) {  // otherwise flags from 2³² launches ago would count as current
    clear(context);
    epoch_ = 1;
  }
  std::uint32_t* tickets = memory_.data() + memory_.size() - 1;
  const RowSignals signals{memory_.data(), tickets, tickets_taken_, epoch_};
  tickets_taken_ += blocks;
  return signals;
}

void RowFlags::clear(CudaContext& context) {
  check(
      cudaMemsetAsync(memory_.data(), 0, memory_.size() * sizeof(std::uint32_t), context.stream()));
  tickets_taken_ = 0;
}

}  // namespace heddle::detail::cuda
