// Counts what a thread asks of the C library while it is told to: an executable that is built with counted_calls.cpp has these functions in
// the library's place.
#pragma once

namespace tmm::testing {

struct CountedCalls {
    long allocations = 0;
    long frees = 0;
    long locks = 0;
    // Files opened and looked at, and memory mapped.
    long system_calls = 0;

    friend bool operator==(const CountedCalls&, const CountedCalls&) = default;
};

// The calling thread's calls from here on.
void begin_counting();
CountedCalls end_counting();

// Calls in this scope are somebody else's.
class Uncounted {
public:
    Uncounted();
    ~Uncounted();
    Uncounted(const Uncounted&) = delete;
    Uncounted& operator=(const Uncounted&) = delete;

private:
    bool before_;
};

}  // namespace tmm::testing
