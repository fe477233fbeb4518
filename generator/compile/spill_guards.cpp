#include "generator/compile/spill_guards.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tmm {
namespace {

// An instruction of 128 bits.
struct Instruction {
    std::uint64_t low;
    std::uint64_t high;

    unsigned operation() const { return field(low, 0, 12); }
    // The operation without the bits that say where its operands are.
    unsigned kind() const { return field(low, 0, 9); }
    // The predicate's register, 7 where the instruction always runs, and a bit that inverts it.
    unsigned guard() const { return field(low, 12, 4); }
    unsigned destination() const { return field(low, 16, 8); }
    unsigned second_source() const { return field(low, 32, 8); }
    unsigned predicate() const { return field(high, 17, 3); }
    unsigned second_predicate() const { return field(high, 20, 3); }

private:
    static unsigned field(std::uint64_t word, unsigned first, unsigned bits) {
        return static_cast<unsigned>(word >> first & ((std::uint64_t{1} << bits) - 1));
    }
};
static_assert(sizeof(Instruction) == 16);

constexpr unsigned kAlways = 7;
constexpr unsigned kStoreLocal = 0x387;
constexpr unsigned kPredicatesFromRegister = 0x004;
// How far the assembler moves a store of a spill away from what it stores is less.
constexpr std::size_t kReach = 500;

bool writes_predicate(const Instruction& instruction, unsigned predicate) {
    switch (instruction.kind()) {
        case 0x00b:  // FSETP
        case 0x00c:  // ISETP
        case 0x010:  // IADD3
        case 0x01c:  // PLOP3
        case 0x02a:  // DSETP
        case 0x034:  // HSETP2
            return instruction.predicate() == predicate || instruction.second_predicate() == predicate;
        case 0x006:  // VOTE
        case 0x011:  // LEA
        case 0x012:  // LOP3
        case 0x024:  // IMAD
        case 0x025:  // IMAD.WIDE
        case 0x027:  // IMAD.HI
            return instruction.predicate() == predicate;
        case kPredicatesFromRegister:  // R2P, which has a mask of predicates
            return (instruction.second_source() >> predicate & 1) != 0;
        default: return false;
    }
}

// The first of the registers that an instruction writes. Stores, to shared, global, local and any memory, have none.
bool writes_from(const Instruction& instruction, unsigned first) {
    const bool stores = instruction.operation() >= 0x385 && instruction.operation() <= 0x388;
    return !stores && instruction.destination() == first;
}

// Looks back from the store for the instruction that made the value, and for what has overwritten the predicate since. A value may be one
// of up to four that an instruction makes.
bool lost_its_guard(const std::vector<Instruction>& code, std::size_t store) {
    const unsigned guard = code[store].guard();
    const unsigned stored = code[store].second_source();
    bool overwritten = false;
    for (std::size_t back = 1; back <= std::min(store, kReach); ++back) {
        const Instruction& before = code[store - back];
        overwritten = overwritten || writes_predicate(before, guard % 8);
        for (unsigned place = 0; place < 4 && place <= stored; ++place)
            if (overwritten && before.guard() == guard && writes_from(before, stored - place)) return true;
        if (writes_from(before, stored)) return false;
    }
    return false;
}

bool has_lost_guard(const std::vector<Instruction>& code) {
    for (std::size_t i = 0; i < code.size(); ++i)
        if (code[i].operation() == kStoreLocal && code[i].guard() % 8 != kAlways && lost_its_guard(code, i)) return true;
    return false;
}

// The result is false where the bytes do not lie within the image.
template <class T>
bool read(const std::vector<std::byte>& image, std::uint64_t offset, T* values, std::uint64_t bytes) {
    if (offset > image.size() || bytes > image.size() - offset) return false;
    if (bytes > 0) std::memcpy(values, image.data() + offset, bytes);
    return true;
}

}  // namespace

bool has_overwritten_spill_guard(const std::vector<std::byte>& image) {
    Elf64_Ehdr header;
    if (!read(image, 0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_CUDA)
        return false;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section;
        if (!read(image, header.e_shoff + i * sizeof section, &section, sizeof section)) return false;
        if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_EXECINSTR) == 0 || section.sh_size > image.size()) continue;
        std::vector<Instruction> code(section.sh_size / sizeof(Instruction));
        if (read(image, section.sh_offset, code.data(), code.size() * sizeof(Instruction)) && has_lost_guard(code)) return true;
    }
    return false;
}

bool spills_wrongly(const CompiledKernel& kernel) {
    return kernel.spill_bytes > 0 && has_overwritten_spill_guard(kernel.image);
}

}  // namespace tmm
