# heddle_own_warnings_are_errors(<target>): with HEDDLE_WERROR, the target is not built if a compiler
# warns of a line of the project. -Werror would make errors of warnings inside other headers, too:
# GCC's optimiser warns of these where they are inlined (AVX-512 intrinsics, std::string, fmt, Eigen).
get_filename_component(heddle_warnings_dir ${CMAKE_CURRENT_LIST_DIR} REALPATH)
function(heddle_own_warnings_are_errors target)
  if(NOT HEDDLE_WERROR)
    return()
  endif()
  get_filename_component(project ${heddle_warnings_dir} DIRECTORY)
  foreach(language CXX CUDA)
    set_property(TARGET ${target} PROPERTY ${language}_COMPILER_LAUNCHER
      sh ${heddle_warnings_dir}/own-warnings.sh ${project} ${CMAKE_${language}_COMPILER_LAUNCHER})
  endforeach()
  # Its warnings name no line.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=--warning-as-error>)
endfunction()
