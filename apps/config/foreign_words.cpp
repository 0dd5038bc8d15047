#include <algorithm>
#include <array>
#include <cctype>
#include <heddle/apps/config/foreign_words.hpp>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

/// Words of other programs (SciPy, ARPACK, SLEPc, PETSc, MATLAB, PRIMME, Trilinos) for the values
/// of a key, simplified, and what they mean here.
struct ForeignWords {
  std::string_view path;
  std::vector<std::string_view> words;
  std::string_view meaning;
};

const std::vector<ForeignWords>& table() {
  static const std::vector<ForeignWords> words = {
      {"device", {"gpu", "nvidia", "cuda0", "gpu0", "cudadevice", "device"}, "'cuda'"},
      {"device", {"cpu", "openmp", "omp", "reference", "none", "serial"}, "'host'"},
      {"precision", {"float64", "fp64", "f64", "real64", "float8", "d"}, "'double'"},
      {"precision", {"float32", "fp32", "f32", "real32", "float", "s"}, "'single'"},
      {"solver.type",
       {"krylovschur", "lanczos", "arnoldi", "arpack", "eigsh", "eigs", "svds", "trlan", "irl"},
       "'block_lanczos'"},
      {"solver.type", {"cg", "pcg", "blockcg", "kspcg", "conjugategradient"}, "'block_cg'"},
      {"solver.which",
       {"sa", "sr", "smallestreal", "smallestalgebraic", "lowest", "bottom", "min", "low"},
       "'smallest'"},
      {"solver.which",
       {"la", "lr", "largestreal", "largestalgebraic", "highest", "top", "max", "high"},
       "'largest'"},
      {"solver.which",
       {"sm", "smallestmagnitude", "smallestabs"},
       "'smallest', those of least value, which are those of least magnitude where A is positive "
       "definite; else 'nearest', with solver.sigma: 0, in heddle-lanczos"},
      {"solver.which",
       {"lm", "largestmagnitude", "largestabs"},
       "'largest', those of largest value, which are those of largest magnitude where A is "
       "positive "
       "definite"},
      {"solver.which",
       {"tm", "tr", "targetmagnitude", "targetreal", "closest", "target", "near", "inside",
        "sigma"},
       "'nearest', with solver.sigma: s, in heddle-lanczos"},
      {"solver.which",
       {"all", "range", "window", "be"},
       "'interval', with solver.interval: [a, b], in heddle-lanczos"},
      {"solver.criterion", {"rel", "eig", "eigrel", "rtol"}, "'relative'"},
      {"solver.criterion", {"abs", "atol"}, "'absolute'"},
      {"solver.filter",
       {"sinvert", "shiftinvert", "shiftandinvert", "inverted", "factor", "cholesky"},
       "'inverse'"},
      {"solver.filter", {"poly", "polynomial", "filter", "cheb"}, "'chebyshev'"},
      {"solver.preconditioner.type",
       {"diag", "diagonal", "pcjacobi", "pointjacobi", "scaling"},
       "'jacobi'"},
      {"solver.preconditioner.type",
       {"ic", "icc", "ic0", "ichol", "ilu", "ilu0", "ict", "ilut", "cholesky"},
       "'incomplete_cholesky'"},
      {"solver.preconditioner.type",
       {"amg", "gamg", "mg", "boomeramg", "hypre", "ml", "pyamg", "amgx", "sa",
        "smoothedaggregation"},
       "'multigrid'"},
      {"solver.preconditioner.type", {"bjacobi", "blockdiagonal", "bdiag"}, "'block_jacobi'"},
      {"solver.preconditioner.type", {"poly", "polynomial", "cheby", "cheb"}, "'chebyshev'"},
      {"solver.preconditioner.type", {"identity", "off", "no", "false"}, "'none'"},
      {"problem.transform", {"graphlaplacian", "lap", "l"}, "'laplacian'"},
      {"problem.transform",
       {"normalized", "normalizedlaplacian", "normlaplacian", "symmetriclaplacian"},
       "'normalized_laplacian'"},
      {"problem.transform", {"svd", "ata", "cross", "gram", "normal"}, "'normal_equations'"}};
  return words;
}

/// Keys that are switched on and off.
constexpr std::array<std::string_view, 3> kSwitches = {"output.history", "output.eigenvectors",
                                                       "output.solution"};

std::string_view meaning_of_switch(std::string_view path, const std::string& word) {
  if (std::find(kSwitches.begin(), kSwitches.end(), path) == kSwitches.end()) return "";
  if (word == "yes" || word == "on" || word == "1" || word == "true") return "'true'";
  if (word == "no" || word == "off" || word == "0" || word == "false") return "'false'";
  return "";
}

}  // namespace

std::string simplified(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) result.push_back(static_cast<char>(std::tolower(byte)));
  }
  return result;
}

std::string_view meaning_of_foreign_word(std::string_view path, std::string_view value) {
  const std::string word = simplified(value);
  for (const ForeignWords& row : table()) {
    const bool known = std::find(row.words.begin(), row.words.end(), word) != row.words.end();
    if (row.path == path && known) return row.meaning;
  }
  return meaning_of_switch(path, word);
}

}  // namespace heddle::apps
