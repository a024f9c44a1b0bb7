/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - the numbers that a program's environment may set, TOEHOLD_NAME each, and their
 * ranges: for libtoe, which reads them, and for `toehold run`, which rejects wrong ones before the
 * program starts. toe/toe.h documents their meaning.
 */
#ifndef TOE_SETTINGS_H
#define TOE_SETTINGS_H

#include <toe/device.h>

/* X(NAME, lowest, highest, whether it is a power of two) */
#define TOEDEV_NUMBERS(X)                                                                          \
    X(SLOTS, 1, TOEDEV_SLOTS_MAX, 1)                                                               \
    X(TX_SIZE, TOEDEV_BUFFER_MIN, TOEDEV_BUFFER_MAX, 1)                                            \
    X(RX_SIZE, TOEDEV_BUFFER_MIN, TOEDEV_BUFFER_MAX, 1)                                            \
    X(BUSY_POLL_US, 0, 1000000, 0)                                                                 \
    X(IRQ_COUNT, 0, 65536, 0)                                                                      \
    X(IRQ_USEC, 0, 1000000, 0)                                                                     \
    X(HOLD_MIN, 0, UINT32_MAX, 0)                                                                  \
    X(ZEROCOPY_MIN, 1, UINT32_MAX, 0)

/* 0 or 1 */
#define TOEDEV_FLAGS(X)                                                                            \
    X(INLINE_BATCH)                                                                                \
    X(IO_URING)                                                                                    \
    X(REQUIRE)                                                                                     \
    X(REPORT)

#endif
