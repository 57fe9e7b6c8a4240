/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Widths, speeds and rates of links (IBA 14.2.5.6, PortInfo; 15.2.5.16, PathRecord). */
#ifndef SOFTHCA_WIRE_IB_LINK_H
#define SOFTHCA_WIRE_IB_LINK_H

#include <stdint.h>

/* PortInfo:LinkWidthActive */
enum ib_width_code {
	IB_WIDTH_1X = 1,
	IB_WIDTH_4X = 2,
	IB_WIDTH_8X = 4,
	IB_WIDTH_12X = 8,
	IB_WIDTH_2X = 16,
};

/*
 * A bit each, as in ibv_port_attr.active_speed: PortInfo:LinkSpeedActive, from FDR on
 * LinkSpeedExtActive << 4. FDR10 is an extension of a vendor; XDR has no code in PortInfo.
 */
enum ib_speed_code {
	IB_SPEED_SDR = 1,
	IB_SPEED_DDR = 2,
	IB_SPEED_QDR = 4,
	IB_SPEED_FDR10 = 8,
	IB_SPEED_FDR = 16,
	IB_SPEED_EDR = 32,
	IB_SPEED_HDR = 64,
	IB_SPEED_NDR = 128,
	IB_SPEED_XDR = 256,
};

struct ib_width {
	uint32_t code, lanes;
	const char *name; /* as infiniband-diags print it */
};

struct ib_speed {
	uint32_t code, lane_gb10; /* tenths of Gb/s per lane */
	const char *name;
	const char *dump; /* in ibsim's Dump */
};

/* From the narrowest and slowest on; they end with code 0. */
extern const struct ib_width ib_widths[];
extern const struct ib_speed ib_speeds[];

/* The row of a code, or NULL. */
const struct ib_width *ib_width(uint32_t code);
const struct ib_speed *ib_speed(uint32_t code);

/* Tenths of Gb/s of a rate code of records and address vectors; 0: no such rate. */
uint32_t ib_rate_gb10(uint32_t rate);
/* The highest rate that a link carries. An unknown width is one lane, an unknown speed is SDR. */
uint32_t ib_rate_of(uint32_t width, uint32_t speed);

#endif
