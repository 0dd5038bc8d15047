#pragma once

#include <heddle/linalg/edge_list/edge_list.hpp>

#include "fuzz/property.hpp"

namespace heddle::test {

/// What the reader of edge lists gets wrong about `text`, whatever it is; empty if nothing.
inline std::string edge_list_fault(std::string_view text) {
  HostContext context(1);
  const std::string fault = refusal_fault(text, [&] {
    const auto A = parse_edge_list<double>(context, text, "fuzz");
    if (A.rows() != A.cols() || A.rows() == 0) return std::string("the graph has no vertices");
    return matrix_fault(A.view());
  });
  if (!fault.empty()) return fault;
  return refusal_fault(text, [&] {
    const auto A = parse_edge_list<double>(context, text, "fuzz", FirstLine::sizes);
    return matrix_fault(A.view());
  });
}

}  // namespace heddle::test
