internal import DavitEngine
internal import DavitHTTP

/// The frame of the account pages: plain HTML in the style of the browser page, outside of any folder.
struct AccountFrame {
    let request: HTTPRequest
    let strings: PageStrings
    /// The name of the server.
    let title: String
    /// The URL of the page without its query, relative to that of the request.
    let location: [UInt8]
    /// The folder of the page's files, relative to the URL of the request.
    private let files: String

    init(_ request: HTTPRequest, title: String) {
        self.init(
            request, title: title, location: AccountRoute.own(request), files: "./\(PageFilePath.name)/")
    }

    /// Creates the frame of a page at another URL than that of the request.
    init(_ request: HTTPRequest, title: String, location: [UInt8], files: String) {
        self.request = request
        self.title = title
        self.location = location
        self.files = files
        strings = PageStrings.in(PageLanguage(for: request))
    }

    /// Returns a complete page.
    func response(
        _ status: HTTPStatus, heading: String, _ content: (inout HTMLText) -> Void
    ) -> HTTPResponse {
        var html = HTMLText()
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
            <meta name="robots" content="noindex">
            <title>
            """)
        html.text("\(heading) – \(title)")
        html.markup("</title>\n")
        PageShell.appendLinks(
            Array("\(files)\(PageFiles.shared.version)/".utf8), to: &html)
        html.markup(
            "</head>\n<body>\n<main class=\"simple account\">\n<header>\n<p class=\"account-server\">")
        html.text(title)
        html.markup("</p>\n")
        html.element("h1", heading)
        html.markup("\n</header>\n")
        content(&html)
        html.markup("</main>\n</body>\n</html>\n")
        var response = HTTPResponse(status: status, body: .bytes(html.bytes))
        PageShell.appendPlainFields(to: &response.fields)
        response.fields.append(.contentLanguage, strings.language.rawValue)
        response.fields.append(.vary, "Accept-Language, Cookie")
        return response
    }

    /// The query of the account page at this URL.
    private var accountQuery: String {
        // The language is not stored on the server.
        let language = request.query["lang"] == nil ? "" : "&lang=\(strings.language.rawValue)"
        return "?\(AccountRoute.query)\(language)"
    }

    // MARK: Pieces

    /// Opens a form that is sent to the URL of this page.
    func beginForm(_ action: AccountAction, _ attributes: StaticString = "", to html: inout HTMLText) {
        html.markup("<form method=\"post\"")
        html.attribute("action", location + Array(accountQuery.utf8))
        html.markup(attributes)
        html.markup(">\n")
        html.hidden("do", action.rawValue)
    }

    func endForm(_ button: Phrase, _ attributes: StaticString = "", to html: inout HTMLText) {
        html.markup("<p><button")
        html.markup(attributes)
        html.markup(">")
        html.text(strings.text(button))
        html.markup("</button></p>\n</form>\n")
    }

    /// Adds a labeled input.
    /// - Parameter attributes: with a space before the first.
    func input(
        _ label: Phrase, _ name: StaticString, _ attributes: StaticString, value: String = "",
        to html: inout HTMLText
    ) {
        html.markup("<label>")
        html.text(strings.text(label))
        html.markup(" <input required autocapitalize=\"none\" spellcheck=\"false\" name=\"")
        html.markup(name)
        html.markup("\"")
        html.markup(attributes)
        if !value.isEmpty { html.attribute("value", value) }
        html.markup("></label>\n")
    }

    /// Adds the input for a code of the second factor or a recovery code.
    func codeInput(isFocused: Bool = false, to html: inout HTMLText) {
        input(
            .factorCode, "code",
            isFocused
                ? " autocomplete=\"one-time-code\" maxlength=\"32\" autofocus"
                : " autocomplete=\"one-time-code\" maxlength=\"32\"",
            to: &html)
    }

    /// Adds an error message.
    func alert(_ text: String, to html: inout HTMLText) {
        html.markup("<div role=\"alert\" class=\"simple-failure\">")
        html.element("p", text)
        html.markup("</div>\n")
    }

    /// Adds the link with which a sign-in at the provider begins. It is not a form, because the content security policy would
    /// forbid the redirect to another host.
    /// - Parameters:
    ///   - provider: the name of the provider.
    ///   - query: that of the page to return to.
    func providerLink(_ provider: String, query: [UInt8], to html: inout HTMLText) {
        var url = location + Array("\(accountQuery)&\(AccountRoute.start)&query=".utf8)
        PercentCoding.append(query, to: &url)
        html.markup("<p><a class=\"simple-provider\"")
        html.attribute("href", url)
        html.markup(">")
        html.text(strings.text(.signInWith, ["name": provider]))
        html.markup("</a></p>\n")
    }

    /// Adds a link to the page without `?account`.
    func backLink(to html: inout HTMLText) {
        html.markup("<p><a class=\"simple-back\"")
        html.attribute("href", location)
        html.markup(">")
        html.text(strings.text(.back))
        html.markup("</a></p>\n")
    }
}

/// What a form on an account page does; sent in the field `do`.
enum AccountAction: String {
    case signIn = "sign-in"
    case signOut = "sign-out"
    /// Sets the password of the account in the field `name`: the fields `link`, `password` and `repeat`.
    case choosePassword = "choose-password"
    /// Ends the session in the field `id`.
    case endSession = "end-session"
    /// Ends all sessions except that of the request.
    case endOthers = "end-others"
    /// Sends the code after the password: the fields `pending` and `code`.
    case code
    /// Shows a new secret for the second factor.
    case startFactor = "start-factor"
    /// Turns the second factor on: the fields `secret`, `code` and `password`.
    case setFactor = "set-factor"
    /// Turns the second factor off: the field `code`.
    case removeFactor = "remove-factor"
    /// Replaces the recovery codes: the field `code`.
    case renewCodes = "renew-codes"
}
