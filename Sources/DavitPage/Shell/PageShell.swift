internal import DavitEngine
internal import DavitHTTP
internal import DavitServer

/// The parts of the document that load the scripts and pass data to them.
struct PageShell {
    let data: PageData
    /// The nonce in the content security policy and in the script elements; only these scripts and their
    /// imports run.
    let nonce: String

    init(_ visit: PageContext, _ settings: PageSettings) {
        data = PageData(visit: visit, settings: settings)
        var generator = SystemRandomNumberGenerator()
        nonce = (0..<2).map { _ in String(generator.next(), radix: 36) }.joined()
    }

    /// Returns the URL path of the page's files, with a trailing slash.
    static func filesHref(_ visit: PageContext) -> [UInt8] {
        visit.rootHref + Array("\(PageFilePath.name)/\(PageFiles.shared.version)/".utf8)
    }

    /// Adds links to the style sheet and the icon, and the theme colors.
    static func appendLinks(_ files: [UInt8], to html: inout HTMLText) {
        html.markup(
            """
            <meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
            <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#14181c">

            """)
        for (relation, name) in [
            ("icon", "favicon.svg"), ("stylesheet", "page.css"), ("stylesheet", "plain.css"),
        ] {
            html.markup("<link")
            html.attribute("rel", relation)
            html.attribute("href", files + Array(name.utf8))
            html.markup(">\n")
        }
    }

    /// Adds to the head: the page data; the first script, which sets the theme before the first paint; and
    /// preload links for the modules, so that they load concurrently.
    func appendScripts(to html: inout HTMLText) {
        let files = Self.filesHref(data.visit)
        html.markup("<script type=\"application/json\" id=\"davit\">")
        data.append(to: &html)
        html.markup("</script>\n<script")
        html.attribute("nonce", nonce)
        html.attribute("src", files + Array("theme.js".utf8))
        html.markup("></script>\n")
        for name in PageModules.imported {
            html.markup("<link rel=\"modulepreload\"")
            html.attribute("nonce", nonce)
            html.attribute("href", files + Array(name.utf8))
            html.markup(">\n")
        }
    }

    /// Adds the main module to the body. It is asynchronous, because a deferred one would wait for the end of
    /// the document, which takes a long time for a large folder.
    func appendMain(to html: inout HTMLText) {
        html.markup("<script type=\"module\" async")
        html.attribute("nonce", nonce)
        html.attribute("src", Self.filesHref(data.visit) + Array(PageModules.main.utf8))
        html.markup("></script>\n")
    }

    /// Adds the header fields of the response.
    func appendFields(to fields: inout HTTPFields) {
        Self.appendFields(
            to: &fields,
            policy: """
                default-src 'none'; script-src 'nonce-\(nonce)' 'strict-dynamic'; worker-src 'self'; \
                style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; \
                frame-src 'self' blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
                """)
    }

    /// Adds the header fields of a page without scripts.
    static func appendPlainFields(to fields: inout HTTPFields) {
        appendFields(
            to: &fields,
            policy: """
                default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                frame-ancestors 'none'
                """)
    }

    private static func appendFields(to fields: inout HTTPFields, policy: String) {
        fields.append(.contentType, "text/html; charset=utf-8")
        fields.append(.contentSecurityPolicy, policy)
        fields.append(.xContentTypeOptions, "nosniff")
        fields.append(.referrerPolicy, "same-origin")
        fields.append(.cacheControl, "no-store")
    }
}
