# Sets HEDDLE_HAS_CUDA and, where it is on, enables the CUDA language and finds the toolkit.
# HEDDLE_CUDA is ON (a missing toolkit is an error), OFF, or AUTO (on where a usable one is found).

set(HEDDLE_HAS_CUDA OFF)
if(HEDDLE_CUDA STREQUAL "OFF")
  return()
endif()
include(HeddleGpu)

# The architectures that the kernels are compiled for; the block kernels need 80 or later. By
# default that of the GPU here; without one 80 and 90, and PTX of 90 for what comes after. CMake
# knows "native" since 3.24.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  if(HEDDLE_GPU AND NOT CMAKE_VERSION VERSION_LESS 3.24)
    set(CMAKE_CUDA_ARCHITECTURES native)
  endif()
endif()
if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX})
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
endif()
if(HEDDLE_NVCC AND NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  set(CMAKE_CUDA_COMPILER ${HEDDLE_NVCC})
endif()

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  find_package(CUDAToolkit 12.0 QUIET)
endif()
if(TARGET CUDA::cudart AND TARGET CUDA::cublas AND TARGET CUDA::cusolver)
  set(HEDDLE_HAS_CUDA ON)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
  message(STATUS "CUDA backend: on, toolkit ${CUDAToolkit_VERSION}, "
                 "architectures ${CMAKE_CUDA_ARCHITECTURES}")
elseif(HEDDLE_CUDA STREQUAL "ON")
  message(FATAL_ERROR
    "HEDDLE_CUDA=ON needs a CUDA toolkit of version 12 or later with cuBLAS and cuSOLVER, "
    "and a compiler that it accepts; found compiler '${CMAKE_CUDA_COMPILER}', "
    "toolkit '${CUDAToolkit_VERSION}'")
else()
  message(STATUS "CUDA backend: off, no usable CUDA toolkit was found")
endif()
