# What heddle prints about itself, made with the executables and installed: the completion of shells,
# manual pages, the JSON Schema of configurations. They are installed below heddle_texts_root, which
# is the prefix where it is not set, as the component heddle_texts_component, if that is set.

include(GNUInstallDirs)
set(heddle_texts_component_words)
if(DEFINED heddle_texts_component)
  set(heddle_texts_component_words COMPONENT ${heddle_texts_component})
endif()

# heddle_text(<file> <folder> <argument>...): the output of `heddle <argument>...` as a file that is
# installed in the folder.
function(heddle_text file folder)
  set(path ${CMAKE_CURRENT_BINARY_DIR}/texts/${file})
  list(JOIN ARGN "," arguments)
  add_custom_command(OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:heddle_program> -DARGUMENTS=${arguments}
      -DOUTPUT=${path} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/WriteOutput.cmake
    DEPENDS heddle_program ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/WriteOutput.cmake VERBATIM)
  set_property(GLOBAL APPEND PROPERTY heddle_texts ${path})
  install(FILES ${path} DESTINATION ${heddle_texts_root}${folder} ${heddle_texts_component_words})
endfunction()

file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/texts)
heddle_text(heddle.schema.json ${CMAKE_INSTALL_DATADIR}/heddle config --schema)
heddle_text(_heddle ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
# bash-completion loads the file with the name of the command that is typed.
foreach(name IN ITEMS heddle heddle-lobpcg heddle-lanczos heddle-cg heddle-info heddle-spgemm heddle-spmm)
  heddle_text(${name} ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
endforeach()
foreach(page IN ITEMS heddle heddle-solve heddle-lobpcg heddle-lanczos heddle-cg heddle-info heddle-spgemm heddle-spmm)
  heddle_text(${page}.1 ${CMAKE_INSTALL_MANDIR}/man1 man ${page})
endforeach()
heddle_text(heddle-config.5 ${CMAKE_INSTALL_MANDIR}/man5 man heddle-config)

get_property(texts GLOBAL PROPERTY heddle_texts)
add_custom_target(heddle_texts ALL DEPENDS ${texts})
