/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A plug-in that is loaded with RTLD_DEEPBIND sees the adapter, and keeps its own names. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *deep_who(void);

const char *deep_who(void)
{
	return "program";
}

static void *get(void *plugin, const char *name)
{
	void *p = dlsym(plugin, name);

	if (!p) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return p;
}

static void check(const char *what, int is)
{
	printf("%s: %s\n", what, is ? "yes" : "NO");
	if (!is)
		exit(1);
}

int main(int argc, char **argv)
{
	int how = (!strcmp(argv[2], "now") ? RTLD_NOW : RTLD_LAZY) | RTLD_LOCAL | RTLD_DEEPBIND;
	void *plugin;

	check("a library that is not there is an error",
	      !dlopen("/nowhere/at/all.so", how) && strstr(dlerror(), "/nowhere/at/all.so"));
	/* DT_RUNPATH of this program, which calls dlopen() */
	for (int deep = 0; deep <= RTLD_DEEPBIND; deep += RTLD_DEEPBIND) {
		plugin = dlopen(strrchr(argv[1], '/') + 1, (how & ~RTLD_DEEPBIND) | deep);
		check("a name is found where the caller's path says", plugin && !dlclose(plugin));
	}
	plugin = dlopen(argv[1], how);
	check("the plug-in is loaded", plugin != NULL);
	check("no error is left", !dlerror());
	check("names of its own come first",
	      !strcmp(((const char *(*)(void))get(plugin, "plugin_who"))(), "plugin") &&
		      !strcmp(deep_who(), "program"));
	check("also names that softhca has", ((int (*)(void))get(plugin, "plugin_sync"))() == 4711);
	check("it sees sysfs", !((int (*)(void))get(plugin, "plugin_access"))());
	check("it opens the device", ((int (*)(void))get(plugin, "plugin_devices"))() == 1);
	check("it is unloaded", !dlclose(plugin));
	plugin = dlmopen(LM_ID_BASE, argv[1], how & ~RTLD_DEEPBIND);
	check("dlmopen() loads it", plugin != NULL);
	check("as any other",
	      !strcmp(((const char *(*)(void))get(plugin, "plugin_who"))(), "program"));
	return 0;
}
