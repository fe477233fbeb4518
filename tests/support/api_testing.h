// Helpers that tests of the C interface share: the devices to run on, matrices in their memory, and the loop of FMAs that results are
// compared with.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "generator/problem/number_codec.h"
#include "runtime/device/device.h"
#include "tmm/tmm.h"

namespace api_testing {

// The emulated device, and GPU 0 where there is one.
inline std::vector<int> devices() {
    std::vector<int> ordinals{TMM_DEVICE_HOST};
    if (tmm::gpu_count() > 0) ordinals.push_back(0);
    return ordinals;
}

// A directory of its own, removed at the end. Kernels are cached in the build folder unless TMM_CACHE_DIR says otherwise.
class Scratch {
public:
    Scratch() {
        setenv("TMM_CACHE_DIR", TMM_BINARY_DIR "/test_cache", 0);
        std::string name = (std::filesystem::temp_directory_path() / "tmm-test-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()));
        path_ = name;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

// Captures the log's lines while it lives, and then gives the log back to the capture that it took it from.
class LogCapture {
public:
    LogCapture() : before_(std::exchange(newest_, this)) { listen(); }
    ~LogCapture() {
        newest_ = before_;
        listen();
    }
    LogCapture(const LogCapture&) = delete;
    LogCapture& operator=(const LogCapture&) = delete;
    std::vector<std::string> lines;

private:
    static void listen() {
        const auto add = [](const char* line, void* user) { static_cast<LogCapture*>(user)->lines.emplace_back(line); };
        tmmSetLogCallback(newest_ ? +add : nullptr, newest_);
    }

    inline static LogCapture* newest_ = nullptr;
    LogCapture* before_;
};

// A handle without a tuning database, and its device's memory.
class Fixture {
public:
    explicit Fixture(int ordinal, const std::string& database = "") : device(tmm::open_device(ordinal)) {
        LogCapture log;
        const std::string file = database.empty() ? scratch.file("none.db") : database;
        const tmmStatus_t status = tmmCreate(&handle, ordinal, file.c_str());
        REQUIRE_MESSAGE(status == TMM_STATUS_SUCCESS, tmmLastError(nullptr));
    }
    ~Fixture() { tmmDestroy(handle); }
    Fixture(const Fixture&) = delete;
    Fixture& operator=(const Fixture&) = delete;

    Scratch scratch;
    std::shared_ptr<tmm::Device> device;
    tmmHandle_t handle = nullptr;
};

// The bits of a value rounded to a 16-bit type, to the nearest, ties to even.
inline std::uint16_t to_bits(tmmType_t type, float value) {
    if (type == TMM_F16) return static_cast<std::uint16_t>(tmm::encoded(tmm::ElementType::f16, value));
    if (std::isnan(value)) return 0x7fff;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const float below = std::bit_cast<float>(bits & 0xffff0000u);
    const std::uint32_t middle = (bits & 0xffff0000u) | 0x8000u;
    const bool up = bits > middle || (bits == middle && (bits & 0x10000u) != 0);
    return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(below) >> 16) + (up ? 1 : 0));
}
inline float from_bits(tmmType_t type, std::uint16_t bits) {
    if (type == TMM_F16) return static_cast<float>(tmm::decoded(tmm::ElementType::f16, bits));
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
}
inline float rounded_to(tmmType_t type, float value) {
    return type == TMM_F32 || type == TMM_F64 ? value : from_bits(type, to_bits(type, value));
}
inline double rounded_to(tmmType_t, double value) {
    return value;
}
inline std::vector<double> rounded_to(tmmType_t, std::vector<double> values) {
    return values;
}
inline std::vector<float> rounded_to(tmmType_t type, std::vector<float> values) {
    for (float& value : values) value = rounded_to(type, value);
    return values;
}
inline std::size_t size_of(tmmType_t type) {
    return type == TMM_F64 ? sizeof(double) : type == TMM_F32 ? sizeof(float) : sizeof(std::uint16_t);
}

// Values in device memory, `offset` elements past an aligned address; what the test has as floats lies there in the type, and doubles as
// they are.
template <class T>
class MatrixOnDevice {
public:
    MatrixOnDevice(const Fixture& on, const std::vector<T>& values, std::size_t offset = 0, tmmType_t type = kPlain)
        : device_(on.device),
          count_(values.size()),
          offset_(offset),
          type_(type),
          buffer_(on.device, (values.size() + offset + 4) * size_of(type)) {
        write(values);
    }
    void write(const std::vector<T>& values) const {
        if (type_ == kPlain) return device_->copy_to_device(address(), values.data(), values.size() * sizeof(T));
        std::vector<std::uint16_t> bits;
        for (const T value : values) bits.push_back(to_bits(type_, static_cast<float>(value)));
        device_->copy_to_device(address(), bits.data(), bits.size() * sizeof(std::uint16_t));
    }
    // The addresses of the first element, for elements of any type and for T.
    void* address() const { return static_cast<char*>(buffer_.data()) + offset_ * size_of(type_); }
    T* data() const { return static_cast<T*>(address()); }
    std::vector<T> read() const {
        std::vector<T> values(count_);
        if (type_ == kPlain) {
            device_->copy_to_host(values.data(), address(), count_ * sizeof(T));
            return values;
        }
        std::vector<std::uint16_t> bits(count_);
        device_->copy_to_host(bits.data(), address(), count_ * sizeof(std::uint16_t));
        for (std::size_t i = 0; i < count_; ++i) values[i] = from_bits(type_, bits[i]);
        return values;
    }

private:
    static constexpr tmmType_t kPlain = sizeof(T) == sizeof(double) ? TMM_F64 : TMM_F32;
    std::shared_ptr<tmm::Device> device_;
    std::size_t count_;
    std::size_t offset_;
    tmmType_t type_;
    tmm::DeviceBuffer buffer_;
};
using OnDevice = MatrixOnDevice<float>;

template <class T = float>
std::vector<T> normal_values(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<T> normal;
    std::vector<T> values(count);
    for (T& value : values) value = normal(random);
    return values;
}

struct Product {
    tmmLayout_t layout = TMM_ROW_MAJOR;
    tmmOperation_t op_a = TMM_NO_TRANS;
    tmmOperation_t op_b = TMM_NO_TRANS;
    std::int64_t m = 0, n = 0, k = 0;
    float alpha = 1, beta = 0;
    // Elements between the end of a stored row (or column) and the next.
    std::int64_t pad_a = 0, pad_b = 0, pad_c = 0;
    // The types of A and B, and of C. Values are given as floats that the type holds, or as doubles of TMM_F64.
    tmmType_t type = TMM_F32, type_c = TMM_F32;

