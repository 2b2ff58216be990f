/*
 * The operations of the five questions for peers in C++: the same calls, on memory that is placed
 * in the same way, as in the C kernels of this folder.
 */
#ifndef TICKLAB_OPERATIONS_HPP
#define TICKLAB_OPERATIONS_HPP

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace operations
{

inline volatile std::size_t block_bytes = 64;
inline volatile std::size_t copied_bytes = 4096;

/* What has its cache lines to itself. */
template <typename Value> struct alignas(128) Lines {
    std::atomic<Value> number;
};
inline Lines<long> alone, contended, of_other;
inline Lines<bool> over;
alignas(4096) inline char block[3 * 4096];
inline pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
inline pid_t self;
inline volatile sig_atomic_t taken;

inline void malloc_free()
{
    void *block = std::malloc(block_bytes);
    __asm__ volatile("" : "+r"(block) : : "memory");
    std::free(block);
}

inline void increment_alone()
{
    alone.number.fetch_add(1, std::memory_order_relaxed);
}

inline void increment_contended()
{
    contended.number.fetch_add(1, std::memory_order_relaxed);
}

inline void signal_self()
{
    kill(self, SIGUSR1);
}

inline void copy()
{
    std::memcpy(block + 4096 + 2048, block, copied_bytes);
    __asm__ volatile("" : : : "memory");
}

inline void lock_unlock()
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

inline void take_signals()
{
    struct sigaction action = {};
    action.sa_handler = [](int) { taken = taken + 1; };
    self = getpid();
    sigaction(SIGUSR1, &action, nullptr);
}

inline void create_thread()
{
    std::thread([] {}).join();
}

/* A thread on the CPU of the variable PEER_CPU (the tools have no option for it) that increments
 * `contended` until this object ends. Its maker waits until it is seen to increment. */
class Other
{
  public:
    Other()
    {
        const char *cpu = std::getenv("PEER_CPU");
        if (cpu == nullptr)
            std::abort();
        over.number = false;
        thread_ = std::thread(increment, std::atoi(cpu));
        const long before = contended.number;
        while (contended.number < before + 1000)
            ;
        begin_ = contended.number;
        others_ = of_other.number;
    }
    ~Other()
    {
        over.number = true;
        thread_.join();
    }

    /* How often the other thread has incremented for each increment of this one. */
    double for_each_own() const
    {
        const double others = static_cast<double>(of_other.number - others_);
        return others / (static_cast<double>(contended.number - begin_) - others);
    }

  private:
    static void increment(int cpu)
    {
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(cpu, &only);
        if (sched_setaffinity(0, sizeof only, &only) != 0)
            std::abort();
        while (!over.number) {
            for (int i = 0; i < 64; i++)
                increment_contended();
            of_other.number.store(of_other.number + 64, std::memory_order_relaxed);
        }
    }
    std::thread thread_;
    long begin_, others_;
};

} // namespace operations
#endif
