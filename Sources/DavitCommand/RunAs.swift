internal import DavitSystem

/// The user and the group of `--run-as`.
package struct RunAs: Hashable, Sendable {
    package var user: String
    /// Nil for the primary group of the user.
    package var group: String?

    package init(user: String, group: String? = nil) {
        self.user = user
        self.group = group
    }

    /// Parses `USER` or `USER:GROUP`.
    package init(parsing text: String) throws(UsageError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else { throw .badRunAs(text) }
        self.init(user: parts[0], group: parts.count == 2 ? parts[1] : nil)
    }

    /// Looks up the user, and checks that this process can change to it.
    func process() throws(CommandFailure) -> ProcessUser {
        let process: ProcessUser
        do throws(ProcessUser.Failure) {
            process = try ProcessUser(named: user, group: group)
        } catch {
            switch error {
            case .unknownUser: throw .unknownUser(user)
            case .unknownGroup: throw .unknownGroup(group ?? "")
            case .failed(let error): throw .cannotRunAs(user, reason: error.description)
            }
        }
        guard process.isCurrent || ProcessPrivileges.isRoot else { throw .runAsNeedsRoot(user) }
        return process
    }
}
