#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Job: the demonstration, calloutctl demo and calloutctl fig9.

insmod /lib/callout.ko
calloutctl demo || { echo "calloutctl demo ended with status $?" > /run/reason; exit 1; }
echo
calloutctl fig9 || { echo "calloutctl fig9 ended with status $?" > /run/reason; exit 1; }
rmmod callout
echo 2 > /run/passed
