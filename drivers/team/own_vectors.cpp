#include <heddle/drivers/team/own_vectors.hpp>
#include <heddle/linalg/base/shared_file.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <memory>
#include <span>
#include <utility>

namespace heddle::detail {
const HostVectors& side_of(const OwnVectors& own, VectorSide side) {
  return side == VectorSide::right ? own.right : own.left;
}

const RowRanges& rows_of(const OwnVectors& own, VectorSide side) {
  return side == VectorSide::right ? own.right_rows : own.left_rows;
}

template <Scalar T>
bool write_own_rows(Processes& processes, const OwnVectors& own, const HostBlock<T>& X,
                    const VectorPart& asked) {
  const Index first_row = rows_of(own, asked.side).of(processes.rank()).first;
  const std::size_t row_bytes = static_cast<std::size_t>(asked.window.columns) * sizeof(T);
  const auto number = [&](Index i) -> Index {
    return own.row_numbers.empty() ? first_row + i : own.row_numbers[static_cast<std::size_t>(i)];
  };
  SharedFile file(asked.file, asked.file_number);
  std::vector<T> run;  // of rows with consecutive numbers
  constexpr std::size_t kRunBytes = 1 << 20;
  for (Index i = 0, begin = 0; i < X.rows(); ++i) {
    const T* const row = X.view().data() + i * X.view().ld() + asked.window.first_column;
    run.insert(run.end(), row, row + asked.window.columns);
    const bool ends = i + 1 == X.rows() || number(i + 1) != number(i) + 1;
    if (!ends && run.size() * sizeof(T) < kRunBytes) continue;
    file.write(asked.offset + static_cast<std::size_t>(number(begin)) * row_bytes,
               std::as_bytes(std::span<const T>(run)));
    run.clear();
    begin = i + 1;
  }
  return !processes.any(!file.close());
}

void send_part(Processes& processes, const OwnVectors& own, const VectorPart& asked) {
  std::visit(
      [&](const auto& X) {
        if (!asked.file.empty()) {
          write_own_rows(processes, own, X, asked);
          return;
        }
        gather_part(processes, X.view(), rows_of(own, asked.side), own.row_numbers, asked.window,
                    {});
      },
      side_of(own, asked.side));
}

#define HEDDLE_INSTANTIATE(T)                                                      \
  template bool write_own_rows(Processes&, const OwnVectors&, const HostBlock<T>&, \
                               const VectorPart&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
