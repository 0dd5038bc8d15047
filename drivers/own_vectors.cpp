#include <heddle/drivers/order.hpp>
#include <heddle/drivers/own_vectors.hpp>
#include <heddle/linalg/base/shared_file.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <memory>
#include <span>
#include <utility>

namespace heddle::detail {
namespace {

const HostVectors& side_of(const OwnVectors& own, VectorSide side) {
  return side == VectorSide::right ? own.right : own.left;
}

const RowRanges& rows_of(const OwnVectors& own, VectorSide side) {
  return side == VectorSide::right ? own.right_rows : own.left_rows;
}

/// Writes own rows of the columns of `asked.window` to the file. Whether all processes have done
/// so. All call it together.
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

/// The source of process 0 for vectors of which it has the rows X.
template <Scalar T>
BlockSource<T> gathered(Device& device, const OwnVectors& own, VectorSide side,
                        const HostBlock<T>& X, Index count) {
  auto part = std::make_shared<MultiVector<T, HostSpace>>();
  auto take = [&device, &own, side, X, part](const BlockWindow& window) {
    *part = MultiVector<T, HostSpace>(device.host(), window.rows, window.columns);
    device.together([&] {
      Processes& processes = *device.team().processes();
      send_order(processes,
                 {.duty = Order::Duty::vectors, .part = {.side = side, .window = window}});
      gather_part(processes, X.view(), rows_of(own, side), own.row_numbers, window, part->view());
    });
    return std::as_const(*part).view();
  };
  const Index rows = rows_of(own, side).rows();
  BlockSource<T> source(rows, count, std::move(take));
  source.write_rows = [&device, &own, side, X, rows, count](const std::filesystem::path& path,
                                                            std::size_t offset) {
    const VectorPart asked{
        side, {0, rows, 0, count}, std::filesystem::absolute(path), file_number(path), offset};
    bool written = false;
    device.together([&] {
      Processes& processes = *device.team().processes();
      send_order(processes, {.duty = Order::Duty::vectors, .part = asked});
      written = write_own_rows(processes, own, X, asked);
    });
    return written;
  };
  return source;
}

}  // namespace

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

std::variant<BlockSource<double>, BlockSource<float>> vectors_of(Device& device,
                                                                 const Solution& solution,
                                                                 VectorSide side, Index count) {
  using Source = std::variant<BlockSource<double>, BlockSource<float>>;
  if (const OwnVectors* const own = solution.own_vectors.get()) {
    return std::visit([&](const auto& X) { return Source(gathered(device, *own, side, X, count)); },
                      side_of(*own, side));
  }
  return std::visit([&](const auto& X) { return Source(BlockSource(X.columns(0, count))); },
                    side == VectorSide::right ? solution.vectors : solution.left_vectors);
}

}  // namespace heddle::detail
