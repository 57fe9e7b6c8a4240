/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the tables of link widths, speeds and rates. Pure functions; fabric, topology and subnet
 * call them. */
#include "wire/ib/link.h"

#include <stddef.h>

const struct ib_width ib_widths[] = {{IB_WIDTH_1X, 1, "1x"},    {IB_WIDTH_2X, 2, "2x"},
				     {IB_WIDTH_4X, 4, "4x"},    {IB_WIDTH_8X, 8, "8x"},
				     {IB_WIDTH_12X, 12, "12x"}, {0, 0, NULL}};

const struct ib_speed ib_speeds[] = {
	{IB_SPEED_SDR, 25, "SDR", " 2.5G"},  {IB_SPEED_DDR, 50, "DDR", " 5.0G"},
	{IB_SPEED_QDR, 100, "QDR", "10.0G"}, {IB_SPEED_FDR10, 100, "FDR10", " FDR10"},
	{IB_SPEED_FDR, 140, "FDR", " 14G"},  {IB_SPEED_EDR, 250, "EDR", " 25G"},
	{IB_SPEED_HDR, 500, "HDR", "50G"},   {IB_SPEED_NDR, 1000, "NDR", "100G"},
	{IB_SPEED_XDR, 2000, "XDR", "200G"}, {0, 0, NULL, NULL},
};

static const struct {
	uint16_t rate, gb10;
} link_rates[] = {
	{2, 25},    {3, 100},   {4, 300},   {5, 50},    {6, 200},    {7, 400},
	{8, 600},   {9, 800},   {10, 1200}, {11, 140},  {12, 560},   {13, 1120},
	{14, 1680}, {15, 250},  {16, 1000}, {17, 2000}, {18, 3000},  {19, 280},
	{20, 500},  {21, 4000}, {22, 6000}, {23, 8000}, {24, 12000},
};

#define NRATES (sizeof(link_rates) / sizeof(link_rates[0]))

const struct ib_width *ib_width(uint32_t code)
{
	const struct ib_width *w = ib_widths;

	while (w->code && w->code != code)
		w++;
	return w->code ? w : NULL;
}

const struct ib_speed *ib_speed(uint32_t code)
{
	const struct ib_speed *v = ib_speeds;

	while (v->code && v->code != code)
		v++;
	return v->code ? v : NULL;
}

uint32_t ib_rate_gb10(uint32_t rate)
{
	for (uint32_t i = 0; i < NRATES; i++)
		if (link_rates[i].rate == rate)
			return link_rates[i].gb10;
	return 0;
}

uint32_t ib_rate_of(uint32_t width, uint32_t speed)
{
	const struct ib_width *w = ib_width(width);
	const struct ib_speed *v = ib_speed(speed);
	uint32_t gb10 = (w ? w->lanes : 1) * (v ? v->lane_gb10 : ib_speeds[0].lane_gb10);
	uint32_t best = 0;

	for (uint32_t i = 1; i < NRATES; i++)
		if (link_rates[i].gb10 <= gb10 && link_rates[i].gb10 > link_rates[best].gb10)
			best = i;
	return link_rates[best].rate;
}
