# shellcheck shell=bash
# What the scripts share: numbered steps that say what failed and what to do, the packages, NVRTC, and the build.
# Sourced by scripts/quickstart and scripts/test; the caller runs in the repository's root.
set -euo pipefail

step_number=0
step_name="starting"
step_remedy=""

# step "what it does" "what to do when it fails"
step() {
    step_number=$((step_number + 1))
    step_name=$1
    step_remedy=${2:-}
    printf '\n== %d. %s\n' "$step_number" "$step_name"
}

on_exit() {
    local status=$?
    [ "$status" -eq 0 ] && return
    {
        printf '\n%s: failed at step %d, "%s" (status %d).\n' "$0" "$step_number" "$step_name" "$status"
        [ -z "$step_remedy" ] || printf 'What to do: %s\n' "$step_remedy"
        printf 'Everything done so far stays; run the same command again to go on.\n'
    } >&2
}
trap on_exit EXIT

seconds_text() {
    printf '%d min %02d s' $(($1 / 60)) $(($1 % 60))
}

have() { command -v "$1" >/dev/null 2>&1; }

compiles_programs() { printf '#include <vector>\nint main() {}\n' | c++ -std=c++20 -x c++ -o /dev/null - >/dev/null 2>&1; }

has_header() { printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | c++ -std=c++20 -E -x c++ -o /dev/null - >/dev/null 2>&1; }

# has_library libNAME.a: the compiler prints a path only for a file that it finds.
has_library() { [ "$(c++ -print-file-name="$1")" != "$1" ]; }

# One line a library: its Debian package, the file that is linked with (none: a hyphen), a header. What is linked with libtmm.so is an
# archive, so that the library runs where none of these is installed.
library_packages() {
    cat <<'EOF'
libboost-context-dev libboost_context.a boost/context/fiber.hpp
libsqlitecpp-dev libSQLiteCpp.a SQLiteCpp/SQLiteCpp.h
libsqlite3-dev libsqlite3.a sqlite3.h
libxxhash-dev libxxhash.a xxhash.h
zlib1g-dev libz.a zlib.h
libfmt-dev - fmt/format-inl.h
nlohmann-json3-dev - nlohmann/json.hpp
doctest-dev - doctest/doctest.h
libopenblas-dev libopenblas.so cblas.h
EOF
}

missing_packages() {
    local package file header compiler=1
    # A compiler without its libraries, or a C++ compiler of another package without them, compiles nothing.
    compiles_programs || { compiler=0; echo g++; }
    have cmake || echo cmake
    have ninja || echo ninja-build
    have sqlite3 || echo sqlite3
    library_packages | while read -r package file header; do
        if [ "$compiler" -eq 0 ] || ! has_header "$header" || { [ "$file" != - ] && ! has_library "$file"; }; then echo "$package"; fi
    done
    # Where other systems keep it is not known; all but tmm-db's HTML report is built without it.
    ! have apt-get || [ -f /usr/share/javascript/chart.js/chart.min.js ] || echo libjs-chart.js
}

