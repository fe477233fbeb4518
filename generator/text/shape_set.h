// Keeps the shapes of a list, each once.
#pragma once

#include <unordered_set>
#include <utility>
#include <vector>

#include "generator/problem/problem_forms.h"
#include "generator/text/shapes_file.h"

namespace tmm {

// Shapes that differ in alpha and beta alone are one problem; the first of them is kept.
class ShapeSet {
public:
    ShapeSet() = default;
    // known_ points to shapes_, so that neither copies nor moves would be right.
    ShapeSet(const ShapeSet&) = delete;
    ShapeSet& operator=(const ShapeSet&) = delete;

    void add(Shape shape) {
        shapes_.push_back(std::move(shape));
        if (shapes_.back().varying) return;
        if (!known_.insert(shapes_.size() - 1).second) shapes_.pop_back();
    }
    bool empty() const { return shapes_.empty(); }
    std::vector<Shape> take() { return std::move(shapes_); }

private:
    std::vector<Shape> shapes_;
    // Indices into shapes_, compared by problem.
    struct Hash {
        const std::vector<Shape>* shapes;
        std::size_t operator()(std::size_t i) const { return static_cast<std::size_t>(hash_of((*shapes)[i].problem)); }
    };
    struct Equal {
        const std::vector<Shape>* shapes;
        bool operator()(std::size_t i, std::size_t j) const { return (*shapes)[i].problem == (*shapes)[j].problem; }
    };
    std::unordered_set<std::size_t, Hash, Equal> known_{16, Hash{&shapes_}, Equal{&shapes_}};
};

}  // namespace tmm
