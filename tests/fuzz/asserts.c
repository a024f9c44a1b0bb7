/* SPDX-License-Identifier: Apache-2.0 */
/* asserts.c - for targets built on the test benches: the assertions of those must hold too. */
#include "fuzz.h"

int fuzz_verbose;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* a failed assert aborts, which is a finding */
    fuzz_verbose = getenv("TOE_FUZZ_VERBOSE") != NULL;
    return 0;
}
