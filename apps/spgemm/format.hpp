#pragma once

#include <heddle/linalg/data/views.hpp>
#include <heddle/spgemm/band.hpp>
#include <string>

/// The format in which heddle-spgemm multiplies.
namespace heddle::apps {

enum class SpgemmFormat { automatic, csr, dia };

/// The format of one product and the reason for it.
struct FormatChoice {
  bool dia = false;
  std::string reason;  ///< one line without a verb, such as "A has 7 diagonals, 98 % full"
  DiaShape A;          ///< the diagonals of the factors; empty where they were not looked for
  DiaShape B;
};

/// Compressed rows or diagonals. `automatic` takes diagonals if both factors are bands: at least
/// three quarters of their diagonals are stored entries, and all values are finite. Throws
/// `InvalidArgument` if `dia` is asked for and a factor has infinite values, or would need a
/// hundred times the memory of its entries.
template <Scalar T>
FormatChoice choose_format(HostContext& host, SpgemmFormat wanted, CsrView<T, HostSpace> A,
                           CsrView<T, HostSpace> B);

}  // namespace heddle::apps
