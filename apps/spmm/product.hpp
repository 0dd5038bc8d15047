#pragma once

#include <heddle/linalg/edge_list/edge_list.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <string>
#include <vector>

/// The product C = A B of heddle-spmm.
namespace heddle::apps {

struct SpmmProductOptions {
  std::string matrix;
  FirstLine first_line = FirstLine::automatic;
  std::string block;  ///< a file with B. Empty: a random B of `columns` columns
  Index columns = 0;
  std::string output;  ///< a file for C, .npy or .mtx. Empty: none
  ProductPrecision precision = ProductPrecision::double_precision;
  std::string kernel = "auto";  ///< of the table of the precision
  RangeScaling scaling = RangeScaling::powers_of_two;
  bool check = true;  ///< compare with the exact product
  int threads = 0;    ///< of the host; 0: by the machine
  bool on_gpu = false;
  bool fastest_order = false;  ///< on a GPU: rows and columns of A in the fastest order
  bool by_columns = false;     ///< B and C are stored by columns; in short types B alone
};

struct SpmmProductReport {
  std::string device;  ///< "the host", or the GPU's name
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  Index columns = 0;
  ProductPrecision precision = ProductPrecision::double_precision;
  std::string kernel;  ///< its name, and why; empty in short number types on the host
  std::string reason;
  double setup_seconds = 0;  ///< A is inspected, rounded and copied to the GPU, B is copied to it
  double seconds = 0;        ///< of the product, B's rounding and C's scaling included
  std::string order;         ///< of A's rows and columns in blocks; empty: not in blocks
  bool checked = true;
  ProductError error;
};

/// Throws `InvalidArgument` unless `path` ends in .npy or .mtx.
void check_output_name(const std::string& path);

/// Computes the product and writes C. Throws `InvalidArgument` if shapes do
/// not fit and for values that a precision cannot take, `InputError` for files, `DeviceError` if a
/// GPU is asked for and cannot be used, `Error` if a product passes its error bound.
SpmmProductReport multiply(const SpmmProductOptions& options);

std::string to_text(const SpmmProductReport& report);
std::string to_json(const SpmmProductReport& report);

}  // namespace heddle::apps
