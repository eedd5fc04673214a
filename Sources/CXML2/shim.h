#ifndef DAVIT_CXML2_SHIM_H
#define DAVIT_CXML2_SHIM_H
#include <libxml/xmlversion.h>
/* Leaves out the headers of ICU, which conflict with those of Foundation in programs that import both. They only
   determine the layout of a structure that is not used here. */
#undef LIBXML_ICU_ENABLED
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/relaxng.h>
#include <libxml/tree.h>
#include <libxml/xmlIO.h>
#include <libxml/xmlreader.h>
#include <libxml/xmlschemas.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

/* xmlFree is a global variable, which is not concurrency-safe in Swift. */
static inline void davit_xml_free(void *memory) { xmlFree(memory); }

/* The handlers of a thread for errors. */
typedef struct {
    xmlGenericErrorFunc generic;
    void *generic_context;
    xmlStructuredErrorFunc structured;
    void *structured_context;
} davit_xml_handlers;

static inline void davit_xml_ignore(void *context, const char *format, ...) {
    (void)context;
    (void)format;
}

/* Passes errors on this thread to a handler, prints none, and returns the previous handlers. */
static inline davit_xml_handlers davit_xml_set_handler(xmlStructuredErrorFunc handler, void *context) {
    davit_xml_handlers previous = {
        xmlGenericError, xmlGenericErrorContext, xmlStructuredError, xmlStructuredErrorContext};
    xmlSetGenericErrorFunc(NULL, davit_xml_ignore);
    xmlSetStructuredErrorFunc(context, handler);
    return previous;
}

static inline void davit_xml_restore_handlers(davit_xml_handlers previous) {
    xmlSetGenericErrorFunc(previous.generic_context, previous.generic);
    xmlSetStructuredErrorFunc(previous.structured_context, previous.structured);
}
#endif