# install_packages NAME…
install_packages() {
    local sudo=()
    if ! have apt-get; then
        printf 'Missing: %s\nThis system has no apt-get: install these by its own package manager (Debian'"'"'s names).\n' "$*" >&2
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || { printf 'Missing: %s\nNeither root nor sudo is here: have them installed.\n' "$*" >&2; return 1; }
        sudo=(sudo)
    fi
    printf 'Installing %s\n' "$*"
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

ensure_packages() {
    local missing
    mapfile -t missing < <(missing_packages)
    if [ "${#missing[@]}" -eq 0 ]; then
        echo "All are installed."
    else
        install_packages "${missing[@]}"
    fi
}

toolkit_directory() {
    local directory
    for directory in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
        if ! [ -f "$directory/include/cuda.h" ] || ! [ -f "$directory/include/nvrtc.h" ]; then continue; fi
        if compgen -G "$directory/lib64/libnvrtc.so*" >/dev/null || compgen -G "$directory/lib/libnvrtc.so*" >/dev/null; then
            echo "$directory"
            return 0
        fi
    done
    return 1
}

# The toolkit's headers and NVRTC, else those of the pinned wheels, as .deps/cuda/{include,lib}.
ensure_cuda() {
    local toolkit
    if toolkit=$(toolkit_directory); then
        echo "The CUDA toolkit in $toolkit has them."
        cuda_include=$toolkit/include
        return
    fi
    cuda_include=$PWD/.deps/cuda/include
    if [ -f .deps/cuda-wheels.txt ] && cmp -s scripts/cuda-wheels.txt .deps/cuda-wheels.txt && [ -f .deps/cuda/include/cuda.h ]; then
        echo "NVIDIA's Python wheels are in .deps already."
        return
    fi
    python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
    echo "No CUDA toolkit: taking its headers and NVRTC from NVIDIA's Python wheels, into .deps (about 100 MB)."
    rm -rf .deps/python .deps/cuda
    mkdir -p .deps
    python3 -m pip install --quiet --no-deps --only-binary=:all: --require-hashes --no-cache-dir --disable-pip-version-check \
        --root-user-action=ignore --target .deps/python -r scripts/cuda-wheels.txt
    ln -sfn python/nvidia/cu13 .deps/cuda
    [ -f .deps/cuda/include/cuda.h ] && [ -f .deps/cuda/include/nvrtc.h ] && [ -f .deps/cuda/lib/libnvrtc.so.13 ]
    cp scripts/cuda-wheels.txt .deps/cuda-wheels.txt
}

# ensure_nvrtc_versions quick|all: other versions of NVRTC, and nvdisasm, in .deps/nvrtc. What can't be had is left out, and the test says so.
ensure_nvrtc_versions() {
    local package mark folder
    mkdir -p .deps/nvrtc
    while read -r package mark; do
        [ "$1" = all ] || [ "$mark" = quick ] || continue
        folder=.deps/nvrtc/${package##*==}
        [ "${package%%==*}" != nvidia-cuda-nvdisasm ] || folder=.deps/nvrtc/nvdisasm
        [ ! -d "$folder" ] || continue
        rm -rf .deps/nvrtc-made
        if ! python3 -m pip install --quiet --no-deps --only-binary=:all: --no-cache-dir --disable-pip-version-check \
            --root-user-action=ignore --target .deps/nvrtc-made "$package" >/dev/null 2>&1; then
            echo "$package is not to be had: its kernels are not tested."
            continue
        fi
        # A second build of each library, for older systems, takes half of the space.
        find .deps/nvrtc-made -name '*.alt.so*' -delete
        mv .deps/nvrtc-made "$folder"
    done < <(grep -v '^#' scripts/nvrtc-versions.txt)
    ls .deps/nvrtc
}

# configure PRESET [cmake options]
configure() {
    local preset=$1 launcher=()
    shift
    # A folder that another generator or another place filled can't be used again.
    if [ -f "build/$preset/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "build/$preset/CMakeCache.txt"; then
        rm -rf "build/$preset"
    fi
    if have ccache; then
        launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache -DTMM_PRECOMPILE_HEADERS=OFF)
    else
        launcher=(-DTMM_PRECOMPILE_HEADERS=ON)
    fi
    mkdir -p build
    cmake --preset "$preset" "${launcher[@]}" -DTMM_CUDA_INCLUDE_DIR="$cuda_include" \
        -DTMM_WARNINGS_AS_ERRORS="${TMM_WARNINGS_AS_ERRORS:-OFF}" "$@" >"build/$preset-configure.log" 2>&1 ||
        { cat "build/$preset-configure.log" >&2; return 1; }
}

# announce CORE_MINUTES DISK: how long a build of everything takes on this machine, and how much room.
announce() {
    printf 'All of it takes about %d minutes on the %d cores here, and %s of disk.\n' $(((${1} + $(nproc) - 1) / $(nproc))) "$(nproc)" "$2"
}

# Copies a build's output to the file. How far the build is stands in one line of a terminal, elsewhere in a line a minute.
show_progress() {
    local log=$1 line last=$SECONDS terminal=0
    [ ! -t 1 ] || terminal=1
    while IFS= read -r line; do
        printf '%s\n' "$line" >&3
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        if [ "$terminal" -eq 1 ]; then
            printf '\r%s of %s ' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        elif [ $((SECONDS - last)) -ge 60 ]; then
            last=$SECONDS
            echo "${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
        fi
    done 3>"$log"
    [ "$terminal" -eq 0 ] || printf '\r'
}

# build PRESET [targets]: says how far it is, and more where it fails.
build() {
    local preset=$1 log="build/$1-build.log" start=$SECONDS
    shift
    cmake --build --preset "$preset" ${1:+--target "$@"} 2>&1 | show_progress "$log" ||
        { (grep -E -A 12 'error|FAILED' "$log" || tail -20 "$log") | head -60 >&2; return 1; }
    echo "Built in $(seconds_text $((SECONDS - start)))."
}

# test_under_address_sanitizer [ctest options]: generated kernels on the emulated device, and damaged inputs.
test_under_address_sanitizer() {
    local sanitized=(test_emulation test_emulation_warps test_emulation_arithmetic test_correctness test_epilogues test_fuzz)
    sanitized+=(test_unused_fields)
    step "Build for AddressSanitizer" "see the messages above"
    configure asan -DTMM_BUILD_TESTS=ON
    build asan "${sanitized[@]}"
    step "Kernels and damaged inputs under AddressSanitizer" "run the failed test alone: build/asan/tests/<name>, with the seed that it printed in TMM_TEST_SEED"
    ctest --preset asan --parallel "$(nproc)" "$@" -R "^($(IFS="|"; echo "${sanitized[*]}"))\$"
}

# Steps 1 to 3 of both scripts.
set_up() {
    step "Packages" "read apt's message above; on other systems install the named packages by hand"
    ensure_packages
    step "CUDA headers and NVRTC" "install the CUDA toolkit (12 or newer), or make pypi.org reachable for pip"
    ensure_cuda
}
