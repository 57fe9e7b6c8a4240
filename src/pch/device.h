/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What most files of the device include, compiled once for each library of the tree with sanitizers
 * (b_pch), where parsing is a third of a file's time. No file includes it.
 */
#include "engine/engine.h"
#include "fw/priv.h"
#include "hw/hca.h"
#include "hw/mkey.h"
#include "hw/port.h"
#include "segment/mem.h"
#include "segment/proc.h"
#include "util/log.h"
#include "util/point.h"
#include "wire/pkt/pkt.h"
#include "wire/wqe/cqe.h"
#include "wire/wqe/wqe.h"
