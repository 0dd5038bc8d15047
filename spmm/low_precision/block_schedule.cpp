#include <heddle/spmm/low_precision/low_precision_cuda.hpp>

namespace heddle {

BlockSchedule block_schedule(const std::int64_t* row_offsets, Index block_rows, Index longest) {
  BlockSchedule schedule;
  for (Index p = 0; p < block_rows; ++p) {
    const auto row = static_cast<std::int32_t>(p);
    const Index first = row_offsets[p];
    const Index count = row_offsets[p + 1] - first;
    if (count <= longest) {
      schedule.units.push_back({first, first + count, row, -1});
      continue;
    }
    const Index pieces = (count + longest - 1) / longest;
    SplitRow split{row, schedule.slots, schedule.slots};
    for (Index k = 0; k < pieces; ++k) {
      schedule.units.push_back(
          {first + count * k / pieces, first + count * (k + 1) / pieces, row, split.end_slot++});
    }
    schedule.slots = split.end_slot;
    schedule.split_rows.push_back(split);
  }
  return schedule;
}

}  // namespace heddle
