/// What happened when a server read its settings again, for the log and for `davit reload`.
package struct ReloadReport: Hashable, Sendable {
    /// The settings that have changed, one per line.
    package var changes: [String] = []
    /// Why the settings were not changed, one per line. Nothing has changed if there are any.
    package var errors: [String] = []

    package init(changes: [String] = [], errors: [String] = []) {
        self.changes = changes
        self.errors = errors
    }

    /// The lines of a response.
    package var lines: [String] {
        errors.map { "error \($0)" } + changes.map { "change \($0)" }
    }

    /// Parses the lines of a response. A line of another kind, such as the number of omitted lines, counts as what
    /// precedes it.
    package init(lines: [String]) {
        for line in lines {
            if line.hasPrefix("change ") {
                changes.append(String(line.dropFirst("change ".count)))
            } else if line.hasPrefix("error ") {
                errors.append(String(line.dropFirst("error ".count)))
            } else if changes.isEmpty {
                errors.append(line)
            } else {
                changes.append(line)
            }
        }
    }
}
