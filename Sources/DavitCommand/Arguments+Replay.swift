package import DavitRecording

/// The arguments of `davit replay`.
package struct ReplayOptions: Hashable, Sendable {
    /// Files and folders, as specified.
    package var recordings: [String] = []
    package var server: ServerAddress
    package var user: ServeOptions.User?
    /// The file that lists known differences.
    package var expectedDifferences: String?

    package init(server: ServerAddress) { self.server = server }
}

extension Arguments {
    /// Parses the arguments after `replay`.
    mutating func replay() throws(UsageError) -> Invocation {
        var server: ServerAddress?
        var user: ServeOptions.User?
        var expected: String?
        var authorities: String?
        var recordings: [String] = []
        var areOptionsOver = false
        while let word = words.popFirst() {
            if areOptionsOver || !word.hasPrefix("-") {
                recordings.append(word)
                continue
            }
            let (name, behindSign) = Self.parts(of: word)
            switch name {
            case "--": areOptionsOver = true
            case "--help", "-h": return .help(.replay)
            case "--to":
                let value = try value(of: name, behindSign: behindSign)
                guard let address = ServerAddress(parsing: value) else { throw .badServer(value) }
                server = address
            case "--user": user = try Self.user(try value(of: name, behindSign: behindSign))
            case "--ca": authorities = try value(of: name, behindSign: behindSign)
            case "--expect": expected = try value(of: name, behindSign: behindSign)
            default:
                let known = ["--to", "--user", "--ca", "--expect", "--help"]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
        }
        guard !recordings.isEmpty, !recordings.contains("") else { throw .missingRecording }
        guard var server else { throw .missingServer }
        server.authorities = authorities
        var options = ReplayOptions(server: server)
        options.recordings = recordings
        options.user = user
        options.expectedDifferences = expected
        return .replay(options)
    }
}
