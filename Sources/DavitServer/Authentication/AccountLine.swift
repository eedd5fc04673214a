/// An account in the form used by options and user files: `NAME:PASSWORD`, or `NAME:` and a hash.
package struct AccountLine: Equatable, Sendable {
    package let name: String
    /// A password, or a hash: see ``Accounts/isHash(_:)``.
    package let secret: String

    package enum Problem: Error {
        case notUTF8, missingColon, emptyPart
    }

    /// The first invalid line of a file.
    package struct FileError: Error, Equatable {
        /// The number of the line, from 1.
        package let line: Int
        package let problem: Problem
    }

    /// Splits a text at its first colon (RFC 7617 §2). A colon ends the name even if a combining mark follows
    /// it and both are one `Character`.
    package init(parsing text: String) throws(Problem) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .missingColon }
        guard !parts[0].isEmpty, !parts[1].isEmpty else { throw .emptyPart }
        name = String(Substring(parts[0]))
        secret = String(Substring(parts[1]))
    }

    /// Parses the lines of a user file. Empty lines and lines that begin with `#` are ignored. Spaces are
    /// significant, because a password can end with one.
    package static func parse(file bytes: [UInt8]) throws(FileError) -> [AccountLine] {
        var accounts: [AccountLine] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            do throws(Problem) {
                guard let text = String(validating: line, as: UTF8.self) else { throw .notUTF8 }
                accounts.append(try AccountLine(parsing: text))
            } catch {
                throw FileError(line: index + 1, problem: error)
            }
        }
        return accounts
    }
}
