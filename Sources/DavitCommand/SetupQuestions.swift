internal import Davit
internal import DavitHTTP
internal import DavitServer
internal import DavitSystem

/// Checks of answers, the same for options and for questions.
enum SetupQuestion {
    static func reach(_ text: String) throws(SetupProblem) -> SetupOptions.Reach {
        // The first letter suffices.
        let text = text.lowercased()
        guard let reach = SetupOptions.Reach.allCases.first(where: { $0.rawValue.hasPrefix(text) }),
            !text.isEmpty
        else { throw SetupProblem("expected machine, network or internet") }
        return reach
    }

    static func boolean(_ text: String) throws(SetupProblem) -> Bool {
        switch text.lowercased() {
        case "y", "yes", "true": return true
        case "n", "no", "false": return false
        default: throw SetupProblem("expected yes or no")
        }
    }

    /// Checks a host name or an address without scheme, port and path; an IPv6 address can have brackets.
    static func name(_ text: String) throws(SetupProblem) -> String {
        let isBare = text.contains(":") && !text.hasPrefix("[")
        let host = isBare ? "[\(text)]" : text
        guard let url = PublicURL(parsing: "https://\(host)"), url.port == nil, url.prefix == .empty,
            !host.contains("/")
        else { throw SetupProblem("expected a host name or an address, such as files.example.org") }
        return url.host
    }

    static func account(_ text: String) throws(SetupProblem) -> String {
        if let problem = Accounts.problem(ofName: text) { throw SetupProblem(problem.text) }
        return text
    }

    /// - Returns: the absolute path, without a trailing slash.
    static func folder(_ text: String, in current: String?) throws(SetupProblem) -> String {
        var path = text
        if !path.hasPrefix("/") {
            guard let current else { throw SetupProblem("expected an absolute path") }
            path = current + "/" + path
        }
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        let parts = path.split(separator: "/")
        if parts.isEmpty { throw SetupProblem("the root folder cannot be shared") }
        if parts.contains("..") || parts.contains(".") || path.utf8.contains(where: { $0 < 32 }) {
            throw SetupProblem("expected a path without . and .. and control characters")
        }
        return "/" + parts.joined(separator: "/")
    }
}

/// Asks questions on standard error and reads the answers from standard input, one line each.
struct SetupDialog {
    /// Whether to use the defaults instead of asking.
    let acceptsDefaults: Bool
    /// Returns the next line; empty at the end of the input.
    let readLine: () throws(CommandFailure) -> String
    /// Whether a wrong answer can be corrected: a script would answer the next question with it.
    let isInteractive: Bool
    let write: (String) -> Void

    /// Asks until the answer is valid. An empty answer, and the end of the input, means the default.
    /// - Throws: ``CommandFailure/setupAnswer(question:problem:)`` for a wrong answer of a script.
    func ask<Value>(
        _ question: String, default standard: String, _ check: (String) throws(SetupProblem) -> Value
    ) throws(CommandFailure) -> Value {
        while true {
            var answer = standard
            if !acceptsDefaults {
                write("\(question) [\(standard)]: ")
                let line = try readLine()
                if !line.isEmpty { answer = line }
                if !isInteractive { write("\n") }
            }
            do throws(SetupProblem) { return try check(answer) } catch {
                // At the end of the input, the default would be refused again and again.
                guard isInteractive, answer != standard else {
                    throw .setupAnswer(question: question, problem: error.text)
                }
                write("  \(error.text)\n")
            }
        }
    }

    /// Creates a dialog with the user of this process.
    static func standard(acceptsDefaults: Bool) -> SetupDialog {
        SetupDialog(
            acceptsDefaults: acceptsDefaults,
            readLine: { () throws(CommandFailure) in
                do throws(SystemError) {
                    let words = String(decoding: try Terminal.readLine(limit: 4096), as: UTF8.self).split(
                        separator: " ")
                    return words.joined(separator: " ")
                } catch {
                    throw .other("cannot read standard input: \(error.description)")
                }
            }, isInteractive: Terminal.isInput, write: { StandardStreams.writeError($0) })
    }
}
