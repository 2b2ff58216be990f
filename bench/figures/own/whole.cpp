/* One of the questions as a whole command, for hyperfine: so many operations, and the end. */
#include <cstdio>
#include <string>

#include "operations.hpp"

template <void operation()> static int repeat(long count)
{
    for (; count > 0; count--)
        operation();
    return 0;
}

int main(int argc, char **argv)
{
    const std::string name = argc == 3 ? argv[1] : "";
    const long count = argc == 3 ? std::atol(argv[2]) : 0;
    if (name == "malloc_free")
        return repeat<operations::malloc_free>(count);
    if (name == "alone")
        return repeat<operations::increment_alone>(count);
    if (name == "contended") {
        const operations::Other other;
        return repeat<operations::increment_contended>(count);
    }
    if (name == "kill_self") {
        operations::take_signals();
        return repeat<operations::signal_self>(count);
    }
    if (name == "memcpy_4k")
        return repeat<operations::copy>(count);
    if (name == "one_thread")
        return repeat<operations::lock_unlock>(count);
    if (name == "with_threads") {
        operations::create_thread();
        return repeat<operations::lock_unlock>(count);
    }
    std::fprintf(stderr, "usage: whole NAME COUNT\n");
    return 2;
}
