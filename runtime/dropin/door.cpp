#include "runtime/dropin/door.h"

#include <unwind.h>

namespace tmm::dropin {

Doors& doors_of_thread() noexcept {
    static thread_local Doors doors;
    return doors;
}

}  // namespace tmm::dropin

// As the unwinder's interface has it (_Unwind_Personality_Fn): in its second phase the frame is left, and its caller's is next.
extern "C" __attribute__((used, visibility("hidden"))) _Unwind_Reason_Code tmm_leave_unwound_door(int, _Unwind_Action actions,
                                                                                                  _Unwind_Exception_Class,
                                                                                                  _Unwind_Exception*, _Unwind_Context*) {
    tmm::dropin::Doors& doors = tmm::dropin::doors_of_thread();
    if ((actions & _UA_CLEANUP_PHASE) == 0) return _URC_CONTINUE_UNWIND;
    if (doors.depth > 0)
        --doors.depth;
    else
        doors = {};
    return _URC_CONTINUE_UNWIND;
}
