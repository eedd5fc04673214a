#ifndef DAVIT_CXML2_SHIM_H
#define DAVIT_CXML2_SHIM_H
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

/* Error handlers of different versions of libxml2 differ in the constness of their argument. */
#if LIBXML_VERSION >= 21200
typedef const xmlError *davit_xml_error;
#else
typedef xmlErrorPtr davit_xml_error;
#endif

static inline void davit_ignore_xml_error(void *data, davit_xml_error error) {
    (void)data;
    (void)error;
}

/* Copies the first error to `data`, an empty xmlError. */
static inline void davit_keep_xml_error(void *data, davit_xml_error error) {
    if (((xmlErrorPtr)data)->code == XML_ERR_OK) { xmlCopyError(error, (xmlErrorPtr)data); }
}

static inline void davit_silence_xpath(xmlXPathContextPtr context) {
    context->error = (xmlStructuredErrorFunc)davit_ignore_xml_error;
}

static inline void davit_silence_relax_ng_parser(xmlRelaxNGParserCtxtPtr parser) {
    xmlRelaxNGSetParserStructuredErrors(parser, (xmlStructuredErrorFunc)davit_ignore_xml_error, NULL);
}

static inline void davit_silence_schema_parser(xmlSchemaParserCtxtPtr parser) {
    xmlSchemaSetParserStructuredErrors(parser, (xmlStructuredErrorFunc)davit_ignore_xml_error, NULL);
}

static inline void davit_keep_relax_ng_error(xmlRelaxNGValidCtxtPtr context, xmlErrorPtr error) {
    xmlRelaxNGSetValidStructuredErrors(context, (xmlStructuredErrorFunc)davit_keep_xml_error, error);
}

static inline void davit_keep_schema_error(xmlSchemaValidCtxtPtr context, xmlErrorPtr error) {
    xmlSchemaSetValidStructuredErrors(context, (xmlStructuredErrorFunc)davit_keep_xml_error, error);
}
#endif
