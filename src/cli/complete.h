/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion of a command line, for the scripts that shells load. */
#ifndef SOFTHCA_CLI_COMPLETE_H
#define SOFTHCA_CLI_COMPLETE_H

/*
 * Writes what the last of the words behind `softhca` may become, a line each: the word, a tab, and
 * its meaning. ":files" stands for a file's name; ":command N" says that the words from the Nth on
 * (from 0) are another command and its arguments. Exit status.
 */
int complete(int n, char **words);

#endif
