#pragma once

#include <filesystem>
#include <functional>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <string>
#include <vector>

namespace heddle::lab {

/// A matrix of the study.
struct StudyMatrix {
  std::string name;
  std::string kind;  ///< grid, elements, band, random, graph, uneven, permuted or real
  bool kept_aside;   ///< no constant of heddle was fitted to it
  std::function<HostCsrMatrix<double>(HostContext&)> make;
};

/// The matrices of the study. The real ones are files in `folder` ("NAME.mtx" or "NAME.mtx.gz"),
/// and those that are not there are left out. `large` adds a few with up to 57 million entries.
std::vector<StudyMatrix> study_matrices(const std::filesystem::path& folder, bool large);

}  // namespace heddle::lab
