internal import Davit
internal import DavitHTTP
internal import DavitServer
internal import DavitSystem
internal import DavitTree

/// The arguments of `davit nodes`.
package struct NodesOptions: Hashable, Sendable {
    package var database = DatabaseOptions()
    package var printsJSON = false

    package init() {}
}

extension Arguments {
    mutating func nodes() throws(UsageError) -> Invocation {
        var options = NodesOptions()
        let words = try others { (arguments, word) throws(UsageError) in
            let (name, behindSign) = Self.parts(of: word)
            switch name {
            case "--json":
                if behindSign != nil { throw .unwantedValue(option: name) }
                options.printsJSON = true
            case ServeOption.database.rawValue:
                try options.database.add(server: try arguments.value(of: name, behindSign: behindSign))
            default:
                let known = [ServeOption.database.rawValue, "--json", "--help"]
                throw .unknownOption(name, nearest: Self.nearest(to: name, in: known))
            }
        }
        guard let words else { return .help(.nodes) }
        if let word = words.first { throw .unexpectedArgument(word) }
        if options.database.servers.isEmpty {
            throw .incomplete(option: Subcommand.nodes.rawValue, needs: ServeOption.database.rawValue)
        }
        return .nodes(options)
    }
}

/// `davit nodes`: lists the servers that use a database, and its shares.
package struct NodesCommand {
    package let options: NodesOptions

    package init(options: NodesOptions) { self.options = options }

    /// Prints the list. Blocks.
    func run() throws(CommandFailure) {
        #if Postgres
        let cluster: TreeCluster
        do throws(ServerError) { cluster = try ClusterReport(servers: options.database.servers).read() } catch
        {
            throw CommandFailure(error, folder: "")
        }
        StandardStreams.writeOutput(options.printsJSON ? Self.json(of: cluster) : Self.text(of: cluster))
        #else
        throw .other("this build does not include PostgreSQL")
        #endif
    }

    #if Postgres
    private static func text(of cluster: TreeCluster) -> String {
        var text = "nodes:\n"
        for node in cluster.nodes {
            text += "  \(node.id)  \(shown(node.name))  started \(time(node.started))"
            text += "  seen \(time(node.seen))  "
            text += node.isRunning ? "running" : "not seen for \(duration(node.unseenSeconds))"
            text += node.stagedBlobs == 0 ? "\n" : "  \(node.stagedBlobs) staged\n"
        }
        text += "shares:\n"
        for share in cluster.shares {
            text += "  \(shown(share.name))  \(share.files) files  \(share.collections) folders"
            text += "  \(share.bytes) bytes\n"
        }
        return text
    }

    private static func json(of cluster: TreeCluster) -> String {
        var writer = JSONWriter()
        writer.object { json in
            json.member("nodes", cluster.nodes) { json, node in
                json.member("id", node.id)
                json.member("name", node.name)
                json.member("started", time(node.started))
                json.member("seen", time(node.seen))
                json.member("unseenSeconds", node.unseenSeconds)
                json.member("running", node.isRunning)
                json.member("staged", node.stagedBlobs)
            }
            json.member("shares", cluster.shares) { json, share in
                json.member("name", share.name)
                json.member("files", share.files)
                json.member("folders", share.collections)
                json.member("bytes", share.bytes)
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }

    private static func time(_ time: Timestamp) -> String {
        String(decoding: HTTPDate.iso8601(time), as: UTF8.self)
    }

    private static func duration(_ seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(seconds) seconds"
        case ..<7_200: "\(seconds / 60) minutes"
        case ..<172_800: "\(seconds / 3_600) hours"
        default: "\(seconds / 86_400) days"
        }
    }

    private static func shown(_ text: String) -> String { NameCheck.shown(Array(text.utf8)) }
    #endif
}
