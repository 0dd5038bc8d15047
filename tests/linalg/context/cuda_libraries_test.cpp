#include <gtest/gtest.h>

#include <fstream>
#include <heddle/linalg/context/cuda_libraries.hpp>
#include <sstream>
#include <string>

namespace heddle::detail {
namespace {

std::string loaded_files() {
  std::stringstream text;
  text << std::ifstream("/proc/self/maps").rdbuf();
  return text.str();
}

TEST(CudaLibraries, AreLoadedByTheFirstCallAndNeedNoGpu) {
  EXPECT_EQ(loaded_files().find("libcublas"), std::string::npos);
  EXPECT_EQ(loaded_files().find("libcusolver"), std::string::npos);
  const CudaLibraries& cuda = cuda_libraries();
  EXPECT_STREQ(cuda.cublasGetStatusName(CUBLAS_STATUS_NOT_INITIALIZED),
               "CUBLAS_STATUS_NOT_INITIALIZED");
  int size = 0;
  EXPECT_EQ(cuda.cusolverDnDpotrf_bufferSize(nullptr, CUBLAS_FILL_MODE_UPPER, 1, nullptr, 1, &size),
            CUSOLVER_STATUS_NOT_INITIALIZED);
  EXPECT_NE(loaded_files().find("libcusolver"), std::string::npos);
}

}  // namespace
}  // namespace heddle::detail
