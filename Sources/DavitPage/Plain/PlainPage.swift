internal import DavitEngine
internal import DavitHTTP
internal import DavitListing

/// The frame of a plain HTML page. All links to folders and files of the share are relative, so that they
/// work behind a proxy that maps the page to another path.
struct PlainPage {
    /// The maximum number of members that a question or a result lists: those that can be selected on one page of a folder.
    static let listedLimit = FolderQuery.pageLimit

    let visit: PageContext
    let settings: PageSettings
    let strings: PageStrings
    /// Nil for a page without scripts, such as a question or a result.
    let shell: PageShell?
    /// The collection relative to the request URL; the prefix of all links.
    let base: [UInt8]
    /// What the page shows instead of the folder's members; nil for the folder itself.
    let subject: Phrase?

    init(
        _ visit: PageContext, _ settings: PageSettings, subject: Phrase? = nil, runsScripts: Bool
    ) {
        self.visit = visit
        self.subject = subject
        self.settings = settings
        strings = PageStrings.in(PageLanguage(for: visit.request))
        shell = runsScripts ? PageShell(visit, settings) : nil
        var base = Array("./".utf8)
        let last = visit.path.isRoot ? visit.mountName : Array(visit.path.name)
        if !visit.endsInSlash, !last.isEmpty {
            PercentCoding.append(last, to: &base)
            base.append(UInt8(ascii: "/"))
        }
        self.base = base
    }

    /// The title from the settings; without one, `Files`.
    var rootName: String { settings.shownTitle }

    private var title: [UInt8] { visit.path.isRoot ? Array(rootName.utf8) : Array(visit.path.name) }

    func appendFields(to fields: inout HTTPFields) {
        if let shell { shell.appendFields(to: &fields) } else { PageShell.appendPlainFields(to: &fields) }
        fields.append(.contentLanguage, strings.language.rawValue)
        fields.append(.vary, "Accept-Language")
    }

    /// Returns a complete page.
    func response(_ status: HTTPStatus, _ content: (inout HTMLText) -> Void) -> HTTPResponse {
        var html = HTMLText()
        appendHead(to: &html)
        content(&html)
        appendFoot(to: &html)
        var response = HTTPResponse(status: status, body: .bytes(html.bytes))
        appendFields(to: &response.fields)
        return response
    }

    /// Adds everything before the content.
    func appendHead(to html: inout HTMLText) {
        html.markup("<!DOCTYPE html>\n<html")
        html.attribute("lang", strings.language.rawValue)
        html.markup(" dir=\"")
        html.markup(strings.language.direction)
        html.markup(
            """
            ">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>
            """)
        if let subject {
            html.text(strings.text(subject))
            html.markup(" – ")
        }
        html.text(DisplayName.text(title))
        if !visit.path.isRoot { html.text(" – \(rootName)") }
        html.markup("</title>\n")
        PageShell.appendLinks(PageShell.filesHref(visit), to: &html)
        shell?.appendScripts(to: &html)
        html.markup("</head>\n<body>\n")
        shell?.appendMain(to: &html)
        html.markup("<main class=\"simple\">\n<header>\n<nav")
        html.attribute("aria-label", strings.text(.above))
        html.markup("><ol>")
        appendBreadcrumbs(to: &html)
        html.markup("</ol></nav>\n")
        if PageFeature.account.isAvailable(for: visit) {
            html.markup("<p class=\"simple-user\">")
            if let user = visit.request.principal {
                html.markup("<bdi>")
                html.text(user)
                html.markup("</bdi> ")
                link(.account, Array("?\(AccountRoute.query)".utf8), to: &html)
            } else {
                link(.signIn, Array("?\(AccountRoute.query)&\(AccountRoute.signIn)".utf8), to: &html)
            }
            html.markup("</p>\n")
        }
        html.markup("<h1>")
        if visit.path.isRoot {
            html.text(settings.header ?? rootName)
        } else {
            html.name(title)
        }
        html.markup("</h1>\n")
        if visit.path.isRoot, subject == nil, let prologue = settings.prologue {
            html.markup("<div class=\"simple-note\">\n")
            html.paragraphs(prologue)
            html.markup("</div>\n")
        }
        html.markup("</header>\n")
    }

    /// Adds everything after the content.
    func appendFoot(to html: inout HTMLText) {
        let notes = [visit.path.isRoot ? settings.epilogue : nil, settings.footer].compactMap { $0 }
        if !notes.isEmpty {
            html.markup("<footer>\n")
            for note in notes { html.paragraphs(note) }
            html.markup("</footer>\n")
        }
        html.markup("</main>\n</body>\n</html>\n")
    }

