#include <dlfcn.h>
#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_libraries.hpp>
#include <string>

namespace heddle::detail {
namespace {

void* load_library(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    throw DeviceError(fmt::format(
        "{} cannot be loaded ({}): put the folder of CUDA's libraries into LD_LIBRARY_PATH", file,
        dlerror()));
  }
  return library;
}

template <class Function>
void bind_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw DeviceError(fmt::format("CUDA has no function {}", name));
}

CudaLibraries load_libraries() {
  void* const cublas = load_library(fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR));
  void* const cusolver = load_library(fmt::format("libcusolver.so.{}", CUSOLVER_VER_MAJOR));
  CudaLibraries functions{};
#define HEDDLE_TEXT(name) #name
#define HEDDLE_FROM_CUBLAS(name) bind_function(cublas, HEDDLE_TEXT(name), functions.name);
#define HEDDLE_FROM_CUSOLVER(name) bind_function(cusolver, HEDDLE_TEXT(name), functions.name);
  HEDDLE_CUBLAS_FUNCTIONS(HEDDLE_FROM_CUBLAS)
  HEDDLE_CUSOLVER_FUNCTIONS(HEDDLE_FROM_CUSOLVER)
#undef HEDDLE_FROM_CUSOLVER
#undef HEDDLE_FROM_CUBLAS
#undef HEDDLE_TEXT
  return functions;
}

}  // namespace

const CudaLibraries& cuda_libraries() {
  static const CudaLibraries libraries = load_libraries();
  return libraries;
}

}  // namespace heddle::detail
