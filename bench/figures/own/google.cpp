/* The five questions in google/benchmark, as its user guide writes a benchmark. */
#include <benchmark/benchmark.h>

#include "operations.hpp"

template <void operation()> static void measure(benchmark::State &state)
{
    for (auto _ : state)
        operation();
}

static void malloc_free(benchmark::State &state)
{
    measure<operations::malloc_free>(state);
}

static void alone(benchmark::State &state)
{
    measure<operations::increment_alone>(state);
}

static void contended(benchmark::State &state)
{
    const operations::Other other;
    measure<operations::increment_contended>(state);
    state.counters["others"] = other.for_each_own();
}

static void kill_self(benchmark::State &state)
{
    operations::take_signals();
    measure<operations::signal_self>(state);
}

static void memcpy_4k(benchmark::State &state)
{
    measure<operations::copy>(state);
}

static void one_thread(benchmark::State &state)
{
    measure<operations::lock_unlock>(state);
}

static void with_threads(benchmark::State &state)
{
    operations::create_thread();
    measure<operations::lock_unlock>(state);
}

BENCHMARK(malloc_free);
BENCHMARK(alone);
BENCHMARK(contended);
BENCHMARK(kill_self);
BENCHMARK(memcpy_4k);
BENCHMARK(one_thread);
BENCHMARK(with_threads);

#ifdef RANDOM_PLACES
/* BENCHMARK_MAIN() starts the program again without randomised addresses. This leaves them on. */
int main(int argc, char **argv)
{
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
#else
BENCHMARK_MAIN();
#endif
