#if PAM
import DavitPAM
import DavitServer
import DavitTesting
import Testing

enum PAMHelperProgram {
    /// The path of the helper: `DAVIT_PAM_HELPER`.
    static let path = ShellCommand.run("printf %s \"$DAVIT_PAM_HELPER\"")
        .flatMap { String(validating: $0.output, as: UTF8.self) }.flatMap { $0.isEmpty ? nil : $0 }
}

/// Passwords that PAM verifies, with service files of the test.
@Suite(.enabled(if: PAMHelperProgram.path != nil), .timeLimit(.minutes(2)))
struct PAMServiceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func verify(
        _ name: String, _ password: String, _ settings: String, seconds: Int64 = 30
    ) async throws -> PasswordVerification {
        try SmallFiles.write(settings, to: folder.path + "/test")
        let service = try PAMService(
            "test", helper: try #require(PAMHelperProgram.path), folder: folder.path, seconds: seconds)
        return await service.verify(name: name, password: password)
    }

    /// A script that receives the password on standard input and the name in PAM_USER.
    private func script(_ text: String) throws -> String {
        try SmallFiles.write("#!/bin/sh\n\(text)\n", to: folder.path + "/script")
        _ = ShellCommand.run("chmod 700 '\(folder.path)/script'")
        // pam_exec reports a command that fails as an error of the system.
        return """
            auth [success=1 default=ignore] pam_exec.so expose_authtok quiet \(folder.path)/script
            auth requisite pam_deny.so
            auth required pam_permit.so

            """
    }

    @Test func passwordsAreVerified() async throws {
        let auth = try script(#"[ "$PAM_USER:$(cat)" = "nosuchuser:open sesame" ]"#)
        let settings = auth + "account required pam_permit.so\n"
        let right = PasswordVerification.right(name: "nosuchuser", groups: [])
        #expect(try await verify("nosuchuser", "open sesame", settings) == right)
        #expect(try await verify("nosuchuser", "open", settings) == .wrong)
        #expect(try await verify("other", "open sesame", settings) == .wrong)
        #expect(try await verify("nosuchuser", "", settings) == .wrong)
        #expect(try await verify("", "open sesame", settings) == .wrong)
        #expect(try await verify("nosuchuser\u{0}open sesame", "x", settings) == .wrong)
    }

    @Test func usersHaveTheGroupsOfTheSystem() async throws {
        let settings = "auth required pam_permit.so\naccount required pam_permit.so\n"
        let found = try await verify("root", "x", settings)
        #expect(found == .right(name: "root", groups: ["root"]))
    }

    @Test func usersWithoutAccessAreDisabled() async throws {
        let settings = "auth required pam_permit.so\naccount required pam_deny.so\n"
        #expect(try await verify("root", "x", settings) == .disabled)
    }

    @Test func missingModulesAndHelpersAreOutages() async throws {
        let missing = "auth required pam_does_not_exist.so\naccount required pam_permit.so\n"
        guard case .unavailable = try await verify("root", "x", missing) else {
            Issue.record("admitted")
            return
        }
        let service = try PAMService("test", helper: folder.path + "/missing", folder: nil)
        guard case .unavailable = await service.verify(name: "root", password: "x") else {
            Issue.record("admitted")
            return
        }
        let broken = try PAMService("test", helper: "/bin/true", folder: nil)
        guard case .unavailable = await broken.verify(name: "root", password: "x") else {
            Issue.record("admitted")
            return
        }
    }

    @Test func slowModulesAreEndedAtTheDeadline() async throws {
        let settings = try script("cat >/dev/null; exec sleep 20") + "account required pam_permit.so\n"
        guard case .unavailable = try await verify("root", "x", settings, seconds: 1) else {
            Issue.record("admitted")
            return
        }
    }

    private static func words(_ command: String) -> [String] {
        let output = ShellCommand.run(command)?.output ?? []
        return String(decoding: output, as: UTF8.self).split { $0 == " " || $0 == "\n" }.map(String.init)
    }

    /// A user with supplementary groups; nil if the system has none.
    private static let member = words(
        "awk -F: '$4 != \"\" { split($4, a, \",\"); print a[1]; exit }' /etc/group"
    ).first

    @Test(.enabled(if: PAMServiceTests.member != nil)) func usersHaveAllTheirGroups() async throws {
        let name = try #require(Self.member)
        let groups = Set(Self.words("id -Gn '\(name)'"))
        let settings = "auth required pam_permit.so\naccount required pam_permit.so\n"
        #expect(try await verify(name, "x", settings) == .right(name: name, groups: groups))
    }
}
#endif
