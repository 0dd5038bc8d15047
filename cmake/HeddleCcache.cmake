# Compiles through ccache where it is installed, unless a launcher is set. ccache sees the paths
# below the source folder as relative ones, so a clone in another place finds what this one compiled.

find_program(HEDDLE_CCACHE ccache)
mark_as_advanced(HEDDLE_CCACHE)
if(HEDDLE_CCACHE)
  get_filename_component(heddle_source_dir ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_BASEDIR=${heddle_source_dir} CCACHE_NOHASHDIR=true
        CCACHE_SLOPPINESS=pch_defines,time_macros ${HEDDLE_CCACHE})
    endif()
  endforeach()
endif()