    bool row() const { return layout == TMM_ROW_MAJOR; }
    bool plain_a() const { return row() == (op_a == TMM_NO_TRANS); }
    bool plain_b() const { return row() == (op_b == TMM_NO_TRANS); }
    std::int64_t lda() const { return std::max<std::int64_t>(1, plain_a() ? k : m) + pad_a; }
    std::int64_t ldb() const { return std::max<std::int64_t>(1, plain_b() ? n : k) + pad_b; }
    std::int64_t ldc() const { return std::max<std::int64_t>(1, row() ? n : m) + pad_c; }
    std::size_t size_a() const { return static_cast<std::size_t>((plain_a() ? m : k) * lda()); }
    std::size_t size_b() const { return static_cast<std::size_t>((plain_b() ? k : n) * ldb()); }
    std::size_t size_c() const { return static_cast<std::size_t>((row() ? m : n) * ldc()); }
    // op(A)(i, p), op(B)(p, j), C(i, j).
    std::size_t at_a(std::int64_t i, std::int64_t p) const { return static_cast<std::size_t>(plain_a() ? i * lda() + p : p * lda() + i); }
    std::size_t at_b(std::int64_t p, std::int64_t j) const { return static_cast<std::size_t>(plain_b() ? p * ldb() + j : j * ldb() + p); }
    std::size_t at_c(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(row() ? i * ldc() + j : j * ldc() + i); }

