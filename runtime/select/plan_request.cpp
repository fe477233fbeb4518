#include "runtime/select/plan_request.h"

#include <functional>
#include <string>

#include "generator/problem/problem_forms.h"

namespace tmm {

std::size_t PlanRequestHash::operator()(const PlanRequest& key) const noexcept {
    const std::size_t hash = static_cast<std::size_t>(hash_of(key.problem, static_cast<std::uint64_t>(key.most_workspace)));
    return key.problem.epilogue == Epilogue::custom ? hash ^ std::hash<std::string>()(key.expression.text) : hash;
}

}  // namespace tmm
