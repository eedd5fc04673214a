internal import DavitHTTP
internal import DavitServer

/// The page about an account: the browsers in which it is signed in.
struct AccountView {
    let frame: AccountFrame
    let account: String
    /// The sessions of the account, the most recently used first.
    let sessions: [BrowserSession]
    /// The session of the request; nil if it was authenticated in another way.
    let current: BrowserSession?
    /// Nil if the server cannot store second factors.
    let factor: FactorSection?
    var failure: SignInView.Failure?

    func response() -> HTTPResponse {
        let strings = frame.strings
        return frame.response(failure?.accountStatus ?? .ok, heading: strings.text(.account)) { html in
            if let failure { frame.alert(failure.text(strings), to: &html) }
            html.markup("<p>")
            html.text(strings.text(.accountUser))
            html.markup(" <strong><bdi>")
            html.text(account)
            html.markup("</bdi></strong></p>\n")
            if current != nil {
                frame.beginForm(.signOut, to: &html)
                frame.endForm(.signOut, to: &html)
            }
            appendSessions(to: &html)
            factor?.append(to: &html)
            frame.backLink(to: &html)
        }
    }

    private func appendSessions(to html: inout HTMLText) {
        html.markup("<section>\n")
        html.element("h2", frame.strings.text(.accountSessions))
        html.markup("\n")
        if sessions.isEmpty {
            html.element("p", frame.strings.text(.accountNone))
            html.markup("\n</section>\n")
            return
        }
        html.element("p", frame.strings.text(.accountSessionsHow))
        html.markup("\n<ul class=\"account-list\">\n")
        let others = sessions.filter { $0.id != current?.id }
        for session in [current].compactMap({ $0 }) + others { append(session, to: &html) }
        html.markup("</ul>\n")
        if !others.isEmpty {
            frame.beginForm(.endOthers, " class=\"simple-selected\"", to: &html)
            frame.endForm(.accountEndOthers, to: &html)
        }
        html.markup("</section>\n")
    }

    private func append(_ session: BrowserSession, to html: inout HTMLText) {
        let strings = frame.strings
        html.markup("<li>\n<div>\n<p class=\"account-device\">")
        html.text(deviceName(session))
        if session.id == current?.id {
            html.markup(" ")
            html.element("small", strings.text(.accountThis))
        }
        html.markup("</p>\n<p class=\"account-facts\">")
        html.text("\(strings.text(.accountUsed)) ")
        html.time(Timestamp(seconds: session.usedAt))
        html.markup(" UTC, <bdi>")
        html.text(session.address)
        html.markup("</bdi></p>\n</div>\n")
        if session.id != current?.id {
            frame.beginForm(.endSession, " class=\"simple-selected\"", to: &html)
            html.hidden("id", "\(session.id)")
            html.markup("<button")
            html.attribute("aria-label", strings.text(.accountEnd, ["name": deviceName(session)]))
            html.markup(">")
            html.text(strings.text(.signOut))
            html.markup("</button>\n</form>\n")
        }
        html.markup("</li>\n")
    }

    private func deviceName(_ session: BrowserSession) -> String {
        let device = DeviceName(session.agent)
        let strings = frame.strings
        return switch (device.browser, device.system) {
        case (let browser?, let system?):
            strings.text(.accountDevice, ["browser": browser, "system": system])
        case (let name?, nil), (nil, let name?): name
        case (nil, nil):
            session.agent.isEmpty ? strings.text(.accountUnknown) : String(session.agent.prefix(60))
        }
    }
}
