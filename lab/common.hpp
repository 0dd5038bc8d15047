#pragma once

#include <cstdio>
#include <heddle/apps/input_file.hpp>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <string>

/// Functions that the programs of the lab share.
namespace heddle::lab {

inline constexpr const char* kMatrixHelp =
    "file of a matrix; -: standard input; SuiteSparse:GROUP/NAME; or a generated structure as "
    "NAME:SIZE,SIZE... or NAME:SIZE:DENSITY";

/// The matrix that an argument names. `argument`: as messages call it.
template <Scalar T = double>
HostCsrMatrix<T> load(HostContext& context, const std::string& name, const char* argument) {
  return apps::read_input(name, argument, [&context](const std::filesystem::path& path) {
    return detail::load_matrix<T>(context, path.string());
  });
}

/// Prints `text`, or `json` if `where` is "-". Any other `where` is a file for `json`.
inline void give(const std::string& where, const std::string& text, const std::string& json) {
  std::fputs(where == "-" ? json.c_str() : text.c_str(), stdout);
  if (!where.empty() && where != "-") apps::write_text(where, json);
}

}  // namespace heddle::lab
