import DavitAccess
import Testing

@Suite struct RightsTests {
    @Test(arguments: 0..<128) func textIsParsedBack(value: Int) {
        let rights = Rights(rawValue: UInt8(value))
        #expect(Rights(parsing: rights.description) == rights)
    }

    @Test(
        arguments: [
            ("view", Rights.view), ("list,read", .view), ("read,list", .view), ("none", .none),
            ("create", .drop), ("list,change", [.list, .change]),
        ] as [(String, Rights)])
    func parses(text: String, rights: Rights) { #expect(Rights(parsing: text) == rights) }

    @Test(arguments: [
        "", "View", "list,", ",list", "list,list", "list read", "write", "view,create", "list, read",
    ])
    func refuses(text: String) { #expect(Rights(parsing: text) == nil) }

    @Test(
        arguments: [
            ("user:anna", AccessRule.Subject.user("anna")), ("group:a:b", .group("a:b")),
            ("everyone", .everyone),
            ("anonymous", .anonymous), ("user:\u{301}", .user("\u{301}")),
        ] as [(String, AccessRule.Subject)])
    func parsesSubjects(text: String, subject: AccessRule.Subject) {
        #expect(AccessRule.Subject(parsing: text) == subject)
        #expect(subject.description == text)
    }

    @Test(arguments: ["", "anna", "user:", "group:", "User:anna", "Everyone", ":anna"])
    func refusesSubjects(text: String) { #expect(AccessRule.Subject(parsing: text) == nil) }
}
