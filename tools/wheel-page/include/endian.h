/* SPDX-License-Identifier: GPL-2.0 */
/*
 * endian.h - the byte order, which the kernel's headers ask for
 */
#ifndef _WHEEL_ENDIAN_H
#define _WHEEL_ENDIAN_H

#define __LITTLE_ENDIAN	1234
#define __BIG_ENDIAN	4321
#define __BYTE_ORDER	__LITTLE_ENDIAN

#endif /* _WHEEL_ENDIAN_H */
