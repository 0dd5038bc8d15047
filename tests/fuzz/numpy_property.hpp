#pragma once

#include <cstdint>
#include <heddle/linalg/numpy/npy.hpp>
#include <heddle/linalg/numpy/npz.hpp>
#include <heddle/linalg/numpy/sparse_arrays.hpp>
#include <heddle/linalg/numpy/zip_archive.hpp>

#include "fuzz/property.hpp"

namespace heddle::test {

/// Whether a matrix of this shape takes a fuzzer's memory and time without teaching it a thing.
inline bool is_much(Index rows, Index cols) {
  constexpr Index kMost = 1 << 20;
  if (rows > kMost || cols > kMost) return true;
  return rows > 0 && cols > 0 && rows * cols > kMost;
}

/// Whether the shape in an array "shape" of a sparse matrix is much.
inline bool claims_much(const detail::NpyArray& shape) {
  if (shape.size() != 2 || shape.kind != detail::NpyKind::integer) return false;
  bool much = false;
  detail::with_integers(shape, [&](auto load) {
    much = is_much(static_cast<Index>(load(0)), static_cast<Index>(load(1)));
  });
  return much;
}

/// The readers of .npy files on any bytes.
inline std::string npy_fault(HostContext& context, std::string_view bytes) {
  return refusal_fault(bytes, [&] {
    const detail::NpyArray array = detail::parse_npy_array(bytes, "fuzz");
    if (!array.shape.empty() && is_much(array.shape.front(), array.shape.back())) {
      return std::string();
    }
    const auto A = parse_npy<std::complex<double>>(context, bytes, "fuzz");
    const auto X = parse_npy_block<double>(context, bytes, "fuzz");
    const std::string fault = matrix_fault(A.view());
    return fault.empty() ? block_fault<double>(X.view()) : fault;
  });
}

/// The readers of .npz files on any bytes.
inline std::string npz_fault(HostContext& context, std::string_view bytes) {
  return refusal_fault(bytes, [&] {
    const detail::ZipArchive archive(bytes, "fuzz");
    const auto* shape = archive.find("shape.npy");
    if (shape != nullptr) {
      const auto content = archive.extract(context, *shape);
      if (claims_much(detail::parse_npy_array({content.data(), content.size()}, "fuzz"))) {
        return std::string();
      }
    }
    const auto A = parse_npz<float>(context, bytes, "fuzz");
    const auto X = parse_npz_block<float>(context, bytes, "fuzz");
    const std::string fault = matrix_fault(A.view());
    return fault.empty() ? block_fault<float>(X.view()) : fault;
  });
}

/// The arrays of a sparse matrix, each after its length in two bytes. An archive's checksums keep
/// a fuzzer from them.
inline std::string sparse_arrays_fault(HostContext& context, std::string_view bytes) {
  return refusal_fault(bytes, [&] {
    detail::SparseArrays arrays;
    for (const std::string_view name : detail::kSparseArrayNames) {
      if (bytes.size() < 2) break;
      const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(bytes[k]); };
      const std::size_t length = std::size_t{byte(0)} + 256 * std::size_t{byte(1)};
      const std::string_view content = bytes.substr(2, length);
      bytes.remove_prefix(2 + content.size());
      if (content.empty()) continue;
      arrays.emplace(name, detail::parse_npy_array(content, "fuzz"));
    }
    const auto shape = arrays.find("shape");
    if (shape != arrays.end() && claims_much(shape->second)) return std::string();
    const auto A = detail::assemble_sparse_arrays<std::complex<double>>(context, arrays, "fuzz");
    return matrix_fault(A.view());
  });
}

/// What the readers of NumPy's files get wrong about `bytes`, whatever they are; empty if nothing.
inline std::string numpy_fault(std::string_view bytes) {
  HostContext context(1);
  for (const auto& fault : {npy_fault(context, bytes), npz_fault(context, bytes),
                            sparse_arrays_fault(context, bytes)}) {
    if (!fault.empty()) return fault;
  }
  return {};
}

}  // namespace heddle::test
