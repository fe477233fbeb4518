// Copies that land in shared memory, swizzled where TMA brings them, and deferred operations that run group after group.
#include "runtime/emulation/host_background.h"

#include <cstring>

namespace tmm {

namespace {

void bring(unsigned char* in_shared, const unsigned char* in_matrix, const host::EncodedMatrix& m) {
    if (m.rounds_to_tf32 == 0) {
        std::memcpy(in_shared, in_matrix, static_cast<std::size_t>(m.element_bytes));
        return;
    }
    unsigned word = 0;
    std::memcpy(&word, in_matrix, sizeof word);
    word = host::rounded_to_tf32(word);
    std::memcpy(in_shared, &word, sizeof word);
}

}  // namespace

void land(const AsyncCopy& copy) {
    const auto read = static_cast<std::size_t>(copy.source_bytes);
    if (read) std::memcpy(copy.destination, copy.source, read);
    std::memset(static_cast<char*>(copy.destination) + read, 0, static_cast<std::size_t>(copy.bytes) - read);
}

// Copies a box, element after element.
void land(const host::BulkCopy& copy) {
    const host::EncodedMatrix& m = copy.matrix;
    const int row_bytes = m.box_columns * m.element_bytes;
    const auto element = static_cast<std::size_t>(m.element_bytes);
    for (int r = 0; r < m.box_rows; ++r)
        for (int c = 0; c < m.box_columns; ++c) {
            const long long row = copy.y + r, column = copy.x + c;
            const unsigned address = copy.address + static_cast<unsigned>(r * row_bytes + c * m.element_bytes);
            unsigned char* const in_shared = copy.shared + (host::swizzled(address, static_cast<unsigned>(m.swizzle_bytes)) - copy.address);
            // Boxes that leave are cut off at whole chunks of 16 bytes.
            const long long cut = copy.barrier ? column : column - c % (16 / m.element_bytes);
            const bool inside = row >= 0 && row < m.rows && column >= 0 && cut < m.columns && copy.z >= 0 && copy.z < m.matrices;
            const unsigned char* const in_matrix = m.address + copy.z * m.matrix_bytes + row * m.row_bytes + column * m.element_bytes;
            if (!copy.barrier && inside)
                std::memcpy(const_cast<unsigned char*>(in_matrix), in_shared, element);
            else if (copy.barrier && inside)
                bring(in_shared, in_matrix, m);
            else if (copy.barrier)
                std::memset(in_shared, 0, element);
        }
    if (!copy.barrier) return;
    copy.barrier->bytes -= m.box_rows * row_bytes;
    copy.barrier->end_phase_if_complete();
}

template <class Copy>
void GroupedCopies<Copy>::clear() {
    copies_.clear();
    landed_ = 0;
    open_group_ = 0;
}

template <class Copy>
void GroupedCopies<Copy>::land_all_but(int pending_groups) {
    while (landed_ < copies_.size() && copies_[landed_].group + static_cast<unsigned>(pending_groups) < open_group_)
        land(copies_[landed_++].copy);
    if (landed_ < copies_.size()) return;
    copies_.clear();
    landed_ = 0;
}

template class GroupedCopies<AsyncCopy>;
template class GroupedCopies<host::BulkCopy>;

void DeferredOperations::clear() {
    operations_.clear();
    open_group_ = 0;
}

void DeferredOperations::defer(void (*run)(const void* data), const void* data, int bytes) {
    const auto* const first = static_cast<const unsigned char*>(data);
    operations_.push_back({run, {first, first + bytes}, open_group_});
}

void DeferredOperations::run_groups_before(unsigned end) {
    std::size_t done = 0;
    while (done < operations_.size() && operations_[done].group < end) {
        operations_[done].run(operations_[done].data.data());
        ++done;
    }
    operations_.erase(operations_.begin(), operations_.begin() + static_cast<std::ptrdiff_t>(done));
}

unsigned BulkCopies::land_for(const host::Mbarrier* barrier) {
    unsigned landed = 0;
    for (std::size_t i = 0; i < copies_.size();) {
        if (copies_[i].barrier != barrier) {
            ++i;
            continue;
        }
        land(copies_[i]);
        copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
        ++landed;
    }
    return landed;
}

}  // namespace tmm
