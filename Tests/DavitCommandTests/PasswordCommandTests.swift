import DavitCommand

#if TLS
import Davit
import DavitSystem
import Testing

struct PasswordCommandTests {
    static let refused: [(name: String?, password: [UInt8])] = [
        ("", Array("x".utf8)), ("a:b", Array("x".utf8)), ("a", []), ("a", [0x61, 0]), ("a", [0xFF]),
        (nil, []),
    ]

    @Test(arguments: refused)
    func invalidAccountsAreRefused(name: String?, password: [UInt8]) {
        #expect(throws: CommandFailure.self) {
            try PasswordCommand(options: PasswordOptions(name: name)).line(for: password)
        }
    }

    @Test func longPasswordIsRefused() {
        let password = [UInt8](repeating: 120, count: 257)
        #expect(throws: CommandFailure.self) {
            try PasswordCommand(options: PasswordOptions(name: "a")).line(for: password)
        }
    }

    static let options: [PasswordOptions] = [
        PasswordOptions(name: "anna"), PasswordOptions(name: "anna", isDigest: true),
        PasswordOptions(name: "anna", isDigest: true, realm: "my files: all"),
    ]

    @Test(arguments: options)
    func printedLineIsAcceptedByTheServer(options: PasswordOptions) throws {
        let line = try PasswordCommand(options: options).line(for: Array("öpen:sesame".utf8))
        let accounts = try UserFile.parse(Array((line + "\n").utf8), path: "/u")
        #expect(accounts.map(\.name) == ["anna"])
        guard case .hash(let hash)? = accounts.first?.secret else {
            Issue.record("the line contains the password instead of a hash")
            return
        }
        #expect(hash.hasPrefix(options.isDigest ? "$digest$" : "$scrypt$"))
        #expect(!options.isDigest || hash.hasSuffix("$" + options.realm))
        #expect(!line.contains("sesame"))
    }

    @Test func onlyTheHashIsPrintedWithoutAName() throws {
        let line = try PasswordCommand(options: PasswordOptions()).line(for: Array("x".utf8))
        #expect(line.hasPrefix("$scrypt$"))
    }
}
#endif
