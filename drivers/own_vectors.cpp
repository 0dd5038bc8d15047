#include <heddle/drivers/order.hpp>
#include <heddle/drivers/own_vectors.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <memory>

namespace heddle::detail {
namespace {

const HostVectors& side_of(const OwnVectors& own, VectorSide side) {
  return side == VectorSide::right ? own.right : own.left;
}

const RowRanges& rows_of(const OwnVectors& own, VectorSide side) {
  return side == VectorSide::right ? own.right_rows : own.left_rows;
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
      send_order(processes, {.duty = Order::Duty::vectors, .part = {side, window}});
      gather_part(processes, X.view(), rows_of(own, side), own.row_numbers, window, part->view());
    });
    return std::as_const(*part).view();
  };
  return {rows_of(own, side).rows(), count, std::move(take)};
}

}  // namespace

void send_part(Processes& processes, const OwnVectors& own, const VectorPart& asked) {
  std::visit(
      [&](const auto& X) {
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
