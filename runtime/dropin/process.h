// Which process this is. fork() copies a process's memory, but neither the threads that were at work in it nor what the driver of a GPU
// knows of it, so a child must find out that it is one.
#pragma once

#include <atomic>

namespace tmm::dropin {

// A number by which this process tells itself from those that it was forked from. Never 0. Lock-free and safe in handlers of signals.
unsigned process_number() noexcept;

// Whether tmm may multiply here: the process that asks first has tmm, and no child that is forked from it afterwards, since a lock of tmm
// may be held for ever there and CUDA does not work in it. A child of a process that never asked may ask itself.
bool owns_tmm() noexcept;

// A flag that forked children find lowered.
class ProcessFlag {
public:
    bool is_raised() const noexcept { return raised_by_.load(std::memory_order_acquire) == process_number(); }
    // True for who raises it.
    bool raise() noexcept {
        const unsigned self = process_number();
        return raised_by_.exchange(self, std::memory_order_acq_rel) != self;
    }
    void lower() noexcept { raised_by_.store(0, std::memory_order_release); }

private:
    std::atomic<unsigned> raised_by_ = 0;
};

}  // namespace tmm::dropin
