#pragma once

#include <heddle/linalg/edge_list/edge_list.hpp>

#include "fuzz/property.hpp"

namespace heddle::test {

/// A number of a vertex is a number of rows. A look at each of more rows takes longer than a fuzzer
/// waits.
inline constexpr Index kMostRows = 10'000'000;

/// The fault in a matrix that the reader made.
inline std::string graph_fault(const CsrView<double, HostSpace>& A) {
  return A.rows > kMostRows ? std::string() : matrix_fault(A);
}

/// What the reader of edge lists gets wrong about `text`, whatever it is; empty if nothing.
inline std::string edge_list_fault(std::string_view text) {
  HostContext context(1);
  const std::string fault = refusal_fault(text, [&] {
    const auto A = parse_edge_list<double>(context, text, "fuzz");
    if (A.rows() != A.cols() || A.rows() == 0) return std::string("the graph has no vertices");
    return graph_fault(A.view());
  });
  if (!fault.empty()) return fault;
  return refusal_fault(text, [&] {
    const auto A = parse_edge_list<double>(context, text, "fuzz", FirstLine::sizes);
    return graph_fault(A.view());
  });
}

}  // namespace heddle::test
