internal import DavitServer

/// The text of a file of accounts: lines `NAME:PASSWORD`, or `NAME:` and what `davit password` has printed.
///
/// Empty lines and lines that begin with `#` do not count. Spaces do: a password can end in one.
package enum UserFile {
    /// True if nobody but the owner may read or change a file of this mode.
    package static func isPrivate(mode: UInt32) -> Bool { mode & 0o077 == 0 }

    /// - Parameter path: stands in the errors.
    /// - Throws: ``Failure``, without anything of the line that is wrong: it can hold a password.
    package static func parse(_ bytes: [UInt8], path: String) throws(Failure) -> [Configuration.Account] {
        var accounts: [Configuration.Account] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            guard let text = String(validating: line, as: UTF8.self) else {
                throw .userFileLine(path, line: index + 1, problem: "it is not UTF-8")
            }
            guard let (name, secret) = Accounts.nameAndPassword(of: text) else {
                let hasColon = text.utf8.contains(UInt8(ascii: ":"))
                throw .userFileLine(
                    path, line: index + 1,
                    problem: hasColon ? "the name or the password is empty" : "it has no colon")
            }
            accounts.append(
                Accounts.isHash(secret)
                    ? Configuration.Account(name: name, hash: secret)
                    : Configuration.Account(name: name, password: secret))
        }
        if accounts.isEmpty { throw .userFileEmpty(path) }
        return accounts
    }
}
