#pragma once

// HEDDLE_ADDRESS_SANITIZER and HEDDLE_THREAD_SANITIZER: whether this source is compiled with one.
// GCC names sanitizers by macros, clang by features.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEDDLE_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define HEDDLE_THREAD_SANITIZER
#endif
#else
#if defined(__SANITIZE_ADDRESS__)
#define HEDDLE_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__)
#define HEDDLE_THREAD_SANITIZER
#endif
#endif
