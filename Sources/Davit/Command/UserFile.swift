internal import DavitServer

/// A parser for user files, with lines `NAME:PASSWORD`, or `NAME:` and a hash from `davit password`.
///
/// Empty lines and lines that begin with `#` are ignored. Spaces are significant, because a password can end
/// with one.
package enum UserFile {
    /// Whether only the owner can read or change a file with this mode.
    package static func isPrivate(mode: UInt32) -> Bool { mode & 0o077 == 0 }

    /// Parses a user file.
    ///
    /// - Parameter path: the path, for errors.
    /// - Throws: ``CommandFailure``, without the content of the invalid line, which can contain a password.
    package static func parse(_ bytes: [UInt8], path: String) throws(CommandFailure) -> [Configuration
        .Account]
    {
        var accounts: [Configuration.Account] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            guard let text = String(validating: line, as: UTF8.self) else {
                throw .userFileLine(path, line: index + 1, problem: "not valid UTF-8")
            }
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                throw .userFileLine(path, line: index + 1, problem: "missing colon")
            }
            guard !parts[0].isEmpty, !parts[1].isEmpty else {
                throw .userFileLine(path, line: index + 1, problem: "empty name or password")
            }
            let (name, secret) = (String(parts[0]), String(parts[1]))
            accounts.append(
                Accounts.isHash(secret)
                    ? Configuration.Account(name: name, hash: secret)
                    : Configuration.Account(name: name, password: secret))
        }
        if accounts.isEmpty { throw .userFileEmpty(path) }
        return accounts
    }
}
