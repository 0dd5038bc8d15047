#pragma once

#include <cstdint>
#include <heddle/linalg/data/views.hpp>
#include <vector>

namespace heddle::detail {

/// Neighbouring columns of L with the same rows below them: a dense block.
struct Supernode {
  Index first = 0;  ///< its first column
  Index columns = 0;
  Index rows_begin = 0;     ///< of its rows below these columns, in `Supernodes::rows`
  Index below = 0;          ///< their number
  Index parent = -1;        ///< the supernode of the first of them. −1: there is none
  std::int64_t offset = 0;  ///< of its (columns + below)×columns values of L

  Index height() const noexcept { return columns + below; }
};

/// The structure of a factor L of P A Pᵀ. Columns whose structures nearly agree share a supernode.
/// Its columns below each other come right before those of its parent, if it is the last child.
struct Supernodes {
  std::vector<std::int32_t> order;     ///< row k of P A Pᵀ is row order[k] of A
  std::vector<std::int32_t> position;  ///< of each row of A in P A Pᵀ
  std::vector<Supernode> nodes;        ///< children before parents
  std::vector<std::int32_t> rows;      ///< below the columns of each supernode, ascending
  std::int64_t values = 0;             ///< of L, with zeros of dense blocks
  double operations = 0;               ///< multiplications of the factorisation
};

/// The structure for the symmetric matrix with this lower triangle, whose values are not read, in
/// an order with little fill: nested dissection by METIS where heddle was built with it, else
/// approximate minimum degree. Source: Davis, Direct Methods for Sparse Linear Systems, 2006,
/// chapters 4 and 7.
Supernodes find_supernodes(const CsrView<double, HostSpace>& lower);

}  // namespace heddle::detail
