// The forward pass of a perceptron of two layers with a skip connection, each layer one kernel with its epilogue:
//
//     hidden = gelu_tanh(x * W1' + b1),      y = hidden * W2' + b2 + x
//
// checked against a plain loop in double precision. It trains nothing.
// Usage: perceptron [device]   a CUDA ordinal; without one, the emulation on the CPU
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <tmm/tmm.hpp>
#include <vector>

namespace {

constexpr std::int64_t kRows = 48;
constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kHidden = 160;

using Matrix = std::vector<float>;

// What of CUDA's driver the program needs. It is opened at run time, so that the program starts without one.
class Driver {
public:
    // The device's primary context is the one that tmm works in.
    explicit Driver(int ordinal) : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
        if (!library_) throw std::runtime_error("libcuda.so.1 can't be opened: is a driver installed?");
        int device = 0;
        void* context = nullptr;
        call<int (*)(unsigned)>("cuInit", 0U);
        call<int (*)(int*, int)>("cuDeviceGet", &device, ordinal);
        call<int (*)(void**, int)>("cuDevicePrimaryCtxRetain", &context, device);
        call<int (*)(void*)>("cuCtxSetCurrent", context);
    }

    template <typename Function, typename... Arguments>
    void call(const char* name, Arguments... arguments) const {
        const auto function = reinterpret_cast<Function>(dlsym(library_, name));
        if (!function) throw std::runtime_error(std::string("the driver has no ") + name);
        if (const int result = function(arguments...)) throw std::runtime_error(std::string(name) + " gave " + std::to_string(result));
    }

private:
    void* library_;
};

// A matrix in the device's memory, which is the process's own on the emulated device (driver is null there).
class OnDevice {
public:
    OnDevice(const Driver* driver, const Matrix& matrix) : driver_(driver), own_(matrix) {
        if (!driver_) return;
        driver_->call<int (*)(std::uint64_t*, std::size_t)>("cuMemAlloc_v2", &address_, bytes());
        driver_->call<int (*)(std::uint64_t, const void*, std::size_t)>("cuMemcpyHtoD_v2", address_, static_cast<const void*>(own_.data()),
                                                                        bytes());
    }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
    ~OnDevice() {
        if (driver_) try {
                driver_->call<int (*)(std::uint64_t)>("cuMemFree_v2", address_);
            } catch (const std::exception&) {
            }
    }

    float* data() { return driver_ ? reinterpret_cast<float*>(address_) : own_.data(); }

    // Waits for the kernels of the default stream.
    const Matrix& on_host() {
        if (driver_)
            driver_->call<int (*)(void*, std::uint64_t, std::size_t)>("cuMemcpyDtoH_v2", static_cast<void*>(own_.data()), address_,
                                                                      bytes());
        return own_;
    }

private:
    std::size_t bytes() const { return own_.size() * sizeof(float); }

    const Driver* driver_;
    Matrix own_;
    std::uint64_t address_ = 0;
};

// Numbers between -1 and 1 that are the same in every run.
Matrix numbers(std::int64_t count, unsigned seed) {
    Matrix made(static_cast<std::size_t>(count));
    for (float& value : made) {
        seed = seed * 1664525U + 1013904223U;
        value = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
    }
    return made;
}

// x * W' + bias, in double precision.
std::vector<double> layer(const std::vector<double>& x, const Matrix& weights, const Matrix& bias, std::int64_t inputs,
                          std::int64_t outputs) {
    std::vector<double> result;
    for (std::int64_t row = 0; row < kRows; ++row) {
        for (std::int64_t output = 0; output < outputs; ++output) {
            double sum = static_cast<double>(bias[static_cast<std::size_t>(output)]);
            for (std::int64_t i = 0; i < inputs; ++i)
                sum += x[static_cast<std::size_t>(row * inputs + i)] *
                       static_cast<double>(weights[static_cast<std::size_t>(output * inputs + i)]);
            result.push_back(sum);
        }
    }
    return result;
}

std::vector<double> expected_of(const Matrix& x, const Matrix& w1, const Matrix& b1, const Matrix& w2, const Matrix& b2) {
    std::vector<double> hidden = layer({x.begin(), x.end()}, w1, b1, kWidth, kHidden);
    for (double& value : hidden) value *= 0.5 * (1 + std::tanh(0.7978845608028654 * (value + 0.044715 * value * value * value)));
    std::vector<double> y = layer(hidden, w2, b2, kHidden, kWidth);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += static_cast<double>(x[i]);
    return y;
}

}  // namespace

int main(int argc, char** argv) try {
    const int device = argc > 1 ? std::atoi(argv[1]) : TMM_DEVICE_HOST;
    const auto driver = device == TMM_DEVICE_HOST ? nullptr : std::make_unique<Driver>(device);
    const Matrix x = numbers(kRows * kWidth, 1), w1 = numbers(kHidden * kWidth, 2), b1 = numbers(kHidden, 3);
    const Matrix w2 = numbers(kWidth * kHidden, 4), b2 = numbers(kWidth, 5);
    OnDevice x_there(driver.get(), x), w1_there(driver.get(), w1), b1_there(driver.get(), b1), w2_there(driver.get(), w2);
    OnDevice b2_there(driver.get(), b2), hidden_there(driver.get(), Matrix(kRows * kHidden)), y_there(driver.get(), Matrix(kRows * kWidth));

    // A layer's weights have a row for each of its outputs, so that the product takes their transpose.
    tmm::Handle handle(device);
    tmmGemmProblem_t first = tmm::problem(kRows, kHidden, kWidth, TMM_NO_TRANS, TMM_TRANS);
    first.has_bias = 1;
    first.activation = TMM_ACTIVATION_GELU_TANH;
    tmmGemmProblem_t second = tmm::problem(kRows, kWidth, kHidden, TMM_NO_TRANS, TMM_TRANS);
    second.has_bias = 1;
    second.has_residual = 1;
    second.ldr = kWidth;
    const tmm::Plan first_plan = handle.plan(first), second_plan = handle.plan(second);

    const float alpha = 1, beta = 0;
    tmmGemmArgs_t args = tmm::args(&alpha, x_there.data(), w1_there.data(), &beta, hidden_there.data());
    args.bias = b1_there.data();
    first_plan.run(args);
    args = tmm::args(&alpha, hidden_there.data(), w2_there.data(), &beta, y_there.data());
    args.bias = b2_there.data();
    args.residual = x_there.data();
    second_plan.run(args);

    const Matrix& y = y_there.on_host();
    const std::vector<double> expected = expected_of(x, w1, b1, w2, b2);
    bool right = true;
    double largest = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double error = std::fabs(static_cast<double>(y[i]) - expected[i]);
        // NaN is no small error.
        right = right && error < 1e-4;
        largest = std::fmax(largest, error);
    }
    std::printf("%s: y[3][5] = %.4f, expected %.4f, largest error %.1e\n", right ? "right" : "wrong",
                static_cast<double>(y[3 * kWidth + 5]), expected[3 * kWidth + 5], largest);
    return right ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
