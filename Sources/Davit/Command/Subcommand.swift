/// The commands of `davit`.
package enum Subcommand: String, CaseIterable, Sendable {
    case serve, check, locks, trash, password, replay

    package var help: Help {
        switch self {
        case .serve: .serve
        case .check: .check
        case .locks: .locks
        case .trash: .trash
        case .password: .password
        case .replay: .replay
        }
    }

    /// What stands before a folder, in examples.
    var beforeFolder: String {
        switch self {
        case .locks, .trash: "\(rawValue) list"
        default: rawValue
        }
    }
}
