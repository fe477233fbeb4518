// Database files that were made to hurt whoever opens them, and what may be laid beside one.
#pragma once

#include <filesystem>
#include <string>

namespace tmm::testing {

// Makes the table or index whose first page is `root` one without end: pages that each refer to the next one many times over, down to what
// the table had. `bytes` are those of a database with pages of 4096 bytes; root is counted from 1 and is not 1.
void make_endless(std::string& bytes, unsigned root);

// The first page of the table or index.
unsigned root_page(const std::filesystem::path& database, const std::string& name);

// A journal with nothing to roll back, of a transaction over several databases whose super-journal bears the name.
std::string journal_of_super_journal(const std::string& name, std::size_t database_bytes);

// The kinds of file that may lie where SQLite expects a journal.
enum class Planted { fifo, directory, full_directory, link_to_file, link_to_nowhere, link_to_itself, socket, hard_link };
inline constexpr Planted kPlanted[] = {Planted::fifo,         Planted::directory,       Planted::full_directory,
                                       Planted::link_to_file, Planted::link_to_nowhere, Planted::link_to_itself,
                                       Planted::socket,       Planted::hard_link};
// Plants it at the path; the links lead to the victim, a file.
void plant(Planted what, const std::filesystem::path& path, const std::filesystem::path& victim);

}  // namespace tmm::testing
