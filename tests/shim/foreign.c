/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program into which the library cannot be loaded (another C library, no loader): it runs
 * undisturbed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char cwd[4096], text[16] = "";
	struct stat st;
	FILE *f = fopen("/proc/self/comm", "r");
	int fd = open("/dev/infiniband/uverbs0", O_RDWR), pid = fork();
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!pid)
		_exit(0);
	if (!f || !fgets(text, sizeof(text), f) || p == MAP_FAILED || munmap(p, 4096) ||
	    stat("/", &st) || !getcwd(cwd, sizeof(cwd)) || !realpath("/.", NULL) || fclose(f))
		return 1;
	printf("foreign: %s device\n", fd < 0 ? "no" : "a");
	fflush(stdout);
	if (argc > 1)
		execvp(argv[1], argv + 1);
	return 7;
}
