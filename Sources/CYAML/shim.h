#ifndef DAVIT_CYAML_SHIM_H
#define DAVIT_CYAML_SHIM_H
#include <yaml.h>
#endif
