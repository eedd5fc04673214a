internal import DavitHTTP
internal import DavitServer

/// The form with which a user signs in.
struct SignInView {
    /// The reason why the form is shown again.
    enum Failure: Hashable {
        case wrong
        case wait(seconds: Int64)
        case busy
        /// The code is wrong or was used before.
        case wrongCode
        case provider(ProviderFailure)
    }

    /// The reason why a sign-in at the provider has failed.
    enum ProviderFailure: Hashable {
        /// The user has cancelled, or the provider refuses the user.
        case denied
        /// The answer belongs to no sign-in of this browser that has begun recently.
        case expired
        case unavailable(seconds: Int64)
        /// The provider responds with something that cannot be used.
        case invalid
        /// The user cannot be used here.
        case refused
    }

    let frame: AccountFrame
    /// The name of the provider at which users can sign in; nil without one.
    var provider: String?
    var asksForPassword = true
    /// The name that was entered before.
    var name = ""
    /// The query of the page to return to.
    var query: [UInt8] = []
    /// Identifies the sign-in whose password was right, if a code is needed now.
    var pending: String?
    var failure: Failure?

    func response() -> HTTPResponse {
        let strings = frame.strings
        return frame.response(failure.status, heading: strings.text(.signIn)) { html in
            if let failure { frame.alert(failure.text(strings, provider: provider ?? ""), to: &html) }
            if let pending { return appendCodeForm(pending, to: &html) }
            if let provider { frame.providerLink(provider, query: query, to: &html) }
            guard asksForPassword else { return }
            frame.beginForm(.signIn, " class=\"simple-form\"", to: &html)
            html.hidden("query", query)
            let isKnown = !name.isEmpty
            frame.input(
                .signInName, "name",
                isKnown ? " autocomplete=\"username\"" : " autocomplete=\"username\" autofocus", value: name,
                to: &html)
            frame.input(
                .signInPassword, "password",
                isKnown
                    ? " type=\"password\" autocomplete=\"current-password\" autofocus"
                    : " type=\"password\" autocomplete=\"current-password\"",
                to: &html)
            frame.endForm(.signIn, to: &html)
        }
    }

    private func appendCodeForm(_ pending: String, to html: inout HTMLText) {
        frame.beginForm(.code, " class=\"simple-form\"", to: &html)
        html.hidden("query", query)
        html.hidden("pending", pending)
        frame.codeInput(isFocused: true, to: &html)
        html.element("p", frame.strings.text(.factorCodeHow))
        html.markup("\n")
        frame.endForm(.signIn, to: &html)
    }
}

extension SignInView.Failure {
    /// The name of the failure for scripts.
    var code: String {
        switch self {
        case .wrong: "wrong"
        case .wait: "wait"
        case .busy: "busy"
        case .wrongCode: "wrong-code"
        case .provider: "provider"
        }
    }

    /// - Parameter provider: the name of the provider.
    func text(_ strings: PageStrings, provider: String = "") -> String {
        switch self {
        case .wrong: strings.text(.signInWrong)
        case .wait(let seconds): strings.text(.signInWait, count: Int(clamping: seconds))
        case .busy: strings.text(.reasonBusy)
        case .wrongCode: strings.text(.factorWrong)
        case .provider(let failure): strings.text(failure.phrase, ["name": provider])
        }
    }
}

extension SignInView.ProviderFailure {
    fileprivate var phrase: Phrase {
        switch self {
        case .denied: .providerDenied
        case .expired: .providerExpired
        case .unavailable: .providerUnavailable
        case .invalid: .providerInvalid
        case .refused: .providerRefused
        }
    }

    /// The status of the response with the form.
    fileprivate var status: HTTPStatus {
        switch self {
        case .denied, .refused: .forbidden
        case .expired: .badRequest
        case .unavailable: .serviceUnavailable
        case .invalid: .badGateway
        }
    }
}

extension SignInView.Failure {
    /// The status of the account page: the request itself was authenticated.
    var accountStatus: HTTPStatus {
        switch self {
        case .wrong, .wrongCode: .forbidden
        case .wait: .tooManyRequests
        case .busy: .serviceUnavailable
        case .provider(let failure): failure.status
        }
    }
}

extension SignInView.Failure? {
    /// The status of the response with the form.
    var status: HTTPStatus {
        switch self {
        case nil, .wrong, .wrongCode: .unauthorized
        case .wait: .tooManyRequests
        case .busy: .serviceUnavailable
        case .provider(let failure): failure.status
        }
    }
}
