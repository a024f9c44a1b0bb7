/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - line A B: nanoseconds in which a cache line travels from CPU A to CPU B and back, the
 * lower bound of a round trip between two cores. Two threads pass a number back and forth; prints
 * the median of 200 rounds.
 *
 * In a virtual machine the result shows where the host has placed the two CPUs: on one core, one
 * socket, or two.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <toe/number.h>

#define ROUNDS 200u
#define TRIPS  1000u

static struct {
    _Alignas(128) _Atomic uint32_t there;
    _Alignas(128) _Atomic uint32_t back;
} line;

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int pin(const char *cpu)
{
    cpu_set_t set;
    uint64_t n;

    if (!toe_number(cpu, 0, CPU_SETSIZE - 1, &n, NULL, 0))
        return -1;
    CPU_ZERO(&set);
    CPU_SET(n, &set);
    return sched_setaffinity(0, sizeof(set), &set);
}

static void *answer(void *cpu)
{
    if (pin(cpu) != 0)
        return cpu;
    for (uint32_t i = 1; i <= ROUNDS * TRIPS; i++) {
        while (atomic_load_explicit(&line.there, memory_order_acquire) != i)
            ;
        atomic_store_explicit(&line.back, i, memory_order_release);
    }
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    uint64_t ns[ROUNDS];
    uint64_t median;
    pthread_t other;
    uint32_t i = 0;

    if (argc != 3 || strcmp(argv[1], argv[2]) == 0 || pin(argv[2]) != 0 || pin(argv[1]) != 0) {
        fputs("usage: line CPU CPU, two that this process may run on\n", stderr);
        return 2;
    }
    if (pthread_create(&other, NULL, answer, argv[2]) != 0) {
        fputs("line: no thread\n", stderr);
        return 1;
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t begin = clock_ns();

        for (uint32_t trip = 0; trip < TRIPS; trip++) {
            atomic_store_explicit(&line.there, ++i, memory_order_release);
            while (atomic_load_explicit(&line.back, memory_order_acquire) != i)
                ;
        }
        ns[round] = clock_ns() - begin;
    }
    pthread_join(other, NULL);
    qsort(ns, ROUNDS, sizeof(ns[0]), by_size);
    median = ns[ROUNDS / 2]; /* of all trips of a round */
    printf("%.1f\n", (double)median / TRIPS);
    return 0;
}
