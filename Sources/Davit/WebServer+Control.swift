internal import DavitSQLite
internal import DavitStore

extension WebServer {
    /// What the server says to other commands. Blocks.
    static func answer(_ request: ControlRequest, about state: SQLiteStateStore) -> ControlAnswer {
        do throws(StateError) {
            switch request {
            case .check: return .lines(try state.integrityCheck())
            }
        } catch {
            return .refused(reason: error.text)
        }
    }
}

extension StateError {
    /// In words for the person who asked.
    var text: String {
        switch self {
        case .outOfSpace: "no space is left"
        case .failed(let reason): reason
        }
    }
}
