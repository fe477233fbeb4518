// Cubins of some instructions: as much of a cubin as is looked through, and no device loads them.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tmm::testing {

struct Words {
    std::uint64_t low;
    std::uint64_t high;
};

// Machine code of sm_90, as NVRTC 13.0 writes it. The first overwrites the predicate under which the second stores its result.
constexpr Words kGuardedCarry{0x000000aca9ac5211, 0x000fe400078a30ff};  // @P5 LEA R172, P5, R169, R172, 0x6
constexpr Words kStore{0x0000a8ac01005387, 0x0003e20000100800};         // @P5 STL [R1+0xa8], R172
constexpr Words kFreeStore{0x0000a8ac01007387, 0x0003e20000100800};     // STL [R1+0xa8], R172

// A cubin with that code behind its header, and one section.
inline std::vector<std::byte> cubin(const std::vector<Words>& code) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_machine = EM_CUDA;
    header.e_shoff = sizeof header;
    header.e_shnum = 1;
    Elf64_Shdr section{};
    section.sh_type = SHT_PROGBITS;
    section.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    section.sh_offset = sizeof header + sizeof section;
    section.sh_size = code.size() * sizeof(Words);
    std::vector<std::byte> image(section.sh_offset + section.sh_size);
    std::memcpy(image.data(), &header, sizeof header);
    std::memcpy(image.data() + sizeof header, &section, sizeof section);
    if (!code.empty()) std::memcpy(image.data() + section.sh_offset, code.data(), section.sh_size);
    return image;
}

}  // namespace tmm::testing
