/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Seeds for the topology target: a line of each kind in small files. Usage: seeds_topo DIR */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

static const char *const seeds[] = {
	"#\n# Topology file: generated on Tue Mar  3 12:00:00 2020\n#\n\n"
	"vendid=0x2c9\ndevid=0xc738\nsysimgguid=0xf4520\nswitchguid=0xf4520(f4521)\n"
	"Switch\t36 \"S-00000000000f4520\"\t\t# \"sw1\" enhanced port 0 lid 3 lmc 0\n"
	"[1]\t\"H-000000000000000a\"[1](b) \t\t# \"n1 HCA-1\" lid 4 4xFDR\n"
	"[2][ext 3]\t\"R-0000000000000010\"[7][ext 1](17) \t\t# \"edge\" lid 9 12xEDR\n"
	"\ncaguid=0xa\nCa\t2 \"H-000000000000000a\"\t\t# \"n1 HCA-1\"\n"
	"[1](b) \t\"S-00000000000f4520\"[1]\t\t# lid 4 lmc 1 \"sw1\" lid 3 4xFDR\n"
	"\nrtguid=0x10\nRt\t8 \"R-0000000000000010\"\t\t# \"edge\"\n"
	"[7](17) \t\"S-00000000000f4520\"[2]\t\t# lid 9 lmc 0 \"sw1\" lid 3 12xEDR s=4 w=2 v=3\n",
	"Switch\t8 \"A\"\n[1]\t\"B\"[1] w=3 s=7 e=1\n[2] \"B\"[2]\n\nHca\t2 \"B\"\n[1]\t\"A\"[1] "
	"w=2\n"
	"[2]\t\"A\"[2]\n",
	"switchguid=0x1000\nhcaguids+0x2\nvendid=0x8f1\nwidth=2\nspeed=4\nextspeed=1\n"
	"module=\"m\"\nSwitch 4 \"A\" # bare base port 0 lid 3 lmc 1\n@[1] \"x\"\n"
	"Switch 4 \"B\"\n[3] \"@x\"\nCa 1 \"C\" # \"\"\n",
	"Chassis 1 (guid 0x8f1)\nHostname: x\nNon-Chassis Nodes\nibwarn: x\npdebug=1\n"
	"include \"x\"\ndo Dump\n",
	"Ca 1 \"a\"\n[1] \"b\" # lid 1 lmc 0 \"b\" lid 2 4xQDR\nCa 1 \"b\"\n"
	"[1] \"a\" # lid 2 lmc 0 \"a\" lid 1 4xFDR10\n",
	"# x\n{ CA-SM Ports:02 SystemGUID:1 NodeGUID:a PortGUID:b VenID:0002C9 DevID:1003 Rev:0 "
	"{n1 "
	"H} LID:0001 PN:01 } { SW Ports:24 SystemGUID:2 NodeGUID:2 PortGUID:2 VenID:000002C9 "
	"DevID:C7380000 Rev:A1 {s} LID:BFFF PN:18 } PHY=4x LOG=ACT SPD=FDR10\n",
	"Ca 2 \"a\"\n#ip[2] 10.0.0.1/8,fd00::1 # x\n#ip[1]\t127.1.2.3\nCa 1 \"b\"\n#ip[1] "
	"fd00::2/48\n",
	"CA: n1 H:\n  0x0b 4 1[  ] ==( 4X 14.0625 Gbps Active/  LinkUp)==> 13 1[ 7] \"s\" ( )\n"
	"Switch: 0x02 s:\n 13 1[ 7] ==( 4X 14.0625 Gbps Active/ LinkUp)==> 4 1[  ] \"n1 H\" ( )\n"
	" 13 2[  ] ==( Down/ Polling)==> [  ] \"\" ( )\n 13 3[ ] ==()==> 5 1[ ] \"n2\" ()\n",
	"0x0b \"  n1 H\" 4 1[  ] ==( 4X 10.0 Gbps (FDR10) Active/ LinkUp)==> 0x02 13 1[ ] \"s\" "
	"( )\n0x02 \"  s\" 13 1[  ] ==( 4X 10.0 Gbps (FDR10) Active/ LinkUp)==> 0x0b 4 1[ ] \"n1 "
	"H\" ( )\n0x02 \"  s\" 13 9[  ] ==( Down/ Polling)==> [  ] \"\" ( )\n",
};

int main(int argc, char **argv)
{
	if (argc != 2 || (mkdir(argv[1], 0777) < 0 && errno != EEXIST))
		return 1;
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		char path[4096];
		FILE *f;

		snprintf(path, sizeof(path), "%s/%zu", argv[1], i);
		f = fopen(path, "w");
		if (!f || fputs(seeds[i], f) < 0 || fclose(f))
			return 1;
	}
	return 0;
}
