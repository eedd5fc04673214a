// Embeds the files of the control page in the binary with #embed (C23 §6.10.4), which Swift does not support. Each file is
// listed twice, because the path of the directive cannot contain a macro. The colors are those of the browser page.
#pragma clang diagnostic ignored "-Wc23-extensions"

#include "CStubPage.h"

static const unsigned char page_css[] = {
#embed "../DavitPage/Files/page.css"
};
static const unsigned char index_html[] = {
#embed "../DavitStub/Page/Files/index.html"
};
static const unsigned char stub_css[] = {
#embed "../DavitStub/Page/Files/stub.css"
};
static const unsigned char api_js[] = {
#embed "../DavitStub/Page/Files/api.js"
};
static const unsigned char element_js[] = {
#embed "../DavitStub/Page/Files/element.js"
};
static const unsigned char content_js[] = {
#embed "../DavitStub/Page/Files/content.js"
};
static const unsigned char requests_js[] = {
#embed "../DavitStub/Page/Files/requests.js"
};
static const unsigned char rules_js[] = {
#embed "../DavitStub/Page/Files/rules.js"
};
static const unsigned char state_js[] = {
#embed "../DavitStub/Page/Files/state.js"
};
static const unsigned char stub_js[] = {
#embed "../DavitStub/Page/Files/stub.js"
};

#define FILE(name, bytes) { name, bytes, sizeof bytes }

static const struct davit_stub_file files[] = {
    FILE("page.css", page_css),
    FILE("index.html", index_html),
    FILE("stub.css", stub_css),
    FILE("api.js", api_js),
    FILE("element.js", element_js),
    FILE("content.js", content_js),
    FILE("requests.js", requests_js),
    FILE("rules.js", rules_js),
    FILE("state.js", state_js),
    FILE("stub.js", stub_js),
};

size_t davit_stub_file_count(void) { return sizeof files / sizeof *files; }

struct davit_stub_file davit_stub_file_at(size_t index) { return files[index]; }
