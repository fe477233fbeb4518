// Code for the emulated device is known by the CPU that it was made for: in the cache of kernels, in bundles, and when it is loaded.
#include <doctest/doctest.h>
#include <elf.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include <cstring>
#include <string>
#include <variant>

#include "base/text/environment.h"
#include "generator/compile/compiler.h"
#include "generator/compile/shared_object.h"
#include "tests/support/kernels/emulation_testing.h"

using namespace tmm;
using emulation_testing::contains;

namespace {

// Options behind the compiler that kernels are made with, while it lives.
class CompilerOptions {
public:
    explicit CompilerOptions(const std::string& options) : before_(host_compiler_command()) {
        setenv("TMM_CXX", ((before_.empty() ? "c++" : before_) + " " + options).c_str(), 1);
    }
    ~CompilerOptions() { before_.empty() ? unsetenv("TMM_CXX") : setenv("TMM_CXX", before_.c_str(), 1); }
    CompilerOptions(const CompilerOptions&) = delete;
    CompilerOptions& operator=(const CompilerOptions&) = delete;

private:
    std::string before_;
};

std::string machine_of_the_system() {
    utsname system;
    REQUIRE(uname(&system) == 0);
    return system.machine;
}

}  // namespace

TEST_CASE("the key of a cached kernel, and a bundle's kind of code, name the architecture") {
    CHECK(host_machine() == machine_of_the_system());
    CHECK(host_cpu().starts_with(host_machine()));
    CHECK(contains(make_host_compiler()->identity(), host_cpu()));
    CHECK(contains(host_code_kind(), host_cpu()));
}

TEST_CASE("options of TMM_CXX that name instructions are a part of both, and what stands for this CPU's is not the same on all") {
    const std::string plain = host_cpu(), kind = host_code_kind();
    {
        const CompilerOptions options("-mtune=generic -O1");
        CHECK(host_cpu() == plain + " -mtune=generic");
        CHECK(host_code_kind() != kind);
    }
    for (const std::string option : {"-march=native", "-mcpu=native"}) {
        const CompilerOptions options(option);
        CAPTURE(option);
        // "-march=native(0123456789abcdef)": a hash of the instructions that the CPU has.
        CHECK(host_cpu().starts_with(plain + " " + option + "("));
        CHECK(host_cpu().size() == plain.size() + option.size() + 19);
        CHECK(contains(make_host_compiler()->identity(), host_cpu()));
    }
    CHECK(host_cpu() == plain);
}

TEST_CASE("code for another machine is no shared object that can be loaded, and the device says so") {
    CompiledKernel kernel = emulation_testing::compiled("static_cast<int*>(args.out)[threadIdx.x] = 7;");
    CHECK(is_shared_object(kernel.image));
    CHECK(emulation_testing::results<int>(kernel, "ascending", {}, 32)[31] == 7);
    Elf64_Ehdr header;
    std::memcpy(&header, kernel.image.data(), sizeof header);
    for (const int number : {EM_X86_64, EM_AARCH64, EM_RISCV, EM_PPC64}) {
        const auto machine = static_cast<Elf64_Half>(number);
        if (machine == header.e_machine) continue;
        std::memcpy(kernel.image.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
        CHECK_FALSE(is_shared_object(kernel.image));
        CHECK_THROWS_WITH_AS(make_host_device("ascending")->load(kernel, "test_kernel"),
                             ("the image of a kernel is damaged, or for another machine than " + host_machine()).c_str(), UnusableImage);
    }
}
