import DavitCommand
import DavitSystem
import Testing

/// The options `--run-as` and `--sandbox`, which only Linux has.
struct PrivilegeArgumentsTests {
    @Test(arguments: [
        ("anna", RunAs(user: "anna")), ("anna:www-data", RunAs(user: "anna", group: "www-data")),
    ])
    func userAndGroupAreParsed(text: String, wanted: RunAs) throws {
        #expect(try RunAs(parsing: text) == wanted)
        guard ProcessPrivileges.canBeReduced else {
            let error = UsageError.needsLinux(option: "--run-as")
            #expect(throws: error) { try Arguments.parse(["serve", "/srv", "--run-as", text]) }
            return
        }
        var options = ServeOptions(folder: "/srv")
        options.runAs = wanted
        #expect(try Arguments.parse(["serve", "/srv", "--run-as", text]) == .serve(options))
    }

    @Test(arguments: [":", "anna:", ":www-data", "a:b:c"])
    func malformedUserIsRefused(text: String) {
        #expect(throws: UsageError.badRunAs(text)) {
            try Arguments.parse(["serve", "/srv", "--run-as", text])
        }
    }

    @Test func sandboxIsParsed() throws {
        guard ProcessPrivileges.canBeReduced else { return }
        var options = ServeOptions(folder: "/srv")
        options.isSandboxed = true
        #expect(try Arguments.parse(["serve", "/srv", "--sandbox"]) == .serve(options))
        #expect(throws: UsageError.unwantedValue(option: "--sandbox")) {
            try Arguments.parse(["serve", "/srv", "--sandbox=yes"])
        }
    }

    #if Postgres
    @Test func serversOfDatabasesCanBeSandboxed() throws {
        guard ProcessPrivileges.canBeReduced else { return }
        let words = ["serve", "--database", "postgresql://a/b", "--blobs", "/b", "--sandbox"]
        guard case .serve(let options) = try Arguments.parse(words) else {
            Issue.record("not a command to serve")
            return
        }
        #expect(options.isSandboxed)
    }
    #endif
}
