#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/host/row_split/gathered_values.hpp>
#include <heddle/spmm/kernels/host/row_split/row_split.hpp>
#include <heddle/spmm/transpose/indexed_transpose_host.hpp>

namespace heddle::detail {

template <Scalar T>
IndexedTranspose<T>::IndexedTranspose(HostContext& context, const CsrView<T, HostSpace>& A)
    : pattern_(transposed_pattern(context, A)),
      At_(pattern_.view(A)),
      schedule_(schedule_rows(At_)),
      partials_(context, schedule_.segments.size() * static_cast<std::size_t>(kMaxStripe<T>)) {}

template <Scalar T>
void IndexedTranspose<T>::multiply(HostContext& context, T alpha,
                                   const ConstBlockView<T, HostSpace>& B, T beta,
                                   const BlockView<T, HostSpace>& C) {
  const GatheredValues<T> values{At_.values, pattern_.positions.data()};
  row_split(At_, values, schedule_, partials_.data(), context.threads(), alpha, B, beta, C);
}

#define HEDDLE_INSTANTIATE(T) template class IndexedTranspose<T>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
