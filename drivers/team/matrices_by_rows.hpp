#pragma once

#include <cstdint>
#include <heddle/drivers/problem/matrix.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/matrix_market/by_parts.hpp>
#include <optional>
#include <variant>

namespace heddle::detail {

/// A matrix of which a process can get any rows without the others: one that is generated, or a
/// file that processes read by parts.
using RowSource = std::variant<GallerySpec, MatrixMarketFile>;

/// The matrices of a problem, and columns of its right-hand sides.
struct MatricesByRows {
  RowSource A{};
  std::optional<RowSource> B{};
  Index random_rhs = 0;  ///< columns uniform in (−1, 1), drawn from the seed of the request
  Index ones_rhs = 0;    ///< columns of ones, where none is random
};

/// `rows` rows, from row `first` on, of `random` columns or, if that is 0, of `ones` columns, as in
/// `MatricesByRows`.
template <Scalar T>
HostBlock<T> generated_rhs(HostContext& context, Index random, Index ones, std::uint64_t seed,
                           Index first, Index rows);

/// Whether several `processes` may get the matrices by rows, and solve with them by `request`. What
/// is asked of a whole matrix must be known without it, or be found by parts: that A is symmetric
/// and shows no null vectors, and B is positive definite. It is known of structures that are
/// positive definite, and `own_rows` looks for it in files. Specs that cannot be generated, and
/// matrices that do not fit each other, are not for rows.
bool suits_own_rows(const MatricesByRows& matrices, const Request& request, int processes);

}  // namespace heddle::detail
