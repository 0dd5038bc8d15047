#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/host/row_split/gathered_values.hpp>
#include <heddle/spmm/kernels/host/row_split/row_split.hpp>
#include <heddle/spmm/transpose/indexed_transpose_host.hpp>

namespace heddle::detail {

template <Scalar T>
IndexedTranspose<T>::IndexedTranspose(HostContext& context, const CsrView<T, HostSpace>& A)
    : pattern_(transposed_pattern(context, A)),
      At_(pattern_.view(A)),
      schedule_(schedule_rows(context, At_)),
      partials_(context, schedule_.segments.size() * static_cast<std::size_t>(kMaxStripe<T>)) {}

template <Scalar T>
void IndexedTranspose<T>::run(HostContext& context, const SpmmProduct<T, HostSpace>& product) {
  const GatheredValues<T> values{At_.values, pattern_.positions.data()};
  SpmmProduct<T, HostSpace> transposed = product;
  transposed.A = At_;
  row_split(transposed, values, schedule_, partials_.data(), context.threads());
}

#define HEDDLE_INSTANTIATE(T) template class IndexedTranspose<T>;
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
