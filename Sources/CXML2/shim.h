#ifndef DAVIT_CXML2_SHIM_H
#define DAVIT_CXML2_SHIM_H
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlIO.h>
#include <libxml/xmlreader.h>

/* xmlFree is a global variable, which is not concurrency-safe in Swift. */
static inline void davit_xml_free(void *memory) { xmlFree(memory); }
#endif
