#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/features/node_size.hpp>

namespace heddle::detail::cuda {

/// How panels are divided for nodes of b rows. A is a matrix of b×b blocks, each of which belongs
/// to a node row and a node column.
template <int b>
struct NodeShape {
  static_assert(b >= kSmallestNode && b <= kLargestNode);
  /// A panel has up to 24 rows, three times the height of the tensor cores' operand.
  static constexpr int kPanelTiles = 3;
  static constexpr int kPanelNodes = 8 * kPanelTiles / b;
  /// The columns of a group are a multiple of 4, the width of that operand.
  static constexpr int kGroupNodes = b % 2 == 0 ? 2 : 4;
  static constexpr int kGroupTiles = kGroupNodes * b / 4;
  static_assert(kGroupNodes * b % 4 == 0);
  static_assert(kPanelNodes * kGroupNodes <= 32, "a group's blocks are bits of a word");

  /// The bit of the block in which row 8·tile + lane/4, column 4·step + lane%4 of a group lies, 0
  /// for a row that belongs to no node.
  static constexpr std::uint32_t block_bit(int tile, int step, int lane) {
    const int node = (8 * tile + lane / 4) / b;
    const int column = (4 * step + lane % 4) / b;
    return node < kPanelNodes ? 1u << (column * kPanelNodes + node) : 0u;
  }
};

/// The blocks of a group.
struct NodeGroup {
  std::uint32_t present;      ///< bit c·kPanelNodes + r: panel's node r has a block in column c
  std::uint32_t first_block;  ///< index of the group's first block, counted from the panel's first
};

/// The arguments of `node_block` that represent A.
template <class T>
struct NodePanelsView {
  Index count = 0;                     ///< panels
  Index nodes = 0;                     ///< node rows
  const std::int32_t* order = nullptr; ///< node rows by panels; null: panels of consecutive ones
  const Index* group_begin = nullptr;  ///< panel p has groups group_begin[p] … [p + 1] − 1
  const Index* block_begin = nullptr;  ///< and blocks from block_begin[p] on
  const NodeGroup* groups = nullptr;
  const std::int32_t* columns = nullptr;  ///< node columns, kGroupNodes per group
  const T* values = nullptr;              ///< b² per block, by tiles of 8 x 4 of the group
};

/// A in panels of neighbouring node rows. The distinct node columns of a panel, ascending, are
/// divided into groups. A group's blocks follow each other, column by column, and are stored whole:
/// entries that A does not store are zeros. The last node may lie partly outside of A.
template <class T>
class NodePanels {
 public:
  /// Builds the panels of b×b blocks on the device and waits for their number. Throws
  /// `OutOfMemory`, and `InvalidArgument` if a panel has 2³² blocks.
  NodePanels(CudaContext& context, const CsrView<T, DeviceSpace>& A, int b);

  const NodePanelsView<T>& view() const noexcept { return view_; }
  int node_size() const noexcept { return b_; }
  Index blocks() const noexcept { return blocks_; }
  Index groups() const noexcept { return groups_count_; }

 private:
  template <int b>
  void build(CudaContext& context, const CsrView<T, DeviceSpace>& A);

  int b_;
  Index blocks_ = 0;
  Index groups_count_ = 0;
  Buffer<std::int32_t, DeviceSpace> order_;
  Buffer<Index, DeviceSpace> group_begin_;
  Buffer<Index, DeviceSpace> block_begin_;
  Buffer<NodeGroup, DeviceSpace> groups_;
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<T, DeviceSpace> values_;
  NodePanelsView<T> view_;
};

}  // namespace heddle::detail::cuda
