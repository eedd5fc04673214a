internal import Davit
internal import DavitHTTP
internal import DavitRecording
internal import DavitStub
internal import DavitSystem

/// `davit stub FILE`: starts a stub server and runs it until it stops.
struct StubCommand {
    let options: StubOptions

    /// Serves until a signal stops it. Blocks.
    func run() throws(CommandFailure) {
        ProcessMemory.returnLargeBlocks()
        var configuration = StubServer.defaultConfiguration
        if !options.hosts.isEmpty { configuration.hosts = options.hosts }
        configuration.port = options.port
        configuration.grace = .seconds(options.graceSeconds)
        configuration.stopsOnSignals = true
        configuration.logLevel = .warning
        if options.isSecure {
            configuration.tls = .init(.selfSigned(folder: "\(options.file).tls"))
            configuration.tls?.certificateFault = options.certificateFault
        }
        let stub = try Self.open(
            options.file, seed: options.seed, proxy: options.proxy, configuration: configuration)
        let addresses: [BoundAddress]
        do throws(ServerError) { addresses = try stub.server.start() } catch {
            throw CommandFailure(error, folder: options.file)
        }
        StandardStreams.writeError("davit: the seed of this run is \(stub.seed)\n")
        if let authority = stub.server.certificateAuthority {
            StandardStreams.writeError("davit: the certificate is signed by \(authority.path)\n")
        }
        let urls = addresses.map { $0.url(scheme: configuration.scheme) }.joined(separator: " and ")
        StandardStreams.writeOutput("davit stub is ready at \(urls)\n")
        ProcessMemory.returnCode()
        stub.server.waitUntilStopped()
    }

    static func open(
        _ file: String, seed: UInt64? = nil, proxy: String? = nil,
        configuration: Configuration = StubServer.defaultConfiguration
    ) throws(CommandFailure) -> StubServer {
        do {
            return try StubServer(
                database: file, seed: seed, forwardingTo: proxy, configuration: configuration)
        } catch {
            if let error = error as? ServerError { throw CommandFailure(error, folder: file) }
            if case .database? = error as? StubError, let reason = unusable(file) { throw .other(reason) }
            throw .other("\(error)")
        }
    }

    /// Returns why there cannot be a database at a path; nil if this is not known.
    private static func unusable(_ file: String) -> String? {
        if (try? RootDirectory(opening: file)) != nil {
            return "\(file) is a folder; give the name of a file"
        }
        guard let slash = file.lastIndex(of: "/"), slash != file.startIndex else { return nil }
        let folder = String(file[..<slash])
        if (try? RootDirectory(opening: folder)) != nil { return nil }
        return "cannot create \(file): \(folder) is not a folder that davit can open"
    }
}

/// The other forms of `davit stub`, which use the API of a running stub server.
struct StubControlCommand {
    let options: StubControlOptions

    /// Blocks.
    func run() throws(CommandFailure) {
        Signals.ignoreBrokenPipes()
        switch options.action {
        case .listRules:
            for rule in try json("GET", "rules")["rules"]?.elements ?? [] {
                StandardStreams.writeOutput("\(rule)\n")
            }
        case .addRules(let sources):
            for source in sources { try addRules(source) }
        case .removeRules(let names):
            for name in names { _ = try json("DELETE", "rules/\(Self.encoded(name))") }
        case .listRequests: try listRequests()
        case .showRequest(let number):
            let path = "requests/\(number)"
            StandardStreams.writeOutput("\(try json("GET", path, missing: "no request \(number)"))\n")
        case .verify(let expectation): try verify(expectation)
        case .reset: _ = try json("POST", "reset", [:])
        case .importRules(let sources, let file): try importRules(sources, file)
        }
    }

