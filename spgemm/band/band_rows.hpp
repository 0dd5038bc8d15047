#pragma once

#include <heddle/linalg/base/isa.hpp>
#include <heddle/spgemm/band/schedule.hpp>

namespace heddle::detail {

/// Rows first … last − 1 of all diagonals of C, by one thread. See linalg/base/isa.hpp.
template <Isa kIsaOf, Scalar T>
void multiply_band_rows(const BandProduct<T>& product, Index first, Index last) noexcept;

}  // namespace heddle::detail
