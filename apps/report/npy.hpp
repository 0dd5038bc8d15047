#pragma once

#include <filesystem>
#include <heddle/linalg/data/views.hpp>

namespace heddle::apps {

/// Writes X as a NumPy array file: format version 1.0, C order, shape (n, b), in X's scalar type
/// and this machine's byte order. Throws `InputError` if it cannot be written. Source: NumPy
/// Enhancement Proposal 1, A Simple File Format for NumPy Arrays.
template <Scalar T>
void write_npy(const std::filesystem::path& path, ConstBlockView<T, HostSpace> X);

}  // namespace heddle::apps