    private static func encoded(_ name: String) -> String {
        var bytes: [UInt8] = []
        PercentCoding.append(Array(name.utf8), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Sends a request to the API.
    /// - Parameter missing: what it means if the stub server does not find the resource; nil if it always exists.
    /// - Returns: the content of the response; an empty object without content.
    private func json(
        _ method: String, _ path: String, _ content: JSONValue? = nil, missing: String? = nil
    ) throws(CommandFailure) -> JSONValue {
        let fields = content == nil ? [] : [WireField(name: "Content-Type", value: "application/json")]
        let exchange: SingleExchange
        do throws(SingleExchange.Failure) {
            exchange = try SingleExchange(
                method, "\(options.server.path).davit/api/\(path)", to: options.server, fields: fields,
                content: content?.bytes)
        } catch {
            throw .other("no stub server at \(options.server.origin): \(error.reason)")
        }
        let value = exchange.content.isEmpty ? JSONValue.object([]) : JSONValue(parsing: exchange.content)
        if (200..<300).contains(exchange.status), let value { return value }
        guard let error = value?["error"] else {
            if exchange.status == 404, let missing, isStub() { throw .other(missing) }
            throw .other("\(options.server.origin) is not a stub server: status \(exchange.status)")
        }
        let rule = error["rule"]?.text.map { "rule '\($0)'" } ?? ""
        let column = error["column"]?.text ?? ""
        let place = [rule, column].filter { !$0.isEmpty }.joined(separator: ", ")
        throw .other((place.isEmpty ? "" : "\(place): ") + (error["problem"]?.text ?? "unknown error"))
    }

    /// Whether the server has the API of a stub server.
    private func isStub() -> Bool { (try? json("GET", "rules"))?["rules"] != nil }

    private func addRules(_ source: String) throws(CommandFailure) {
        let bytes: [UInt8]
        if source.hasPrefix("{") || source.hasPrefix("[") {
            bytes = Array(source.utf8)
        } else {
            let path = source == "-" ? "/dev/stdin" : source
            do throws(SystemError) { bytes = try SmallFile(reading: path, limitBytes: 16 << 20).bytes } catch
            {
                throw .other("cannot read \(source): \(error.description)")
            }
        }
        guard let value = JSONValue(parsing: bytes) else { throw .other("\(source) is not JSON") }
        for rule in value.elements ?? [value] {
            _ = try json("PUT", "rules/\(Self.encoded(rule["name"]?.text ?? "-"))", rule)
        }
    }

    private func listRequests() throws(CommandFailure) {
        let answer = try json("GET", "requests")
        for request in answer["requests"]?.elements ?? [] {
            let rule = request["rule"]?.text ?? "-"
            let status = request["status"]?.double.map { "\(Int($0))" } ?? "-"
            StandardStreams.writeOutput(
                "\(request["number"] ?? .null)\t\(request["time"]?.text ?? "")\t\(request["method"]?.text ?? "")\t"
                    + "\(request["target"]?.text ?? "")\t\(status)\t\(rule)\n")
        }
    }

    private func verify(_ expectation: StubControlOptions.Expectation) throws(CommandFailure) {
        var members: [JSONMember] = [.init("path", .string(expectation.path))]
        if expectation.method != "*" { members.append(.init("methods", [.string(expectation.method)])) }
        for (name, value) in [
            ("count", expectation.count), ("atLeast", expectation.atLeast), ("atMost", expectation.atMost),
        ] {
            if let value { members.append(.init(name, .integer(value))) }
        }
        var conditions: [JSONValue] = []
        for text in expectation.conditions {
            guard let value = JSONValue(parsing: Array(text.utf8)) else { throw .other("not JSON: \(text)") }
            conditions.append(value)
        }
        members.append(.init("when", .array(conditions)))
        let answer = try json("POST", "verify", .object(members))
        let count = answer["count"]?.double.map { Int($0) } ?? 0
        if answer["isComplete"] != true {
            StandardStreams.writeError("davit: the oldest requests are no longer recorded\n")
        }
        guard answer["holds"] == true else {
            let noun = count == 1 ? "request" : "requests"
            throw .other("found \(count) \(noun) \(expectation.method) \(expectation.path)")
        }
        StandardStreams.writeOutput("\(count)\n")
    }

    private func importRules(_ sources: [String], _ file: String) throws(CommandFailure) {
        var found = StubImport()
        for source in sources {
            if source.hasSuffix(".har") {
                let bytes: [UInt8]
                do throws(SystemError) {
                    bytes = try SmallFile(reading: source, limitBytes: 256 << 20).bytes
                } catch {
                    throw .recordingUnreadable(source, reason: error.description)
                }
                do throws(StubError) { try found.addHAR(bytes, file: source) } catch {
                    throw .other("\(error)")
                }
                continue
            }
            let sessions = try RecordingFiles.sessions(at: source)
            if sessions.isEmpty { throw .noRecording(source) }
            for session in sessions {
                for (name, recording) in session.recordings where recording.kind == .recording {
                    found.add(recording, file: name)
                }
            }
        }
        let stub = try StubCommand.open(file)
        do throws(StubError) {
            for rule in found.rules.reversed() { try stub.store(rule) }
        } catch {
            throw .other("\(error)")
        }
        for remark in found.remarks { StandardStreams.writeError("davit: \(remark)\n") }
        StandardStreams.writeOutput("\(found.rules.count) rules added to \(file)\n")
    }
}
