/// The commands of `davit`.
package enum Subcommand: String, CaseIterable, Sendable {
    case serve, check, password, replay

    package var help: Help {
        switch self {
        case .serve: .serve
        case .check: .check
        case .password: .password
        case .replay: .replay
        }
    }
}