    /// Adds the breadcrumbs; the last one is the current folder.
    private func appendBreadcrumbs(to html: inout HTMLText) {
        let segments = visit.path.segments
        for level in 0...segments.count {
            let name = level == 0 ? Array(rootName.utf8) : Array(segments[level - 1])
            html.markup("<li><a")
            var href = base
            for _ in level..<segments.count { href.append(contentsOf: "../".utf8) }
            html.attribute("href", href)
            if level == segments.count { html.markup(" aria-current=\"page\"") }
            html.markup(">")
            html.name(name)
            html.markup("</a></li>")
        }
    }

    // MARK: Pieces

    /// Returns the href of a member.
    func href(of name: [UInt8], isCollection: Bool = false) -> [UInt8] {
        var href = base
        PercentCoding.append(name, to: &href)
        if isCollection { href.append(UInt8(ascii: "/")) }
        return href
    }

    /// Returns the href of the page about a member.
    func aboutHref(of name: [UInt8]) -> [UInt8] {
        var segment: [UInt8] = []
        PercentCoding.append(name, to: &segment)
        var href = base + Array("?about=".utf8)
        // An encoded segment in a query is encoded again.
        PercentCoding.append(segment, to: &href)
        return href
    }

    /// Opens a form with an action on this folder.
    func beginForm(_ action: FormAction, _ attributes: StaticString = "", to html: inout HTMLText) {
        html.markup("<form method=\"post\"")
        html.attribute("action", base + Self.query(action))
        html.markup(attributes)
        html.markup(">\n")
    }

    func button(_ phrase: Phrase, _ attributes: StaticString = "", to html: inout HTMLText) {
        html.markup("<button")
        html.markup(attributes)
        html.markup(">")
        html.text(strings.text(phrase))
        html.markup("</button>\n")
    }

    /// Adds a button that submits its form to another action.
    func button(
        _ phrase: Phrase, sends action: FormAction, _ attributes: StaticString = "", to html: inout HTMLText
    ) {
        html.markup("<button")
        html.markup(attributes)
        html.attribute("formaction", base + Self.query(action))
        html.markup(">")
        html.text(strings.text(phrase))
        html.markup("</button>\n")
    }

    private static func query(_ action: FormAction) -> [UInt8] { Array("?action=\(action.rawValue)".utf8) }

    /// Adds a link to a page of this folder.
    /// - Parameter query: the query, with the question mark.
    func link(
        _ phrase: Phrase, _ query: [UInt8], _ attributes: StaticString = "", to html: inout HTMLText
    ) {
        html.markup("<a")
        html.markup(attributes)
        html.attribute("href", base + query)
        html.markup(">")
        html.text(strings.text(phrase))
        html.markup("</a>")
    }

    /// Adds a collapsible form.
    /// - Parameter content: adds the fields before the button.
    func foldedForm(
        _ summary: Phrase, _ action: FormAction, _ attributes: StaticString = "", button: Phrase,
        to html: inout HTMLText, content: (inout HTMLText) -> Void
    ) {
        html.markup("<details><summary>")
        html.text(strings.text(summary))
        html.markup("</summary>\n")
        beginForm(action, attributes, to: &html)
        content(&html)
        self.button(button, to: &html)
        html.markup("</form></details>\n")
    }

    /// Adds a form that restores deleted resources, under another name if the original one is taken.
    func undoForm(_ ids: [String], to html: inout HTMLText) {
        beginForm(.restore, to: &html)
        for id in ids { html.hidden("id", id) }
        button(.undo, to: &html)
        html.markup("</form>\n")
    }

    /// Adds a link back to the folder.
    /// - Parameter rest: a path relative to the folder.
    func cancelLink(_ phrase: Phrase, _ rest: StaticString = "", to html: inout HTMLText) {
        html.markup("<a class=\"simple-back\"")
        html.attribute("href", base + Array(rest.description.utf8))
        html.markup(">")
        html.text(strings.text(phrase))
        html.markup("</a>\n")
    }

    /// Adds a checkbox with its label.
    func box(_ name: StaticString, _ label: Phrase, to html: inout HTMLText) {
        html.markup("<label class=\"simple-box\"><input type=\"checkbox\" value=\"yes\" name=\"")
        html.markup(name)
        html.markup("\"> ")
        html.text(strings.text(label))
        html.markup("</label>\n")
    }
}
