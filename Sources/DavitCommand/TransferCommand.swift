package import Davit
internal import DavitHTTP
internal import DavitSQLite
internal import DavitStore
internal import DavitSystem
internal import DavitTree

/// The arguments of `davit import` and `davit export`.
package struct TransferOptions: Hashable, Sendable {
    /// Whether files are copied from the folder to the database, or from the database to the folder.
    package var direction: ShareTransfer.Direction
    /// The folder, as given on the command line.
    package var folder: String
    /// The state folder; nil for the default, which depends on the folder.
    package var stateFolder: String?
    package var database = DatabaseOptions()
    /// The file for the digests of the copied files; nil for none.
    package var digestFile: String?

    package init(_ direction: ShareTransfer.Direction, folder: String) {
        self.direction = direction
        self.folder = folder
    }
}

extension Arguments {
    mutating func transfer(_ direction: ShareTransfer.Direction) throws(UsageError) -> Invocation {
        var options = TransferOptions(direction, folder: "")
        let folder = try folder { (arguments, word) throws(UsageError) in
            let (name, behindSign) = Self.parts(of: word)
            switch name {
            case ServeOption.database.rawValue:
                try options.database.add(server: try arguments.value(of: name, behindSign: behindSign))
            case ServeOption.blobs.rawValue:
                options.database.blobs = try arguments.value(of: name, behindSign: behindSign)
            case ServeOption.share.rawValue:
                options.database.share = try arguments.value(of: name, behindSign: behindSign)
            case "--digests": options.digestFile = try arguments.value(of: name, behindSign: behindSign)
            default: options.stateFolder = try arguments.stateFolder(word)
            }
        }
        let subcommand: Subcommand = direction == .intoDatabase ? .importing : .exporting
        guard let folder else { return .help(subcommand.help) }
        options.folder = folder
        guard options.database.location != nil else {
            throw .incomplete(
                option: subcommand.rawValue,
                needs: "\(ServeOption.database.rawValue) and \(ServeOption.blobs.rawValue)")
        }
        return .transfer(options)
    }
}

/// `davit import` and `davit export`: copy a folder to a share in a database, or back, with properties and times.
package struct TransferCommand {
    package let options: TransferOptions

    package init(options: TransferOptions) { self.options = options }

    /// Copies, and prints what was done. Blocks.
    /// - Throws: ``CommandFailure``, including when some files could not be copied.
    func run() throws(CommandFailure) {
        guard let database = options.database.location else { throw .other("missing database") }
        if options.direction == .intoFolder {
            do throws(SystemError) { try ExclusiveFolder.makeFolders(options.folder) } catch {
                throw .other("\(options.folder): \(error.description)")
            }
        }
        let access = try StateAccess(
            folder: options.folder, stateFolder: options.stateFolder, isCreated: true)
        let counts: Counts? = try access.perform { (_) throws(CommandFailure) in
            throw .other("a server is sharing \(options.folder): stop it first")
        } alone: { (store) throws(CommandFailure) in
            try copy(access, store, database)
        }
        guard let counts else { return }
        StandardStreams.writeOutput(counts.text)
        if counts.failed > 0 { throw .other("\(counts.failed) files or folders could not be copied") }
    }

    /// What was done.
    private struct Counts {
        var copied = 0
        var bytes: Int64 = 0
        var unchanged = 0
        var failed = 0
        var leftOut = 0

        var text: String {
            var text = "\(copied) files copied (\(bytes) bytes), \(unchanged) unchanged"
            if leftOut > 0 { text += ", \(leftOut) links to folders left out" }
            return text + "\n"
        }
    }

    /// Collects the results of one run, on the thread that copies.
    private final class Results {
        var counts = Counts()
        var digests: [UInt8] = []
    }

    private func copy(
        _ access: StateAccess, _ store: SQLiteStateStore, _ database: SharedDatabase
    ) throws(CommandFailure) -> Counts {
        let state: any ShareState
        do throws(StateError) { state = try IndexedShareState(store: store) } catch {
            throw .stateUnreadable(access.path, reason: error.text)
        }
        let transfer = ShareTransfer(
            options.direction, try access.folders(store), state, database: database)
        let results = Results()
        let hasDigests = options.digestFile != nil
        do throws(ServerError) {
            try transfer.run { event in
                switch event {
                case .copied(let path, let length, let digest):
                    results.counts.copied += 1
                    results.counts.bytes += length
                    if hasDigests, let digest {
                        results.digests += HexText.encode(digest) + Array("  ".utf8) + path.bytes + [10]
                    }
                case .unchanged: results.counts.unchanged += 1
                case .failed(let path, let error):
                    results.counts.failed += 1
                    StandardStreams.writeError("davit: /\(NameCheck.shown(path.bytes)): \(error.text)\n")
                case .leftOut(let path):
                    results.counts.leftOut += 1
                    StandardStreams.writeError(
                        "davit: /\(NameCheck.shown(path.bytes)): left out, because it is a link to a folder\n"
                    )
                }
            }
        } catch {
            throw CommandFailure(error, folder: options.folder)
        }
        if let file = options.digestFile {
            do throws(SystemError) { try SmallFile.write(results.digests, to: file, mode: 0o644) } catch {
                throw .other("\(file): \(error.description)")
            }
        }
        return results.counts
    }
}
