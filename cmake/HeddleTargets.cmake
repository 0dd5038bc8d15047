# One way down: apps -> drivers -> solvers -> spmm -> linalg. Each module has an include folder of its own in
# the build tree that holds nothing but a link heddle/<module> to its sources, so a module sees only
# what it links to and an include that reaches upward does not compile.

# Compile settings shared by all of heddle's own targets.
function(heddle_compile_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion>
    # CMake before 3.26 does not know how to ask nvcc for C++20.
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra>)
  # AVX-512 intrinsics and std::string (GCC 12), fmt 9 (GCC 13).
  heddle_hide_alarms_in_headers(${target} maybe-uninitialized restrict array-bounds stringop-overflow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    # An alarm for every reference into a table or a workspace that a call with temporaries returns.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # says which loops a build for debugging leaves
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-pass-failed>)
  endif()
  heddle_own_warnings_are_errors(${target})
  if(HEDDLE_NATIVE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
  endif()
  if(HEDDLE_SANITIZE)
    # Checks of every pointer before its use double the time. AddressSanitizer finds null pointers and
    # accesses beyond an object; misaligned ones and wrong dynamic types are not looked for. Prefetches
    # compute addresses beyond arrays.
    target_compile_options(${target} PRIVATE -fsanitize=${HEDDLE_SANITIZE}
      -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow
      -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${HEDDLE_SANITIZE})
  endif()
endfunction()

# heddle_precompile_headers(): the headers of libraries that most sources of the modules include are
# compiled once for all modules. That is half of the time of a small source. A build with sanitizers
# does without them, and so shows what a source forgets to include.
function(heddle_precompile_headers)
  if(HEDDLE_SANITIZE)
    return()
  endif()
  add_library(heddle_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  set_target_properties(heddle_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(heddle_headers PRIVATE fmt::fmt OpenMP::OpenMP_CXX)
  heddle_compile_settings(heddle_headers)
  target_precompile_headers(heddle_headers PRIVATE
    <algorithm> <chrono> <cmath> <filesystem> <functional> <map> <memory> <optional> <span> <string>
    <string_view> <utility> <variant> <vector> <fmt/format.h>)
endfunction()

# heddle_use_eigen(<target>): all sources of the target see Eigen under a namespace of its own. Eigen's
# templates have the same names with OpenMP and without: linked into one program with a user's own
# Eigen, halves of both would share memory that they must not. So the Eigen of heddle is renamed, and
# has one thread.
function(heddle_use_eigen target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:Eigen3::Eigen>)
  target_compile_definitions(${target} PRIVATE Eigen=heddle_eigen EIGEN_DONT_PARALLELIZE)
endfunction()

# heddle_module(<name> DEPENDS <modules...> PUBLIC_HEADERS <files...> SOURCES <files...>): library
# heddle_<name>, which users link as heddle::<name>. The public headers are installed, all others are
# private.
function(heddle_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PUBLIC_HEADERS;SOURCES" ${ARGN})
  set(include_dir ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${include_dir}/heddle)
  if(NOT EXISTS ${include_dir}/heddle/${name})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${include_dir}/heddle/${name} SYMBOLIC)
  endif()

  add_library(heddle_${name} ${ARG_SOURCES})
  add_library(heddle::${name} ALIAS heddle_${name})
  set_target_properties(heddle_${name} PROPERTIES
    EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(heddle_${name} PUBLIC
    $<BUILD_INTERFACE:${include_dir}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(heddle_${name} PUBLIC heddle_${dependency})
  endforeach()
  heddle_compile_settings(heddle_${name})
  if(TARGET heddle_headers)
    target_precompile_headers(heddle_${name} REUSE_FROM heddle_headers)
  endif()
  # Sources that depend on the build are added after this call.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL heddle_join_sources heddle_${name})")

  list(TRANSFORM ARG_PUBLIC_HEADERS PREPEND ${include_dir}/heddle/${name}/ OUTPUT_VARIABLE headers)
  set_property(GLOBAL APPEND PROPERTY heddle_public_headers ${headers})
  if(HEDDLE_INSTALL)
    install(TARGETS heddle_${name} EXPORT heddleTargets)
    foreach(header IN LISTS ARG_PUBLIC_HEADERS)
      get_filename_component(room ${header} DIRECTORY)
      install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle/${name}/${room})
    endforeach()
  endif()
endfunction()

# HEDDLE_ISA_VARIANTS: whether the host kernels are compiled for several instruction sets, of which the
# best one is chosen when a program starts: in optimised, portable builds for x86-64. Without
# optimisation, functions of the standard library are not inlined and would be shared by the variants.
set(HEDDLE_ISA_VARIANTS OFF)
string(TOUPPER "${CMAKE_BUILD_TYPE}" heddle_build_type)
if(NOT HEDDLE_NATIVE AND NOT HEDDLE_SANITIZE AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$"
   AND CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$"
   AND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${heddle_build_type}}" MATCHES "-O[23]"
   AND NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${heddle_build_type}}" MATCHES "-march=")
  set(HEDDLE_ISA_VARIANTS ON)
endif()

# heddle_isa_sources(<module> <files...>): adds sources of a module that hold kernels as described in
# linalg/base/isa.hpp, once per instruction set. With sanitizers, whose build optimises little, the tests
# spend most of their time in these sources, which are therefore optimised in it, too.
function(heddle_isa_sources module)
  target_sources(heddle_${module} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(HEDDLE_SANITIZE)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O2)
  endif()
  if(NOT HEDDLE_ISA_VARIANTS)
    return()
  endif()
  target_compile_definitions(heddle_${module} PRIVATE HEDDLE_ISA_VARIANTS)
  foreach(variant "avx2;x86-64-v3" "avx512;x86-64-v4")
    list(GET variant 0 isa)
    list(GET variant 1 march)
    foreach(source IN LISTS ARGN)
      string(REGEX REPLACE "\\.cpp$" ".${isa}.cpp" copy ${CMAKE_CURRENT_BINARY_DIR}/${source})
      file(CONFIGURE OUTPUT ${copy} CONTENT "#include <heddle/${module}/${source}>\n")
      set_source_files_properties(${copy} PROPERTIES
        # The unnamed namespaces of the included source are meant to be this file's.
        COMPILE_OPTIONS "-march=${march};$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>"
        COMPILE_DEFINITIONS HEDDLE_ISA=${isa}
        SKIP_PRECOMPILE_HEADERS ON)  # they are compiled for the usual one
      target_sources(heddle_${module} PRIVATE ${copy})
    endforeach()
  endforeach()
  add_custom_command(TARGET heddle_${module} POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} "-DOBJECTS=$<TARGET_OBJECTS:heddle_${module}>"
      -P ${PROJECT_SOURCE_DIR}/cmake/CheckIsaSymbols.cmake)
endfunction()

# heddle_executable(<name> SOURCES <files...> LINK <targets...>): an executable that is installed.
function(heddle_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  heddle_compile_settings(${name})
  if(HEDDLE_INSTALL)
    install(TARGETS ${name})
  endif()
endfunction()
