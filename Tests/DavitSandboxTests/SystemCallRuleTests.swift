import DavitTesting
import Testing

@testable import DavitSandbox

@Suite struct SystemCallRuleTests {
    private let rules = SystemCallRule.permitted(in: 4711, connects: true)

    @Test func noCallIsListedTwice() {
        let names = (rules + [.unknown, .fatal]).flatMap(\.names)
        #expect(names.count == Set(names).count)
        #expect(names.count > 200)
        #expect(names.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0 != UInt8(ascii: "\n") } })
    }

    @Test func callsThatStartProcessesOrChangeUsersAreNotPermitted() {
        let permitted = Set(rules.flatMap(\.names))
        let forbidden = "execve execveat fork vfork setuid setresuid setgid capset mknod io_uring_setup"
        for name in forbidden.split(separator: " ").map(String.init) {
            #expect(!permitted.contains(name), "\(name)")
        }
    }

    @Test func onlyServersThatConnectHaveInternetSockets() throws {
        for (connects, families) in [(true, [1, 16, 2, 10]), (false, [1, 16])] {
            let rules = SystemCallRule.permitted(in: 4711, connects: connects)
            let rule = try #require(rules.first { $0.names.contains("socket") })
            #expect(rule.conditions.map(\.value) == families.map(UInt64.init))
        }
    }

    @Test func signalsAreLimitedToTheProcess() throws {
        let rule = try #require(rules.first { $0.names.contains("kill") })
        #expect(rule.conditions.map(\.value) == [4711])
    }
}

@Suite struct SandboxPathTests {
    @Test(arguments: [
        ("/etc/davit/users", ["/etc/davit"]),
        ("users", ["."]),
        ("certificates/a.pem", ["certificates"]),
        // A rule for the root folder would permit every file.
        ("/users", ["/users"]),
    ])
    func rulesAreForTheFolderOfAFile(path: String, folders: [String]) {
        #expect(Sandbox.foldersOnTheWay(to: path) == folders)
    }
}
