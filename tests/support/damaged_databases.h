// Makes damaged databases, each from a seed and a number alone: rows that nobody measured, schemas of strangers, bytes changed, and things
// laid beside the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tmm::testing {

class DamagedDatabases {
public:
    // The shapes that the databases have winners for, on the emulated device, as a shapes file spells them.
    static const std::vector<std::string>& shapes();

    explicit DamagedDatabases(std::uint64_t seed);
    ~DamagedDatabases();
    DamagedDatabases(const DamagedDatabases&) = delete;
    DamagedDatabases& operator=(const DamagedDatabases&) = delete;

    // Puts the case's database into the empty directory as t.db, together with files of other programs. Returns what was done to it, in
    // words.
    std::string make(std::size_t number, const std::filesystem::path& directory) const;

private:
    struct Originals;
    std::uint64_t seed_;
    std::unique_ptr<const Originals> originals_;
};

}  // namespace tmm::testing
