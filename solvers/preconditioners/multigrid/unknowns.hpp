#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle::detail {

/// The unknowns per node of a discretisation, from the pattern of A: the largest b = 2 … 6 for
/// which A consists of full b×b blocks in at least 19 of 20 rows. In such a row's node, all b rows
/// have equal columns, and these are whole nodes. 1 if there is no such b.
Index unknowns_per_node(CsrView<double, HostSpace> A);

}  // namespace heddle::detail
