/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot_secret.h - the secret that all TOEs of a user share until the machine boots again.
 *
 * A program whose engine is its own (docs/INLINE.md), or a toed, may start again while peers still
 * have connections of its predecessor in TIME-WAIT. A peer accepts a SYN for such a connection if
 * its sequence number or its timestamp follows the last one (RFC 6191). Linux ensures that by keys
 * that it draws once per boot. So does this secret, together with CLOCK_MONOTONIC.
 */
#ifndef ENGINE_BOOT_SECRET_H
#define ENGINE_BOOT_SECRET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BOOT_SECRET_BYTES 16

/* Sets path to the file of the effective user: /run/toehold.secret of root,
 * /run/user/UID/toehold.secret of others. Both are gone after a boot. */
void boot_secret_path(uid_t uid, char *path, size_t size);

/*
 * Reads the secret from the file, which is created if it is missing. Of processes that create it at
 * once one wins, and all get its secret. The file must be a regular one of the effective user, of
 * mode 0600, this size and one link, and not all zero: another user might know or change anything
 * else. Returns 0, or -1 with a sentence in why; then nothing was changed.
 */
int boot_secret_read(const char *path, uint8_t secret[BOOT_SECRET_BYTES], char *why,
                     size_t why_size);

#endif
