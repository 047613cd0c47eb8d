# SPDX-License-Identifier: MIT
# cmake -DOUTPUT=FILE -DDIRECTORY=tool/page -DSCRIPTS=a.js:b.js -P embed.cmake
#
# Writes the definitions of page_sources.hpp: the files as they are, each in a raw string. Compilers limit the length of
# one, so that a file is written as several, which the compiler joins.
function(as_literals variable text)
  set(literals "")
  set(most 8000)
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} ${most} piece)
    string(APPEND literals "\n    R\"page(${piece})page\"")
    math(EXPR at "${at} + ${most}")
  endwhile()
  set(${variable} "${literals}" PARENT_SCOPE)
endfunction()

file(READ ${DIRECTORY}/page.html frame)
file(READ ${DIRECTORY}/style.css style)
set(script "")
string(REPLACE ":" ";" SCRIPTS "${SCRIPTS}")
foreach(name ${SCRIPTS})
  file(READ ${DIRECTORY}/${name} text)
  string(APPEND script "${text}\n")
endforeach()

set(source "#include \"tool/page_sources.hpp\"\n\nnamespace tool {\n")
foreach(part frame style script)
  as_literals(literals "${${part}}")
  string(APPEND source "\nconst std::string_view page_${part} =${literals};\n")
endforeach()
file(WRITE ${OUTPUT} "${source}\n}  // namespace tool\n")
