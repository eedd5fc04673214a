#ifndef DAVIT_CQRCODE_SHIM_H
#define DAVIT_CQRCODE_SHIM_H
#include <qrencode.h>
#endif
