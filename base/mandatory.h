// Members of a descriptor that must be given.
#pragma once

namespace tmm {

// A value that has no default, so that the descriptor must give one.
template <class T>
class Mandatory {
public:
    constexpr Mandatory(T given) : value_(given) {}
    constexpr operator T() const { return value_; }
    constexpr T operator->() const { return value_; }

private:
    T value_;
};
template <class Result, class... Arguments>
class Mandatory<Result (*)(Arguments...)> {
public:
    using Function = Result (*)(Arguments...);
    constexpr Mandatory(Function given) : value_(given) {}
    template <class... Given>
    constexpr Result operator()(Given&&... given) const {
        return value_(static_cast<Given&&>(given)...);
    }
    constexpr explicit operator bool() const { return value_ != nullptr; }
    constexpr operator Function() const { return value_; }

private:
    Function value_;
};

}  // namespace tmm
