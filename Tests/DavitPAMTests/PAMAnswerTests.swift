import DavitPAM
import DavitServer
import Testing

struct PAMAnswerTests {
    static let answers: [(text: String, found: PasswordVerification?)] = [
        ("right\nanna\n", .right(name: "anna", groups: [])),
        ("right\nanna\nstaff\nusers\n", .right(name: "anna", groups: ["staff", "users"])),
        ("wrong\n", .wrong), ("disabled\n", .disabled),
        ("unavailable no such module\n", .unavailable(reason: "pam: no such module")),
        // Everything else is an outage, never an admission.
        ("", nil), ("right\n", nil), ("right\n\n", nil), ("right", nil), ("RIGHT\nanna\n", nil),
        ("wrong\nanna\n", nil),
        ("\nright\nanna\n", nil), ("rightanna\n", nil), ("unavailable\n", nil),
    ]

    @Test(arguments: answers)
    func answersAreParsed(text: String, found: PasswordVerification?) {
        let parsed = PAMService.parse(Array(text.utf8))
        if let found {
            #expect(parsed == found)
        } else if case .unavailable = parsed {
        } else {
            Issue.record("\(parsed)")
        }
    }

    @Test func answersMustBeUTF8() {
        guard case .unavailable = PAMService.parse(Array("right\n".utf8) + [0xFF, 10]) else {
            Issue.record("accepted")
            return
        }
    }

    @Test(arguments: ["", "a/b", "..", ".hidden", "a b", "ä"])
    func serviceNamesAreFileNames(name: String) {
        #expect(throws: PAMService.Problem.badService(name)) { try PAMService(name) }
    }
}
