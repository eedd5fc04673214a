internal import DavitHTTP

/// The form with which a user chooses a password, opened by a link.
struct ChoosePasswordView {
    /// The reason why the form is shown again, or not at all.
    enum Failure: Hashable {
        /// The link was used, has ended, or is wrong.
        case invalid
        case different
        case unusable
        case busy

        fileprivate var phrase: Phrase {
            switch self {
            case .invalid: .chooseInvalid
            case .different: .chooseDifferent
            case .unusable: .chooseUnusable
            case .busy: .reasonBusy
            }
        }

        fileprivate var status: HTTPStatus {
            switch self {
            case .invalid: .forbidden
            case .different, .unusable: .unprocessableContent
            case .busy: .serviceUnavailable
            }
        }
    }

    /// The smallest number of characters of a password that a user chooses.
    static let leastCharacters = 8

    let frame: AccountFrame
    let account: String
    let token: String
    var failure: Failure?

    func response() -> HTTPResponse {
        let strings = frame.strings
        return frame.response(failure?.status ?? .ok, heading: strings.text(.choose)) { html in
            if let failure { frame.alert(strings.text(failure.phrase), to: &html) }
            if failure == .invalid { return frame.backLink(to: &html) }
            html.element("p", strings.text(.chooseHow, ["name": account]))
            html.markup("\n")
            frame.beginForm(.choosePassword, " class=\"simple-form\"", to: &html)
            html.hidden("link", token)
            // Password managers store the name together with the password.
            html.markup("<input type=\"hidden\" autocomplete=\"username\" name=\"name\"")
            html.attribute("value", account)
            html.markup(">\n")
            frame.input(
                .signInPassword, "password",
                " type=\"password\" autocomplete=\"new-password\" minlength=\"8\" autofocus", to: &html)
            frame.input(
                .chooseRepeat, "repeat", " type=\"password\" autocomplete=\"new-password\" minlength=\"8\"",
                to: &html)
            frame.endForm(.chooseSave, to: &html)
        }
    }
}
