import Davit
import DavitCommand
import Testing

struct UserFileTests {
    @Test func eachLineIsParsedAsAUser() throws {
        let text = "# accounts\nanna:open:sesame\r\n\njörg:pässword \nlast:one"
        let users = try UserFile.parse(Array(text.utf8), path: "/u")
        #expect(
            users == [
                .init(name: "anna", password: "open:sesame"), .init(name: "jörg", password: "pässword "),
                .init(name: "last", password: "one"),
            ])
    }

    /// Hashes of `davit password` and of other programs; they must not be mistaken for passwords.
    @Test func hashesAreDistinguishedFromPasswords() throws {
        let text = "a:$scrypt$x\nb:$digest$md5=0$davit:x\nc:$2y$05$x\nd:$\ne:$5\n"
        let users = try UserFile.parse(Array(text.utf8), path: "/u")
        #expect(
            users == [
                .init(name: "a", hash: "$scrypt$x"), .init(name: "b", hash: "$digest$md5=0$davit:x"),
                .init(name: "c", hash: "$2y$05$x"), .init(name: "d", password: "$"),
                .init(name: "e", password: "$5"),
            ])
    }

    /// A colon and the combining mark after it are one `Character`, but the byte of the colon ends the name.
    @Test func lineIsSplitAtTheFirstColonByte() throws {
        let users = try UserFile.parse(Array("anna:\u{301}e:x\n".utf8), path: "/u")
        #expect(users == [.init(name: "anna", password: "\u{301}e:x")])
    }

    static let refused: [(bytes: [UInt8], failure: CommandFailure)] = [
        ([], .userFileEmpty("/u")), (Array("#a:b\n\n".utf8), .userFileEmpty("/u")),
        (Array("a:b\nsecret\n".utf8), .userFileLine("/u", line: 2, problem: "missing colon")),
        (Array(":x\n".utf8), .userFileLine("/u", line: 1, problem: "empty name or password")),
        (Array("a:\n".utf8), .userFileLine("/u", line: 1, problem: "empty name or password")),
        ([0x61, 0x3A, 0xFF], .userFileLine("/u", line: 1, problem: "not valid UTF-8")),
    ]

    @Test(arguments: refused)
    func errorNamesTheLine(bytes: [UInt8], failure: CommandFailure) {
        #expect(throws: failure) { try UserFile.parse(bytes, path: "/u") }
    }

    static let modes: [(mode: UInt32, isPrivate: Bool)] = [
        (0o100600, true), (0o100400, true), (0o100640, false), (0o100604, false), (0o100660, false),
        (0o100601, false),
    ]

    @Test(arguments: modes)
    func privateFileIsNotAccessibleToOthers(mode: UInt32, isPrivate: Bool) {
        #expect(UserFile.isPrivate(mode: mode) == isPrivate)
    }
}
