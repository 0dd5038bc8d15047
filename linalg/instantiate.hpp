#pragma once

/// The one macro of heddle: the scalar × context pairs that templates are compiled for.
/// `F(T, Ctx)` is expanded once a pair.
#define HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(F) \
  F(float, ::heddle::HostContext)             \
  F(double, ::heddle::HostContext)
