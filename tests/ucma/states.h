/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps that bring ids to a state of enum rdma_cm_state (drivers/infiniband/core/cma_priv.h): A is
 * the id that the rows are about, L listens, S is the server's end, U and V are ids of UD.
 */
#ifndef SOFTHCA_TESTS_UCMA_STATES_H
#define SOFTHCA_TESTS_UCMA_STATES_H

#define NOTHING ""
#define IDLE "create A tcp -> 0\n"
#define BOUND IDLE "bind A me:p1 -> 0\n"
#define BOUND_ANY IDLE "bind A any:p1 -> 0\n"
#define LISTENING BOUND "listen A -> 0\n"
/* A server L on file 2, which clients reach at p1. */
#define SERVER "create@2 L tcp -> 0\nbind L me:p1 -> 0\nlisten L -> 0\n"
#define RESOLVE(id)                   \
	"resolve " id " me:p1 -> 0\n" \
	"get -> ADDR_RESOLVED " id "\n"
#define ROUTE(id)             \
	"route " id " -> 0\n" \
	"get -> ROUTE_RESOLVED " id "\n"
#define RESOLVED IDLE RESOLVE("A")
#define ROUTED RESOLVED ROUTE("A")
#define REQUEST                                                                         \
	"get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 " \
	"retry=7 rnr=7\n"
/* A has sent its request; S has it. */
#define CONNECTING SERVER ROUTED "connect A -> 0\n" REQUEST
/* S has answered; A has the answer. */
#define RESPONSE "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
#define ANSWERED CONNECTING "accept S qp_num=0x22 -> 0\n" RESPONSE
/* Both ends are established. */
#define CONNECTED                          \
	ANSWERED "accept A valid=0 -> 0\n" \
		 "get@2 -> ESTABLISHED S\n"
/* A has gone; S has been told. */
#define LEFT CONNECTED "disconnect A -> 0\nget@2 -> DISCONNECTED S\n"
#define DISCONNECTED LEFT "disconnect S -> 0\nget -> DISCONNECTED A\n"

#define UD_IDLE "create U udp -> 0\n"
#define UD_BOUND UD_IDLE "bind U me:p2 -> 0\n"
#define UD_SERVER "create@2 L udp -> 0\nbind L me:p1 -> 0\nlisten L -> 0\n"
#define UD_RESOLVED UD_IDLE RESOLVE("U")
#define UD_ROUTED UD_RESOLVED ROUTE("U")
#define UD_CONNECTING                          \
	UD_SERVER UD_ROUTED "connect U -> 0\n" \
			    "get@2 V -> CONNECT_REQUEST L id=V data=180:\n"

/* The same with AF_IB. */
#define IB_SERVER "create@2 L tcp -> 0\nbind L ib0:p1 -> 0\nlisten L -> 0\n"
#define IB_ROUTED                      \
	IDLE "resolve A ib0:p1 -> 0\n" \
	     "get -> ADDR_RESOLVED A\n" ROUTE("A")
#define IB_UD_CONNECTING                                                       \
	"create@2 L udp -> 0\nbind L ib0/udp:p1 -> 0\nlisten L -> 0\n" UD_IDLE \
	"resolve U ib0/udp:p1 -> 0\nget -> ADDR_RESOLVED U\n" ROUTE(           \
		"U") "connect U -> 0\n"                                        \
		     "get@2 V -> CONNECT_REQUEST L id=V data=216:\n"

#endif
