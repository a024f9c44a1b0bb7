/* SPDX-License-Identifier: Apache-2.0 */
/* assert.h - what device/include/toe/hyb_regs.h needs of the C library's header: there is none. */
#ifndef ASSERT_H
#define ASSERT_H

#define static_assert _Static_assert

#endif
