#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_select.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/row_split/long_rows.hpp>
#include <heddle/spmm/kernels/cuda/upload.hpp>
#include <vector>

namespace heddle::detail::cuda {
namespace {

struct RowRange {
  std::int64_t begin;
  std::int64_t entries;
  std::int64_t row;
};

struct RangeOfRow {
  const std::int64_t* offsets;
  __device__ RowRange operator()(std::int64_t row) const {
    return {offsets[row], offsets[row + 1] - offsets[row], row};
  }
};

struct IsLong {
  std::int64_t limit;
  __device__ bool operator()(const RowRange& range) const { return range.entries > limit; }
};

/// The rows with more than `limit` entries, in order.
template <class T>
std::vector<RowRange> find_long_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                     Index limit) {
  const auto most = static_cast<std::size_t>(A.nnz / (limit + 1));
  Buffer<RowRange, DeviceSpace> found(context, std::max<std::size_t>(most, 1));
  Buffer<std::int64_t, DeviceSpace> count(context, 1);
  const auto ranges = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0),
                                                      RangeOfRow{A.row_offsets});
  const auto select = [&](void* scratch, std::size_t& bytes) {
    check(cub::DeviceSelect::If(scratch, bytes, ranges, found.data(), count.data(), A.rows,
                                IsLong{limit}, context.stream()));
  };
  std::size_t bytes = 0;
  select(nullptr, bytes);
  Buffer<char, DeviceSpace> scratch(context, std::max<std::size_t>(bytes, 1));
  select(scratch.data(), bytes);
  std::int64_t rows = 0;
  context.copy_to_host(&rows, count.data(), sizeof rows);
  std::vector<RowRange> result(static_cast<std::size_t>(rows));
  if (rows > 0) context.copy_to_host(result.data(), found.data(), result.size() * sizeof(RowRange));
  return result;
}

}  // namespace

template <class T>
LongRows::LongRows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index limit,
                   Index length)
    : limit_(static_cast<int>(limit)) {
  std::vector<RowSegment> segments;
  std::vector<SplitRow> split_rows;
  for (const RowRange& range : find_long_rows(context, A, limit)) {
    const Index count = (range.entries + length - 1) / length;
    if (count > 1) split_rows.push_back({range.row, parts_, parts_ + count});
    const auto place = [&](Index s) { return range.entries * s / count; };
    for (Index s = 0; s < count; ++s) {
      const Index target = count == 1 ? range.row : -1 - parts_++;
      segments.push_back({range.begin + place(s),
                          static_cast<std::int32_t>(place(s + 1) - place(s)),
                          static_cast<std::int32_t>(target)});
    }
  }
  segments_ = upload(context, segments);
  split_rows_ = upload(context, split_rows);
}

#define HEDDLE_INSTANTIATE(T) \
  template LongRows::LongRows(CudaContext&, const CsrView<T, DeviceSpace>&, Index, Index);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
