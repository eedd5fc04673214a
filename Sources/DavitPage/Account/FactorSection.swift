internal import DavitHTTP
internal import DavitQRCode
internal import DavitServer

#if TLS
/// The part of the account page about the second factor.
struct FactorSection {
    let frame: AccountFrame
    /// Nil if the account has none.
    let factor: SecondFactor?

    func append(to html: inout HTMLText) {
        let strings = frame.strings
        html.markup("<section>\n")
        html.element("h2", strings.text(.factor))
        html.markup("\n")
        guard let factor else {
            html.element("p", strings.text(.factorHow))
            html.markup("\n")
            frame.beginForm(.startFactor, " class=\"simple-selected\"", to: &html)
            frame.endForm(.factorStart, to: &html)
            html.markup("</section>\n")
            return
        }
        html.element("p", strings.text(.factorOn))
        html.markup("\n")
        html.element("p", strings.text(.factorLeft, count: factor.recoveryHashes.count))
        html.markup("\n")
        appendForm(.renewCodes, .factorRenew, to: &html)
        appendForm(.removeFactor, .factorRemove, " class=\"simple-danger\"", to: &html)
        html.markup("</section>\n")
    }

    /// Adds a form that a code confirms, so that an unattended browser is not enough.
    private func appendForm(
        _ action: AccountAction, _ phrase: Phrase, _ attributes: StaticString = "", to html: inout HTMLText
    ) {
        html.markup("<details class=\"simple-ask\"><summary>")
        html.text(frame.strings.text(phrase))
        html.markup("</summary>\n")
        frame.beginForm(action, " class=\"simple-form\"", to: &html)
        frame.codeInput(to: &html)
        frame.endForm(phrase, attributes, to: &html)
        html.markup("</details>\n")
    }
}

/// The page with the secret of a second factor that is being turned on.
struct FactorSetupView {
    let frame: AccountFrame
    let account: String
    /// The name of the server in the user's app.
    let issuer: String
    let secret: [UInt8]
    var failure: SignInView.Failure?

    func response() -> HTTPResponse {
        let strings = frame.strings
        let text = Base32.encode(secret)
        return frame.response(failure?.accountStatus ?? .ok, heading: strings.text(.factor)) { html in
            if let failure { frame.alert(failure.text(strings), to: &html) }
            html.element("p", strings.text(.factorScan))
            html.markup("\n")
            if let code = QRCode(encoding: address(text)) {
                html.markup("<div class=\"account-code\" role=\"img\"")
                html.attribute("aria-label", strings.text(.factorImage))
                html.markup(">")
                html.drawing(code)
                html.markup("</div>\n")
            }
            html.markup("<p class=\"account-secret\"><code>")
            html.text(SecondFactor.grouped(text))
            html.markup("</code></p>\n")
            frame.beginForm(.setFactor, " class=\"simple-form\"", to: &html)
            html.hidden("secret", text)
            frame.codeInput(isFocused: true, to: &html)
            frame.input(
                .signInPassword, "password", " type=\"password\" autocomplete=\"current-password\"",
                to: &html)
            frame.endForm(.factorStart, to: &html)
            frame.accountLink(to: &html)
        }
    }

    /// The address that apps for codes read from a QR code; the algorithm, the digits and the period are their
    /// defaults.
    private func address(_ secret: String) -> [UInt8] {
        var address = Array("otpauth://totp/".utf8)
        PercentCoding.append(Array(issuer.utf8), to: &address)
        address += Array(":".utf8)
        PercentCoding.append(Array(account.utf8), to: &address)
        address += Array("?secret=\(secret)&issuer=".utf8)
        PercentCoding.append(Array(issuer.utf8), to: &address)
        return address
    }
}

/// The page with new recovery codes, which are shown only once.
struct RecoveryCodesView {
    let frame: AccountFrame
    let codes: [String]

    func response() -> HTTPResponse {
        frame.response(.ok, heading: frame.strings.text(.factorCodes)) { html in
            html.element("p", frame.strings.text(.factorCodesHow))
            html.markup("\n<ul class=\"account-codes\">\n")
            for code in codes {
                html.markup("<li><code>")
                html.text(code)
                html.markup("</code></li>\n")
            }
            html.markup("</ul>\n")
            frame.accountLink(to: &html)
        }
    }
}

extension AccountFrame {
    /// Adds a link to the account page.
    func accountLink(to html: inout HTMLText) {
        html.markup("<p><a class=\"simple-back\"")
        html.attribute("href", "?\(AccountRoute.query)")
        html.markup(">")
        html.text(strings.text(.account))
        html.markup("</a></p>\n")
    }
}
#else
/// Builds without OpenSSL have no second factors.
struct FactorSection {
    func append(to html: inout HTMLText) {}
}
#endif
