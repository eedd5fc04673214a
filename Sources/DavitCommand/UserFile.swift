package import Davit
internal import DavitServer

/// A user file, with lines `NAME:PASSWORD`, or `NAME:` and a hash from `davit password`.
package enum UserFile {
    /// Whether only the owner can read or change a file with this mode.
    package static func isPrivate(mode: UInt32) -> Bool { mode & 0o077 == 0 }

    /// Why a file is refused whose permissions must not be restricted, such as a device.
    static let reasonNotAFile = "it is not a regular file, and other users have access to it"

    /// Parses a user file.
    ///
    /// - Parameter path: the path, for errors.
    /// - Throws: ``CommandFailure``, without the content of the invalid line, which can contain a password.
    package static func parse(
        _ bytes: [UInt8], path: String
    ) throws(CommandFailure) -> [Configuration.Account] {
        let lines: [AccountLine]
        do throws(AccountLine.FileError) { lines = try AccountLine.parse(file: bytes) } catch {
            throw .userFileLine(path, line: error.line, problem: text(for: error.problem))
        }
        if lines.isEmpty { throw .userFileEmpty(path) }
        return lines.map {
            Accounts.isHash($0.secret)
                ? Configuration.Account(name: $0.name, hash: $0.secret)
                : Configuration.Account(name: $0.name, password: $0.secret)
        }
    }

    private static func text(for problem: AccountLine.Problem) -> String {
        switch problem {
        case .notUTF8: "not valid UTF-8"
        case .missingColon: "missing colon"
        case .emptyPart: "empty name or password"
        }
    }
}
