#include "tests/support/hostile_files.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

namespace tmm::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPage = 4096;

void put(std::string& bytes, std::size_t at, unsigned value, int size) {
    for (int i = 0; i < size; ++i) bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * (size - 1 - i)));
}

// An interior page of a table's b-tree has rowids as keys. SQLite takes a page of an index for a table's only where it stands in one.
std::string interior_page(unsigned child, bool of_index) {
    constexpr unsigned kCells = 5;
    // Left child and key; an index's key is a record of one NULL, whose payload has two bytes.
    const unsigned cell_size = of_index ? 4 + 3 : 4 + 2;
    std::string page(kPage, '\0');
    page[0] = of_index ? 2 : 5;
    put(page, 3, kCells, 2);
    put(page, 5, static_cast<unsigned>(kPage) - kCells * cell_size, 2);
    put(page, 8, child, 4);
    for (unsigned i = 0; i < kCells; ++i) {
        const std::size_t cell = kPage - (i + 1) * cell_size;
        put(page, 12 + 2 * i, static_cast<unsigned>(cell), 2);
        put(page, cell, child, 4);
        if (of_index) {
            put(page, cell + 4, 2, 1);
            put(page, cell + 5, 2, 1);
        } else {
            // The key is written as SQLite's varint, seven bits a byte.
            put(page, cell + 4, 0x80 | ((i + 1) >> 7), 1);
            put(page, cell + 5, (i + 1) & 0x7f, 1);
        }
    }
    return page;
}

}  // namespace

void make_endless(std::string& bytes, unsigned root) {
    constexpr unsigned kLevels = 16;
    if (root < 2 || bytes.size() % kPage != 0 || root * kPage > bytes.size()) throw std::invalid_argument("no such page");
    const bool of_index = bytes[(root - 1) * kPage] == 2 || bytes[(root - 1) * kPage] == 10;
    const auto pages = static_cast<unsigned>(bytes.size() / kPage);
    // The first of the new pages is what the table was; each further one refers to the one before it.
    std::string last = bytes.substr((root - 1) * kPage, kPage);
    for (unsigned level = 0; level < kLevels; ++level) {
        bytes += last;
        last = interior_page(pages + level + 1, of_index);
    }
    bytes.replace((root - 1) * kPage, kPage, last);
    put(bytes, 28, static_cast<unsigned>(bytes.size() / kPage), 4);
}

unsigned root_page(const fs::path& database, const std::string& name) {
    SQLite::Database opened(database);
    SQLite::Statement row(opened, "SELECT rootpage FROM sqlite_schema WHERE name = ?");
    row.bind(1, name);
    if (!row.executeStep()) throw std::invalid_argument("no such table: " + name);
    return static_cast<unsigned>(row.getColumn(0).getInt());
}

std::string journal_of_super_journal(const std::string& name, std::size_t database_bytes) {
    constexpr std::size_t kSector = 512;
    constexpr char kMark[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
    std::string journal = kMark + std::string(kSector - 8, '\0');
    put(journal, 16, static_cast<unsigned>(database_bytes / kPage), 4);
    put(journal, 20, kSector, 4);
    put(journal, 24, kPage, 4);
    unsigned sum = 0;
    for (const char c : name) sum += static_cast<unsigned>(static_cast<signed char>(c));
    std::string tail(4, '\0'), lengths(8, '\0');
    // SQLite never uses the page in which it locks the file.
    put(tail, 0, (1U << 30) / kPage + 1, 4);
    put(lengths, 0, static_cast<unsigned>(name.size()), 4);
    put(lengths, 4, sum, 4);
    return journal + tail + name + lengths + kMark;
}

void plant(Planted what, const fs::path& path, const fs::path& victim) {
    switch (what) {
        case Planted::fifo:
            if (mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("mkfifo failed");
            return;
        case Planted::directory: fs::create_directory(path); return;
        case Planted::full_directory:
            fs::create_directory(path);
            std::ofstream(path / "file") << "kept";
            return;
        case Planted::link_to_file: fs::create_symlink(victim, path); return;
        case Planted::link_to_nowhere: fs::create_symlink(victim.string() + "-none", path); return;
        case Planted::link_to_itself: fs::create_symlink(path.filename(), path); return;
        case Planted::socket: {
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            if (path.native().size() >= sizeof address.sun_path) throw std::invalid_argument("too long for a socket: " + path.string());
            std::memcpy(address.sun_path, path.c_str(), path.native().size());
            const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            const int bound = bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
            close(made);
            if (bound != 0) throw std::runtime_error("bind failed");
            return;
        }
        case Planted::hard_link: fs::create_hard_link(victim, path); return;
    }
}

}  // namespace tmm::testing
