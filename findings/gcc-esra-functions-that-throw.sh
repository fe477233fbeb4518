#!/bin/bash
# g++ 11 and 12 end by an internal error ("in gsi_insert_seq_nodes_after", pass esra) where a function that returns a struct by value may throw
# and its result is assigned to an element of a small array in a loop that may end early. The scalar replacement wants to add a statement behind
# the call, which ends its basic block because of the exception's edge. It looks like a fault of the source, and depends on inlining: adding a
# check that throws to a helper at the bottom makes functions far above it fail. -fno-exceptions avoids it where nothing is caught, and
# exceptions still pass through such code by its unwind tables. g++ 14.2 and clang compile it.
# Versions: g++ 11.3, 12.2 (Debian 12). Exit 0 while it is so.
set -euo pipefail
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/try.cpp" <<'C'
void fail(const void*);
template <int width> struct alignas(4 * width) Many { float element[width]; };
template <class V> inline V load(const void* place) {
    if (reinterpret_cast<unsigned long>(place) % alignof(V) != 0) fail(place);
    return *static_cast<const V*>(place);
}
template <int width> inline Many<width> pieces(const float* source, bool aligned) {
    Many<width> all;
    for (int begin = 0; begin < width; begin += width) {
        Many<width> loaded;
        if (aligned) loaded = load<Many<width>>(source + begin);
        else for (int i = 0; i < width; ++i) loaded.element[i] = source[begin + i];
        for (int i = 0; i < width; ++i) all.element[begin + i] = loaded.element[i];
    }
    return all;
}
void use(float* out, const float* left, const float* right, int count, bool aligned) {
    Many<1> first[1], second[1] = {};
    for (int i = 0; i < 1; ++i) {
        if (i >= count) break;
        first[i] = pieces<1>(left, true);
        second[i] = pieces<1>(right, aligned);
    }
    for (int i = 0; i < 1; ++i) out[i] = first[i].element[0] * second[i].element[0];
}
C
for compiler in g++-11 g++-12; do
    ! "$compiler" -std=c++20 -O2 -c "$tmp/try.cpp" -o /dev/null 2>"$tmp/said"
    grep -m1 "internal compiler error" "$tmp/said"
    "$compiler" -std=c++20 -O2 -fno-exceptions -c "$tmp/try.cpp" -o /dev/null
done
echo "as described"
