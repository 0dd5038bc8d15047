# Sources of one folder are compiled together by CMake's unity builds: most of them cost less than the
# headers that they include. CMAKE_UNITY_BUILD=OFF compiles each source alone, as the preset "fuzz" does:
# it shows what a source forgets to include.
set(HEDDLE_UNITY ON)
if(DEFINED CMAKE_UNITY_BUILD)
  set(HEDDLE_UNITY ${CMAKE_UNITY_BUILD})
endif()
set(CMAKE_UNITY_BUILD OFF)  # of executables: who changes a test waits for its own source only

# Kernels and decompositions stay alone. Their bits must not depend on what else the compiler inlines.
set(HEDDLE_UNITY_ALONE "_host\\.cpp$|^kernels/host/|^small/")

# The largest number of sources that are compiled together.
set(HEDDLE_UNITY_SIZE 10 CACHE STRING "Sources of a folder that are compiled together")
mark_as_advanced(HEDDLE_UNITY_SIZE)

# heddle_join_sources(<library>): groups the sources of the library by folder.
function(heddle_join_sources library)
  set_target_properties(${library} PROPERTIES UNITY_BUILD ${HEDDLE_UNITY} UNITY_BUILD_MODE GROUP)
  if(NOT HEDDLE_UNITY)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The unnamed namespaces of the included sources are meant to be this file's.
    target_compile_options(${library} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  get_target_property(sources ${library} SOURCES)
  list(FILTER sources INCLUDE REGEX "^[^/].*\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "${HEDDLE_UNITY_ALONE}")
  set(groups "")
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "sources/${folder}" group)
    # A class template whose members two sources define is instantiated in both. So these two cannot
    # be joined.
    file(STRINGS ${source} lines REGEX "template class [A-Za-z]+<T")
    string(REGEX MATCHALL "template class [A-Za-z]+" instances "${lines}")
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    foreach(instance IN LISTS instances)
      if(instance IN_LIST ${group}_instances)
        set(alone ON)
      endif()
    endforeach()
    if(NOT alone)
      list(APPEND ${group}_instances ${instances})
      list(APPEND ${group} ${source})
      list(APPEND groups ${group})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    list(LENGTH ${group} count)
    math(EXPR parts "(${count} + ${HEDDLE_UNITY_SIZE} - 1) / ${HEDDLE_UNITY_SIZE}")
    set(number 0)
    foreach(source IN LISTS ${group})
      math(EXPR part "${number} * ${parts} / ${count}")
      math(EXPR number "${number} + 1")
      if(count GREATER 1)
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${part})
      endif()
    endforeach()
  endforeach()
endfunction()
