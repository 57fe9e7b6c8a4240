/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The configuration space as a reader of capabilities walks it, and the vital product data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "fabric/pci.h"
#include "util/cleanup.h"

static const struct fab_sysfs_ids ids = {.pci_device = 0x101b, .hw_rev = 1};
static const struct hw_hca hca = {.model = HW_CX6,
				  .caps.pci_gen = 4,
				  .dev_index = 3,
				  .node_guid = UINT64_C(0x0123456789abcdef)};
static uint8_t config[PCI_CFG_SPACE_EXP_SIZE];

static uint32_t get(unsigned int at, unsigned int n)
{
	uint32_t v = 0;

	while (n--)
		v = v << 8 | config[at + n];
	return v;
}

static int fill(void **state)
{
	struct pci_function f;

	pci_function(&f, &hca, false, &ids, "5a17:00:03.0");
	pci_config(&f, config);
	return 0;
}

/* Where a capability is in the list; 0: it is not. */
static unsigned int cap(uint32_t id)
{
	unsigned int at = config[PCI_CAPABILITY_LIST];

	for (int n = 0; at; n++, at = config[at + PCI_CAP_LIST_NEXT]) {
		assert_true(n < 16 && at >= PCI_STD_HEADER_SIZEOF && at % 4 == 0);
		if (config[at] == id)
			return at;
	}
	return 0;
}

static unsigned int ext_cap(uint32_t id)
{
	unsigned int at = PCI_CFG_SPACE_SIZE;

	for (int n = 0; at; n++, at = PCI_EXT_CAP_NEXT(get(at, 4))) {
		assert_true(n < 16 && at >= PCI_CFG_SPACE_SIZE);
		if (PCI_EXT_CAP_ID(get(at, 4)) == id)
			return at;
	}
	return 0;
}

static void header_names_the_adapter(void **state)
{
	assert_int_equal(get(PCI_VENDOR_ID, 2), 0x15b3);
	assert_int_equal(get(PCI_DEVICE_ID, 2), 0x101b);
	assert_int_equal(get(PCI_CLASS_DEVICE, 2), 0x0207);
	assert_int_equal(get(PCI_REVISION_ID, 1), 1);
	assert_int_equal(get(PCI_SUBSYSTEM_ID, 2), 7);
	assert_int_equal(get(PCI_BASE_ADDRESS_0, 4), 0x0600000c);
	assert_int_equal(get(PCI_BASE_ADDRESS_1, 4), 0x5a17);
	assert_true(get(PCI_STATUS, 2) & PCI_STATUS_CAP_LIST);
	assert_int_equal(get(PCI_INTERRUPT_PIN, 1), 0);
}

static void class_is_that_of_the_link_layer(void **state)
{
	struct pci_function f;

	pci_function(&f, &hca, true, &ids, "5a17:00:03.0");
	pci_config(&f, config);
	assert_int_equal(get(PCI_CLASS_DEVICE, 2), 0x0200);
	fill(state);
	assert_int_equal(get(PCI_CLASS_DEVICE, 2), 0x0207);
}

static void capabilities_are_a_list(void **state)
{
	static const uint32_t caps[] = {PCI_CAP_ID_PM, PCI_CAP_ID_EXP, PCI_CAP_ID_MSIX,
					PCI_CAP_ID_VPD, PCI_CAP_ID_VNDR};
	static const uint32_t ext[] = {PCI_EXT_CAP_ID_ERR, PCI_EXT_CAP_ID_ARI, PCI_EXT_CAP_ID_DSN,
				       PCI_EXT_CAP_ID_SECPCI};
	unsigned int at;

	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		assert_true(cap(caps[i]));
	for (size_t i = 0; i < ARRAY_SIZE(ext); i++)
		assert_true(ext_cap(ext[i]));
	assert_int_equal(ext_cap(PCI_EXT_CAP_ID_SRIOV), 0);
	at = cap(PCI_CAP_ID_EXP);
	assert_int_equal(get(at + PCI_EXP_LNKSTA, 2) & 0x3ff, 4 | 16 << 4);
	assert_int_equal(get(at + PCI_EXP_LNKCAP2, 4), 0x1e);
	assert_false(get(at + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR);
	at = ext_cap(PCI_EXT_CAP_ID_DSN);
	assert_int_equal(get(at + 4, 4), 0x89abcdef);
	assert_int_equal(get(at + 8, 4), 0x01234567);
}

static void product_data_adds_up(void **state)
{
	uint8_t vpd[PCI_VPD_MAX], sum = 0;
	struct pci_function f;
	size_t n, at;

	pci_function(&f, &hca, false, &ids, "5a17:00:03.0");
	n = pci_vpd(&f, vpd);
	assert_int_equal(vpd[n - 1], 0x78);
	at = 3u + vpd[1] + vpd[2] * 256u;
	assert_int_equal(vpd[at], 0x90);
	assert_int_equal(at + 3u + vpd[at + 1] + vpd[at + 2] * 256u, n - 1);
	for (size_t i = 0; i < n - 1; i++)
		sum = (uint8_t)(sum + vpd[i]);
	assert_int_equal(sum, 0); /* up to the checksum, which ends the fields */
	for (at += 3; at < n - 1; at += 3u + vpd[at + 2])
		if (!memcmp(vpd + at, "SN", 2))
			assert_memory_equal(vpd + at + 3, "SH0123456789abcdef", 18);
	assert_int_equal(at, n - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_names_the_adapter),
		cmocka_unit_test(class_is_that_of_the_link_layer),
		cmocka_unit_test(capabilities_are_a_list),
		cmocka_unit_test(product_data_adds_up),
	};

	return cmocka_run_group_tests_name("pci", tests, fill, NULL);
}
