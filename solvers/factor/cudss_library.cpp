#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/factor/cudss_library.hpp>
#include <optional>

namespace heddle::detail {
namespace {

template <class Function>
void bind(void* library, const std::string& file, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw DeviceError(fmt::format("{} has no function {}", file, name));
}

CudssFunctions functions_of(void* library, const std::string& file) {
  CudssFunctions f{};
  bind(library, file, "cudssCreate", f.create);
  bind(library, file, "cudssDestroy", f.destroy);
  bind(library, file, "cudssSetStream", f.set_stream);
  bind(library, file, "cudssSetDeviceMemHandler", f.set_memory);
  bind(library, file, "cudssConfigCreate", f.config_create);
  bind(library, file, "cudssConfigDestroy", f.config_destroy);
  bind(library, file, "cudssConfigSet", f.config_set);
  bind(library, file, "cudssDataCreate", f.data_create);
  bind(library, file, "cudssDataDestroy", f.data_destroy);
  bind(library, file, "cudssDataSet", f.data_set);
  bind(library, file, "cudssDataGet", f.data_get);
  bind(library, file, "cudssExecute", f.execute);
  bind(library, file, "cudssMatrixCreateDn", f.matrix_dense);
  bind(library, file, "cudssMatrixCreateCsr", f.matrix_csr);
  bind(library, file, "cudssMatrixDestroy", f.matrix_destroy);
  bind(library, file, "cudssGetProperty", f.property);
  bind(library, file, "cudssSetThreadingLayer", f.set_threading);
  return f;
}

/// The version, if the types and numbers of the header are those of this version.
std::string version_of(const CudssFunctions& functions, const std::string& file) {
  int major = 0, minor = 0, patch = 0;
  functions.property(kCudssMajorVersion, &major);
  functions.property(kCudssMinorVersion, &minor);
  functions.property(kCudssPatchLevel, &patch);
  const std::string version = fmt::format("{}.{}.{}", major, minor, patch);
  if (major == 1 || (major == 0 && minor >= 8)) return version;
  throw DeviceError(fmt::format("{} is cuDSS {}, heddle needs 0.8 to 1", file, version));
}

/// The first file of the layer for threads that can be loaded. It stays loaded.
std::string threading_layer() {
  for (const char* file : {"libcudss_mtlayer_gomp.so.1", "libcudss_mtlayer_gomp.so.0"}) {
    if (dlopen(file, RTLD_NOW | RTLD_LOCAL) != nullptr) return file;
  }
  return {};
}

}  // namespace

CudssLibrary load_cudss(std::span<const std::string> files) {
  std::string reasons;
  for (const std::string& file : files) {
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      const CudssFunctions functions = functions_of(library, file);
      return {functions, version_of(functions, file), threading_layer()};
    }
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", dlerror());
  }
  throw DeviceError(fmt::format(
      "cuDSS cannot be loaded ({}): install it and put its folder into LD_LIBRARY_PATH", reasons));
}

namespace {

struct Loaded {
  std::optional<CudssLibrary> library;
  std::string missing;
};

const Loaded& loaded() {
  static const Loaded once = []() -> Loaded {
    const std::array<std::string, 2> files = {"libcudss.so.1", "libcudss.so.0"};
    try {
      return {load_cudss(files), {}};
    } catch (const DeviceError& error) {
      return {std::nullopt, error.what()};
    }
  }();
  return once;
}

}  // namespace

const CudssLibrary& cudss() {
  if (!loaded().library) throw DeviceError(loaded().missing);
  return *loaded().library;
}

const std::string& cudss_missing() { return loaded().missing; }

}  // namespace heddle::detail
