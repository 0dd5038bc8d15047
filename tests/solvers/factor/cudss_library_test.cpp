#include <gtest/gtest.h>

#include <array>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/factor/cudss_library.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <string>
#include <vector>

namespace heddle {
namespace {

/// The message with which none of `files` is loaded.
std::string refusal(const std::vector<std::string>& files) {
  try {
    detail::load_cudss(files);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "loaded";
}

TEST(CudssLibrary, AFileThatIsMissingIsNamedWithTheRemedy) {
  const std::string message = refusal({"/nowhere/libcudss.so.1", "/nowhere/libcudss.so.0"});
  for (const char* part : {"cuDSS cannot be loaded", "/nowhere/libcudss.so.1",
                           "/nowhere/libcudss.so.0", "LD_LIBRARY_PATH"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
}

TEST(CudssLibrary, AnotherLibraryIsToldByAFunctionThatItLacks) {
  EXPECT_EQ(refusal({"libm.so.6"}), "libm.so.6 has no function cudssCreate");
}

/// `fake_cudss.cpp` has the functions of cuDSS and reports the version of its file name.
TEST(CudssLibrary, OnlyVersionsWithTheSameNumbersAreTaken) {
  const std::string folder = FAKE_CUDSS_FOLDER;
  for (const char* version : {"0.8.2", "1.3.0"}) {
    const std::array<std::string, 2> files = {"/nowhere/libcudss.so.1",
                                              folder + "/fake_cudss_" + version + ".so"};
    EXPECT_EQ(detail::load_cudss(files).version, version);
  }
  for (const char* version : {"0.7.1", "2.0.0"}) {
    const std::string file = folder + "/fake_cudss_" + version + ".so";
    EXPECT_EQ(refusal({file}), file + " is cuDSS " + version + ", heddle needs 0.8 to 1");
  }
}

TEST(CudssLibrary, MatricesOnTheHostAreRefused) {
  HostContext context;
  const auto A = generate<double>(context, {"laplace2d", {5, 5}});
  ShiftedInverse<double, HostContext> inverse(A.view(), {}, 1e9, FactorLibrary::cudss);
  EXPECT_THROW(inverse.factor(context, 0), InvalidArgument);
}

}  // namespace
}  // namespace heddle
