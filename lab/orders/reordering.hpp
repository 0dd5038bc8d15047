#pragma once

#include <heddle/linalg/edge_list/edge_list.hpp>
#include <heddle/spmm/reorder/row_order.hpp>
#include <string>
#include <vector>

/// Times of products with a matrix in other orders of its rows and columns.
namespace heddle::lab {

struct ReorderingOptions {
  std::string matrix;
  FirstLine first_line = FirstLine::automatic;
  std::vector<RowOrder> orders;  ///< by name
  bool all = true;               ///< also all others that the matrix has
  Index columns = 16;            ///< of B
  double products = 150;         ///< that an order must pay within
  bool shuffled = false;         ///< rows and columns of the matrix at random first
  int threads = 0;               ///< of the host; 0: by the machine
  bool on_gpu = false;
};

/// A product in one order, in double precision.
struct ReorderingLine {
  RowOrder order = RowOrder::none;
  double found_seconds = 0;      ///< to find the order
  double permuted_seconds = 0;   ///< to permute A
  double predicted_seconds = 0;  ///< of a product
  double seconds = 0;            ///< of a product, measured
  bool kept = false;             ///< by the model
  bool pays = false;             ///< by what was measured
};

/// An order that `ReorderingOptions::all` left out.
struct OrderLeftOut {
  RowOrder order = RowOrder::none;
  std::string reason;  ///< as `no_row_order_reason` gives it
};

struct ReorderingReport {
  std::string device;
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  Index columns = 0;
  double products = 0;
  double unshuffled_seconds = 0;      ///< of a product before the matrix was shuffled, else 0
  std::vector<ReorderingLine> lines;  ///< A's own order first
  std::vector<OrderLeftOut> left_out;
};

/// Orders the matrix, of one that is not square the rows alone, and times products. Throws
/// `InvalidArgument` as `order_rows` does for orders asked for by name, `InputError` for files,
/// `DeviceError` if a GPU is asked for and cannot be used.
ReorderingReport time_orders(const ReorderingOptions& options);

std::string to_text(const ReorderingReport& report);
std::string to_json(const ReorderingReport& report);

}  // namespace heddle::lab
