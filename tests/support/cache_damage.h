// Ways in which a kernel cache comes to harm: bits, lengths, fields, files of another kind, what lies beside, and the directory itself.
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace tmm::testing {

// A cache directory to damage, and a folder with files that are none of tmm's.
struct CacheUnderTest {
    std::filesystem::path cache;
    std::filesystem::path foreign;
};

struct CacheDamage {
    const char* name;
    void (*apply)(const CacheUnderTest&, std::mt19937_64& random);
    // Whether a damaged kernel is compiled and stored again, once.
    bool heals = true;
};

const std::vector<CacheDamage>& cache_damages();

// Everything about the files of a folder that a program could change, but for what tmm may do in its cache: there only what is not named
// and made as its own files are counts.
std::string foreign_files(const CacheUnderTest& place);

}  // namespace tmm::testing