    std::string text() const {
        return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + (row() ? " row " : " col ") +
               (op_a == TMM_NO_TRANS ? "n" : "t") + (op_b == TMM_NO_TRANS ? "n" : "t") + " lda=" + std::to_string(lda()) +
               " ldb=" + std::to_string(ldb()) + " ldc=" + std::to_string(ldc()) + " alpha=" + std::to_string(alpha) +
               " beta=" + std::to_string(beta);
    }
};

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

// Compares `c`, which was `before`, with a loop of FMAs of T: non-finite values must be where the loop puts them, finite ones within the
// componentwise bound (and the rounding to the type of C), and what is no element of C must be bit for bit as it was. Returns the first
// difference in words; it is empty where there is none.
template <class T>
std::string difference(const Product& p, const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& before,
                       const std::vector<T>& c) {
    // The exact sums are wider: a product of two floats fits a double, and the errors of a sum of doubles are seen by 11 digits more.
    using Exact = std::conditional_t<std::is_same_v<T, float>, double, long double>;
    const T alpha = p.alpha, beta = p.beta;
    std::vector<char> element(c.size(), 0);
    for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t j = 0; j < p.n; ++j) {
            T loop = 0;
            Exact sum = 0;
            Exact magnitude = 0;
            if (alpha != 0) {
                for (std::int64_t q = 0; q < p.k; ++q) {
                    const T x = a[p.at_a(i, q)];
                    const T y = b[p.at_b(q, j)];
                    loop = std::fma(x, y, loop);
                    sum += static_cast<Exact>(x) * static_cast<Exact>(y);
                    magnitude += std::abs(static_cast<Exact>(x) * static_cast<Exact>(y));
                }
            }
            const std::size_t at = p.at_c(i, j);
            element[at] = 1;
            const bool product = alpha != 0 && p.k > 0;
            T expected = product ? alpha * loop : T{0};
            Exact exact = product ? static_cast<Exact>(alpha) * sum : Exact{0};
            magnitude *= std::abs(static_cast<Exact>(alpha));
            if (beta != 0) {
                expected = std::fma(beta, before[at], expected);
                exact += static_cast<Exact>(beta) * static_cast<Exact>(before[at]);
                magnitude += std::abs(static_cast<Exact>(beta) * static_cast<Exact>(before[at]));
            }
            expected = rounded_to(p.type_c, expected);
            const T got = c[at];
            const std::string place = p.text() + ": C(" + std::to_string(i) + ", " + std::to_string(j) + ") = " + std::to_string(got);
            if (std::isnan(expected) || std::isinf(expected)) {
                const bool same = std::isnan(expected) ? std::isnan(got) : got == expected;
                if (!same) return place + ", a loop of FMAs gives " + std::to_string(expected);
            } else {
                Exact bound = static_cast<Exact>(p.k + 3) * std::ldexp(Exact{1}, -std::numeric_limits<T>::digits) * magnitude;
                // This is half the distance between two numbers of 11 or 8 digits.
                if (p.type_c == TMM_F16) bound += std::ldexp(Exact{1}, std::max(got == 0 ? -14 : std::ilogb(got), -14) - 11);
                if (p.type_c == TMM_BF16) bound += std::ldexp(Exact{1}, std::max(got == 0 ? -126 : std::ilogb(got), -126) - 8);
                if (!(std::abs(static_cast<Exact>(got) - exact) <= bound)) return place + ", expected " + std::to_string(exact);
            }
        }
    }
    for (std::size_t i = 0; i < c.size(); ++i)
        if (!element[i] && !(std::isnan(c[i]) && std::isnan(before[i])) && std::memcmp(&c[i], &before[i], sizeof(T)) != 0)
            return p.text() + ": padding at " + std::to_string(i) + " was written";
    return "";
}

inline tmmStatus_t sgemm(tmmHandle_t handle, const Product& p, const float* a, const float* b, float* c) {
    return tmmSgemm(handle, p.layout, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, a, p.lda(), b, p.ldb(), &p.beta, c, p.ldc());
}

inline tmmGemmProblem_t problem_of(const Product& p) {
    tmmGemmProblem_t problem;
    tmmGemmProblemInit(&problem);
    problem.layout = p.layout;
    problem.op_a = p.op_a;
    problem.op_b = p.op_b;
    problem.m = p.m;
    problem.n = p.n;
    problem.k = p.k;
    problem.lda = p.lda();
    problem.ldb = p.ldb();
    problem.ldc = p.ldc();
    problem.type_a = problem.type_b = p.type;
    problem.type_c = p.type_c;
    problem.reads_c = p.beta != 0 ? 1 : 0;
    return problem;
}

inline tmmGemmArgs_t args_of(const Product& p, const void* a, const void* b, void* c) {
    tmmGemmArgs_t args = {};
    args.struct_size = sizeof args;
    args.alpha = &p.alpha;
    args.beta = &p.beta;
    args.a = a;
    args.b = b;
    args.c = c;
    return args;
}

// Runs tmmSgemm on given operands, misaligned by `offset` elements. Returns the difference from the loop, or the failure, in words.
inline std::string run_and_compare(const Fixture& on, const Product& p, const std::vector<float>& a, const std::vector<float>& b,
                                   const std::vector<float>& before, std::size_t offset = 0) {
    const OnDevice da(on, a, offset);
    const OnDevice db(on, b, offset);
    const OnDevice dc(on, before, offset);
    if (sgemm(on.handle, p, da.data(), db.data(), dc.data()) != TMM_STATUS_SUCCESS) return p.text() + ": " + tmmLastError(on.handle);
    on.device->synchronize();
    return difference(p, a, b, before, dc.read());
}

}  // namespace api_testing
