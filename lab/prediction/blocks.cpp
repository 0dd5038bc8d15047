#include "prediction/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/model/model.hpp>
#include <heddle/spmm/reorder/block_order.hpp>
#include <iterator>
#include <utility>

namespace heddle::lab {
namespace {

constexpr BlockShape kShapes[] = {{16, 8}, {16, 16}};
constexpr Index kPanelHeight = 16;
constexpr std::size_t kGroupBytes = 32;  ///< of a row of a group of columns

double per_entry(double bytes, Index entries) {
  return entries > 0 ? bytes / static_cast<double>(entries) : 0;
}

BlockLine block_line(BlockOrdering ordering) {
  const DeviceSpeed device;
  const bool gathered = ordering.kind == Reordering::rows_and_columns;
  BlockLine line;
  line.order = ordering.kind;
  line.seconds = ordering.seconds;
  line.counts = std::move(ordering.counts);
  const BlockShape shape = line.counts.shape;
  line.predicted = static_cast<double>(line.counts.blocks()) *
                   nominal_block_seconds(shape.height, shape.width, BlockReport::kColumns,
                                         sizeof(Half), gathered, device);
  line.half_bytes = per_entry(line.counts.block_csr_bytes(sizeof(Half)), line.counts.nnz);
  line.tf32_bytes = per_entry(line.counts.block_csr_bytes(sizeof(Tf32)), line.counts.nnz);
  return line;
}

PanelLine panel_line(HostContext& context, const RowPattern& A, Reordering kind) {
  PanelLine line;
  line.order = kind;
  BlockOrder order;
  if (kind != Reordering::none) order.rows = cluster_rows(context, A, {kPanelHeight, 1});
  line.columns = count_blocks(context, A, {kPanelHeight, 1}, order);
  const auto bytes = [&](std::size_t value) {
    const auto width = static_cast<Index>(kGroupBytes / value);
    return per_entry(column_panel_bytes(line.columns, width, value), A.nnz);
  };
  line.half_bytes = bytes(sizeof(Half));
  line.tf32_bytes = bytes(sizeof(Tf32));
  return line;
}

/// The part of the tables that blocks and columns of panels share.
void append_distribution(fmt::memory_buffer& text, const BlockCounts& counts, double fill) {
  fmt::format_to(std::back_inserter(text), "{:>10}{:>7.3f}{:>9.2f}{:>9.2f}{:>6}{:>7}{:>7}{:>8}",
                 counts.blocks(), fill, counts.mean(), counts.deviation(), counts.quantile(0),
                 counts.quantile(.5), counts.quantile(.95), counts.quantile(1));
}

}  // namespace

BlockReport inspect_blocks(HostContext& context, const RowPattern& A) {
  constexpr Reordering kKinds[] = {Reordering::none, Reordering::rows,
                                   Reordering::rows_and_columns};
  BlockReport report;
  for (const BlockShape shape : kShapes) {
    const auto first = static_cast<std::ptrdiff_t>(report.blocks.size());
    for (const Reordering kind : kKinds) {
      report.blocks.push_back(block_line(order_for_blocks(context, A, shape, kind)));
    }
    const auto fastest =
        std::min_element(report.blocks.begin() + first, report.blocks.end(),
                         [](const auto& a, const auto& b) { return a.predicted < b.predicted; });
    fastest->kept = true;
  }
  for (const Reordering kind : {Reordering::none, Reordering::rows}) {
    report.panels.push_back(panel_line(context, A, kind));
  }
  return report;
}

std::string to_text(const BlockReport& report) {
  constexpr const char* kDistribution = "{:>10}{:>7}{:>9}{:>9}{:>6}{:>7}{:>7}{:>8}";
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "\nDense blocks for tensor cores, and their number per block row\n{:<7}{:<18}",
                 "shape", "order");
  fmt::format_to(out, kDistribution, "blocks", "fill", "mean", "dev.", "min", "median", "95 %",
                 "max");
  fmt::format_to(out, "{:>8}{:>8}{:>10}{:>11}\n", "B half", "B tf32", "found in", "us, N = 8");
  for (const BlockLine& line : report.blocks) {
    fmt::format_to(out, "{:<7}{:<18}",
                   fmt::format("{}x{}", line.counts.shape.height, line.counts.shape.width),
                   reordering_name(line.order));
    append_distribution(text, line.counts, line.counts.fill());
    fmt::format_to(out, "{:>8.2f}{:>8.2f}{:>8.2f} s{:>11.2f}{}\n", line.half_bytes, line.tf32_bytes,
                   line.seconds, 1e6 * line.predicted, line.kept ? "  kept" : "");
  }
  fmt::format_to(out,
                 "B: bytes per entry of A. us: blocks times the nominal time of one in half "
                 "precision on an NVIDIA H200\n\n"
                 "Panels of 16 rows with their distinct columns\n{:<25}",
                 "order");
  fmt::format_to(out, kDistribution, "columns", "fill", "mean", "dev.", "min", "median", "95 %",
                 "max");
  fmt::format_to(out, "{:>8}{:>8}\n", "B half", "B tf32");
  for (const PanelLine& line : report.panels) {
    fmt::format_to(out, "{:<25}", reordering_name(line.order));
    append_distribution(text, line.columns, line.columns.fill());
    fmt::format_to(out, "{:>8.2f}{:>8.2f}\n", line.half_bytes, line.tf32_bytes);
  }
  return fmt::to_string(text);
}

}  // namespace heddle::lab
