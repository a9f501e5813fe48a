// One callable from several, for std::visit: Overloaded{[](const A&) {...}, [](const B&) {...}}.
#pragma once

namespace weft {

template <class... Callables>
struct Overloaded : Callables... {
  using Callables::operator()...;
};
template <class... Callables>
Overloaded(Callables...) -> Overloaded<Callables...>;  // clang 16 does not deduce it

}  // namespace weft
