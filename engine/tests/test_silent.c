/* SPDX-License-Identifier: Apache-2.0 */
/* test_silent.c - which silent connection makes room for a new one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/control.h"
#include "process/silent.h"

#define MOST 256

static struct client clients[MOST];
static int peers[MOST];
static uint32_t count;
static struct qp *const attached = (struct qp *)&count; /* any pointer but NULL */

static void add(uid_t uid, struct qp *qp)
{
    int s[2];

    assert_true(count < MOST);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s), 0);
    clients[count] = (struct client){.fd = s[0], .uid = uid, .qp = qp, .deadline = 1000 + count};
    peers[count++] = s[1];
}

static void add_many(uid_t uid, unsigned n)
{
    while (n--)
        add(uid, NULL);
}

static int end(void **state)
{
    (void)state;
    while (count) {
        close(clients[--count].fd);
        close(peers[count]);
    }
    return 0;
}

static void test_quota_of_a_user(void **state)
{
    (void)state;
    add(1000, attached); /* attached ones do not count */
    add_many(1000, SILENT_PER_USER - 1);
    assert_int_equal(silent_victim(clients, count, 1000), SILENT_NONE);
    add_many(1000, 1);
    assert_int_equal(silent_victim(clients, count, 1000), 1);
    assert_int_equal(silent_victim(clients, count, 1001), SILENT_NONE);
    clients[5].deadline = 0; /* age counts, not place */
    assert_int_equal(silent_victim(clients, count, 1000), 5);
}

static void test_connection_with_a_message_stays(void **state)
{
    (void)state;
    add_many(1000, SILENT_PER_USER);
    assert_int_equal(send(peers[0], "hello", 5, 0), 5);
    close(peers[1]); /* its end is handled in the next round */
    peers[1] = dup(0);
    assert_int_equal(silent_victim(clients, count, 1000), 2);
}

static void test_users_share_and_the_heaviest_makes_room(void **state)
{
    uid_t uid;

    (void)state;
    add_many(2000, 1);
    for (uid = 1000; uid < 1004; uid++)
        add_many(uid, uid == 1002 ? SILENT_PER_USER : SILENT_PER_USER - 1);
    assert_int_equal(silent_victim(clients, count, 2001), SILENT_NONE);
    add_many(1003, 1);
    add_many(2002, 1);
    assert_true(count >= SILENT_OF_USERS);
    assert_int_equal(clients[silent_victim(clients, count, 2001)].uid, 1002);
}

static void test_root_has_a_reserve(void **state)
{
    (void)state;
    for (uid_t uid = 1000; count < SILENT_OF_USERS; uid++)
        add_many(uid, SILENT_PER_USER);
    add_many(0, SILENT_OF_ROOT - 1);
    assert_int_equal(silent_victim(clients, count, 0), SILENT_NONE);
    assert_true(clients[silent_victim(clients, count, 3000)].uid != 0);
    add_many(0, 1);
    assert_int_equal(silent_victim(clients, count, 0), SILENT_OF_USERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_quota_of_a_user, end),
        cmocka_unit_test_teardown(test_connection_with_a_message_stays, end),
        cmocka_unit_test_teardown(test_users_share_and_the_heaviest_makes_room, end),
        cmocka_unit_test_teardown(test_root_has_a_reserve, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
