#pragma once

#include <heddle/spmm/reorder/block_order.hpp>
#include <string>
#include <vector>

/// The part of spmm_prediction's report on the blocks that tensor cores would multiply.
namespace heddle::lab {

/// A matrix in blocks of one shape and one order.
struct BlockLine {
  Reordering order = Reordering::none;
  BlockCounts counts;
  double seconds = 0;     ///< to find the order
  double predicted = 0;   ///< seconds of a product with `BlockReport::kColumns` columns
  bool kept = false;      ///< the fastest of its shape
  double half_bytes = 0;  ///< per entry of A, in block CSR
  double tf32_bytes = 0;  ///< likewise
};

/// A matrix in column-compacted panels of 16 rows.
struct PanelLine {
  Reordering order = Reordering::none;
  BlockCounts columns;    ///< distinct columns per panel
  double half_bytes = 0;  ///< per entry of A, in groups of 8 columns
  double tf32_bytes = 0;
};

struct BlockReport {
  static constexpr Index kColumns = 8;  ///< of B in the predictions, as in SMaT's experiments
  std::vector<BlockLine> blocks;  ///< 16×8, then 16×16; each in the natural order and both others
  std::vector<PanelLine> panels;  ///< in the natural order and with clustered rows
};

/// Counts the blocks of A, clusters its rows and columns, and counts again. Predicts for an NVIDIA
/// H200 in half precision.
BlockReport inspect_blocks(HostContext& context, const RowPattern& A);

/// The report as a table that begins with an empty line.
std::string to_text(const BlockReport& report);

}  // namespace heddle::lab
