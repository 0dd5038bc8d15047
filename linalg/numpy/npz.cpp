#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/files/checks.hpp>
#include <heddle/linalg/files/words.hpp>
#include <heddle/linalg/numpy/npz.hpp>
#include <heddle/linalg/numpy/sparse_arrays.hpp>
#include <heddle/linalg/numpy/zip_archive.hpp>
#include <vector>

namespace heddle {
namespace {

/// Throws, because an archive without an array "format" is not from save_npz.
[[noreturn]] void refuse_archive(const detail::ZipArchive& archive, std::string_view name) {
  constexpr std::size_t kMostNames = 5;
  std::vector<std::string> names;
  for (const auto& member : archive.members()) {
    if (names.size() == kMostNames) break;
    names.push_back(detail::quoted(member.name));
  }
  const bool more = archive.members().size() > kMostNames;
  throw InputError(
      std::string(name), 0,
      fmt::format("holds no sparse matrix as scipy.sparse.save_npz writes it, but {}{}; dense "
                  "arrays are read from .npy files",
                  names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")),
                  more ? ", …" : ""));
}

}  // namespace

bool detail::is_complex_npz(std::string_view bytes) {
  constexpr std::size_t kMostOfHeader = 1 << 20;
  try {
    const ZipArchive archive(bytes, {});
    const auto* const member = archive.find("data.npy");
    if (member == nullptr) return false;
    HostContext context(1);
    const auto beginning = archive.extract_beginning(context, *member, kMostOfHeader);
    return begins_complex_npy({beginning.data(), beginning.size()});
  } catch (const InputError&) {
    return false;
  }
}

template <Scalar T>
HostCsrMatrix<T> parse_npz(HostContext& context, std::string_view bytes, std::string_view name) {
  const detail::ZipArchive archive(bytes, name);
  if (archive.find("format.npy") == nullptr) refuse_archive(archive, name);
  std::vector<Buffer<char, HostSpace>> contents;
  detail::SparseArrays arrays;
  for (const std::string_view array : detail::kSparseArrayNames) {
    const std::string member_name = std::string(array) + ".npy";
    const auto* member = archive.find(member_name);
    if (member == nullptr) continue;
    const auto& content = contents.emplace_back(archive.extract(context, *member));
    arrays.emplace(array, detail::parse_npy_array({content.data(), content.size()},
                                                  std::string(name) + "(" + member_name + ")"));
  }
  return detail::assemble_sparse_arrays<T>(context, arrays, name);
}

template <Scalar T>
MultiVector<T, HostSpace> parse_npz_block(HostContext& context, std::string_view bytes,
                                          std::string_view name) {
  const HostCsrMatrix<T> matrix = parse_npz<T>(context, bytes, name);
  const CsrView<T, HostSpace> A = matrix.view();
  const Index cells = A.rows * padded_ld<T, HostSpace>(A.cols);
  if (!detail::is_plausible(cells, A.nnz)) {
    throw InputError(std::string(name), 0,
                     fmt::format("as a dense block, {} rows and {} columns take {} places for only "
                                 "{} entries",
                                 A.rows, A.cols, cells, A.nnz));
  }
  MultiVector<T, HostSpace> block(context, A.rows, A.cols);
  const BlockView<T, HostSpace> X = block.view();
  std::fill_n(X.data(), cells, T{0});
  for (Index i = 0; i < A.rows; ++i) {
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      X(i, A.columns[k]) = A.values[k];
    }
  }
  return block;
}

#define HEDDLE_INSTANTIATE(T)                                                            \
  template HostCsrMatrix<T> parse_npz(HostContext&, std::string_view, std::string_view); \
  template MultiVector<T, HostSpace> parse_npz_block(HostContext&, std::string_view,     \
                                                     std::string_view);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
