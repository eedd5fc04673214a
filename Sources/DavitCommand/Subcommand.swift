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

    /// The words before the folder argument, for examples.
    var beforeFolder: String {
        switch self {
        case .locks, .trash: "\(rawValue) list"
        default: rawValue
        }
    }
}
