/* SPDX-License-Identifier: Apache-2.0 */
/* sanitizer.h - programs built with AddressSanitizer. */
#ifndef TOE_CLI_SANITIZER_H
#define TOE_CLI_SANITIZER_H

#include <stdbool.h>

/* Lets AddressSanitizer accept the preloaded library, if the program of this file is built with it:
 * its runtime ends the program when another library comes before it, unless ASAN_OPTIONS says
 * verify_asan_link_order=0. Options that the user has set stay. Returns false when there is no
 * memory. */
bool cli_allow_preload_with_asan(const char *path);

#endif
