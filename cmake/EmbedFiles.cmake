# cmake -DOUT=file.cpp -DROOT=dir -DFUNCTION=name -DFILES="a;b" -P EmbedFiles.cmake
# Writes a C++ source that defines tmm::FUNCTION(): a map from each file's path below ROOT to its text.
string(CONCAT text
  "// Generated from the files it holds.\n#include <map>\n#include <string>\n\nnamespace tmm {\n"
  "const std::map<std::string, std::string>& ${FUNCTION}();\n"
  "const std::map<std::string, std::string>& ${FUNCTION}() {\n    // Never destroyed: handlers of exit() may still read it.\n    static const auto& files = *new std::map<std::string, std::string>{\n")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} content HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" content "${content}")
  string(APPEND text "        {\"${name}\", \"${content}\"},\n")
endforeach()
string(APPEND text "    };\n    return files;\n}\n}  // namespace tmm\n")
file(WRITE ${OUT} "${text}")
