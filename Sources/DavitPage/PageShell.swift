internal import DavitEngine
internal import DavitHTTP
internal import DavitServer

/// What stands around the listing for the scripts to take over: links to them, and what they have to know.
struct PageShell {
    let data: PageData
    /// In the policy and at the script that the document names: nothing else runs, but what that imports.
    let nonce: String

    init(_ visit: CollectionVisit, _ settings: PageSettings) {
        data = PageData(visit: visit, settings: settings)
        var generator = SystemRandomNumberGenerator()
        nonce = (0..<2).map { _ in String(generator.next(), radix: 36) }.joined()
    }

    /// The files of the page, with a slash at the end.
    static func filesHref(_ visit: CollectionVisit) -> [UInt8] {
        visit.rootHref + Array("\(PageFilePath.name)/\(PageFiles.shared.version)/".utf8)
    }

    /// Styles, colours and the picture of the page.
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

    /// For the head: what the modules have to know; the theme, which is set before anything is painted, with the first of
    /// them; and what they import, so that nothing is asked for only when something else has come.
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

    /// For the body: the module that takes it over. It is asynchronous, because others wait for the end of the document:
    /// that of a large folder takes its time.
    func appendMain(to html: inout HTMLText) {
        html.markup("<script type=\"module\" async")
        html.attribute("nonce", nonce)
        html.attribute("src", Self.filesHref(data.visit) + Array(PageModules.main.utf8))
        html.markup("></script>\n")
    }

    /// The fields of the response.
    func appendFields(to fields: inout HTTPFields) {
        Self.appendFields(
            to: &fields,
            policy: """
                default-src 'none'; script-src 'nonce-\(nonce)' 'strict-dynamic'; worker-src 'self'; \
                style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; \
                frame-src 'self' blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
                """)
    }

    /// The same of a page that runs nothing.
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
