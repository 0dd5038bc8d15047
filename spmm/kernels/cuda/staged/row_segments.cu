#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_segments.hpp>
#include <heddle/spmm/kernels/cuda/upload.hpp>
#include <vector>

namespace heddle::detail::cuda {
template <class T>
RowSegments::RowSegments(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index length) {
  std::vector<std::int64_t> whole(static_cast<std::size_t>(A.rows + 1));
  context.copy_to_host(whole.data(), A.row_offsets, whole.size() * sizeof(std::int64_t));
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> targets;
  std::vector<SplitRow> split_rows;
  offsets.reserve(whole.size());
  targets.reserve(whole.size());
  for (Index row = 0; row < A.rows; ++row) {
    const Index end = whole[static_cast<std::size_t>(row + 1)];
    const Index entries = end - offsets.back();
    const Index segments = std::max<Index>(1, (entries + length - 1) / length);
    if (segments > 1) split_rows.push_back({row, parts_, parts_ + segments});
    for (Index segment = 1; segment <= segments; ++segment) {
      targets.push_back(static_cast<std::int32_t>(segments == 1 ? row : -2 - parts_++));
      offsets.push_back(segment == segments ? end : offsets.back() + length);
    }
  }
  row_offsets_ = upload(context, offsets);
  targets_ = upload(context, targets);
  split_rows_ = upload(context, split_rows);
}

#define HEDDLE_INSTANTIATE(T) \
  template RowSegments::RowSegments(CudaContext&, const CsrView<T, DeviceSpace>&, Index);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
