#pragma once

#include <cstdint>
#include <filesystem>
#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <heddle/drivers/team/vector_part.hpp>
#include <heddle/linalg/data/block_source.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <optional>
#include <variant>

/// Calls of process 0 to the other processes before and after a solve.
namespace heddle::detail {

/// Matrices that processes may get without the whole of them, and columns of right-hand sides.
struct NamedMatrices {
  /// A matrix that is generated, or the file of one.
  using Source = std::variant<GallerySpec, std::filesystem::path>;

  Source A{};
  std::optional<Source> B{};
  Index random_rhs = 0;  ///< columns uniform in (−1, 1), drawn from the seed of the request
  Index ones_rhs = 0;    ///< columns of ones, where none is random
};

/// The problem of `matrices` with the rows that each process of `device` makes or reads itself.
/// They are kept for one solve, the next that process 0 does. None if process 0 needs the whole: of
/// one process, where a distribution by METIS is asked for or may be better, and for matrices of
/// which not all that a solve must know is known, or can be found by parts, see `own_rows`. Called
/// by process 0.
std::optional<Problem> own_rows_of(Device& device, const NamedMatrices& matrices,
                                   const Request& request);

/// `rows` rows, from row `first` on, of right-hand sides as in `NamedMatrices`.
template <Scalar T>
HostBlock<T> generated_rhs(HostContext& context, Index random, Index ones, std::uint64_t seed,
                           Index first, Index rows);

/// Vectors that are taken part by part.
using VectorSource =
    std::variant<BlockSource<double>, BlockSource<float>, BlockSource<std::complex<double>>>;

/// The leading `count` vectors, or left vectors, of `solution` in the order of the problem, for
/// process 0. Each part that is taken calls the other processes of `device`, which then do nothing
/// but wait for commands. All processes write rows to one file at once, if all of them find it.
/// `device` and `solution` must outlive the result.
VectorSource vectors_of(Device& device, const Solution& solution, VectorSide side, Index count);

}  // namespace heddle::detail
