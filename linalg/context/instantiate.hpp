#pragma once

#include <heddle/linalg/context/context.hpp>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/context/cuda_context.hpp>
#endif

/// The one macro of heddle: the scalar × context pairs that templates are compiled for.
/// `F(T, Ctx)` is expanded once a pair.
#ifdef HEDDLE_HAS_CUDA
#define HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(F) \
  F(float, ::heddle::HostContext)             \
  F(double, ::heddle::HostContext)            \
  F(float, ::heddle::CudaContext)             \
  F(double, ::heddle::CudaContext)
#else
#define HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(F) \
  F(float, ::heddle::HostContext)             \
  F(double, ::heddle::HostContext)
#endif
