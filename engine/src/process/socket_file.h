/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_file.h - the file of a Unix socket, in a directory that another user may own. That user
 * can rename every entry, and replace it by a link, at any time. The file gets its owner and mode
 * in a directory of this process, and nothing is changed by a path that the other user can
 * redirect.
 */
#ifndef ENGINE_SOCKET_FILE_H
#define ENGINE_SOCKET_FILE_H

#include <stddef.h>
#include <sys/types.h>

#define SOCKET_FILE_NO_OWNER ((uid_t)-1) /* for uid and gid: leave it */

/* Identifies the file; ino 0: none. */
struct socket_file {
    dev_t dev;
    ino_t ino;
};

/*
 * Makes fd, a Unix socket without an address, listen at path with mode 0660 and this owner. Creates
 * the directory when only its last component is missing. Replaces a socket that has no listener;
 * fails when there is one, or anything else. Returns 0, or -1 with the reason in err.
 */
int socket_file_listen(int fd, int backlog, const char *path, uid_t uid, gid_t gid,
                       struct socket_file *made, char *err, size_t err_size);

/* Sets *found to the file at path if this process listens there, else to none. */
void socket_file_find(const char *path, struct socket_file *found);

/* Unlinks path if it is still this file. Returns 0, or -1 with errno. */
int socket_file_remove(const char *path, const struct socket_file *made);

#endif
