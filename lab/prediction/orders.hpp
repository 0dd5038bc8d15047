#pragma once

#include <heddle/spmm/reorder/row_order.hpp>
#include <string>
#include <vector>

/// The part of spmm_prediction's report on orders of rows and columns.
namespace heddle::lab {

/// The predicted gain of a row order where one device multiplies one width.
struct OrderValue {
  Index N = 0;
  bool on_gpu = false;
  double seconds = 0;   ///< of a product
  bool kept = false;    ///< by a solve of `OrderReport::kProducts` products
  double products = 0;  ///< after which the ordering is repaid. 0: never
};

struct OrderLine {
  RowOrder order = RowOrder::none;
  double found_seconds = 0;  ///< to find it, measured
  double order_seconds = 0;  ///< to find it and to permute A, predicted
  std::string failure{};     ///< why there is none, else empty
  std::vector<OrderValue> values{};
};

struct OrderReport {
  static constexpr double kProducts = 150;
  std::vector<OrderLine> lines;  ///< A's own order first
  std::string chosen;            ///< by `spmm.reorder: auto` on the host for the first width
};

/// Finds all orders of A that there are and predicts products in double precision, on this host and
/// on an NVIDIA H200.
OrderReport inspect_orders(HostContext& context, const RowPattern& A,
                           const std::vector<Index>& widths);

/// The report as a table that begins with an empty line.
std::string to_text(const OrderReport& report);

}  // namespace heddle::lab
