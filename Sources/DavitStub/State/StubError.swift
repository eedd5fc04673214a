internal import DavitStore

/// The reason why a stub server cannot be started or changed.
public enum StubError: Error, Hashable, Sendable {
    /// A rule cannot work.
    case rule(RuleError)
    /// The fault rules cannot be used: the number of the line from 1 on, and what is wrong.
    case faults(line: Int, problem: String)
    /// Another process uses the database.
    case inUse(String)
    /// The URL of the server to which requests are forwarded is malformed.
    case badUpstream(String)
    /// The database cannot be used.
    case database(String, reason: String)

    init(_ name: String, _ error: StateError) {
        switch error {
        case .outOfSpace: self = .database(name, reason: "no space is left")
        case .failed(let reason) where reason.contains("database is locked"): self = .inUse(name)
        case .propertiesTooLarge, .superseded: self = .database(name, reason: error.text)
        case .failed(let reason):
            // The name that SQLite knows is that of the file, which this error has already.
            let text = reason.split(separator: ".sqlite: ", maxSplits: 1).last.map(String.init) ?? reason
            self = .database(name, reason: text)
        }
    }
}

extension StubError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .rule(let error):
            "rule '\(error.rule)'\(error.column.isEmpty ? "" : ", \(error.column)"): \(error.problem)"
        case .faults(let line, let problem): "line \(line) of the fault rules: \(problem)"
        case .badUpstream(let url): "invalid server URL '\(url)'"
        case .inUse(let name): "\(name) is in use by another process"
        case .database(let name, let reason): "\(name): \(reason)"
        }
    }
}
