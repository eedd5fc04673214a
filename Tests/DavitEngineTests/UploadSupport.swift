import DavitEngine
import DavitHTTP
import DavitStore
import DavitTesting
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Content whose first part is available immediately. When the gate opens, the rest arrives or the connection
/// ends.
final class GatedBody: RequestBody {
    private let first: [UInt8]
    private let rest: [UInt8]?
    private let gate: Opening
    private var sent = 0
    let declaredLength: Int64?
    /// Interim responses sent before the final one.
    let interims = Mutex<[(status: UInt16, fields: HTTPFields)]>([])

    /// - Parameter rest: Nil for an aborted connection.
    init(_ first: [UInt8], then rest: [UInt8]?, declared: Int64?, gate: Opening = Opening(isOpen: true)) {
        self.first = first
        self.rest = rest
        self.gate = gate
        declaredLength = declared
    }

    var isPresent: Bool { declaredLength != 0 }

    func read(into buffer: IOBuffer) async throws(HTTPError) -> Int {
        let all = first + (rest ?? [])
        if sent >= first.count {
            gate.reached()
            await gate.wait()
            if rest == nil { throw .disconnected }
        }
        let end = sent < first.count ? first.count : all.count
        let taken = buffer.append(Array(all[sent..<end].prefix(buffer.freeCount)))
        sent += taken
        return taken
    }

    func sendInterim(_ status: HTTPStatus, _ fields: HTTPFields) async throws(HTTPError) {
        interims.withLock { $0.append((status.code, fields)) }
    }
}

/// A gate that can be opened once, and reports when a task waits for it.
final class Opening: Sendable {
    private let (opening, isOpened) = AsyncStream<Void>.makeStream()
    private let (arrival, hasArrived) = AsyncStream<Void>.makeStream()

    init(isOpen: Bool = false) { if isOpen { isOpened.finish() } }

    func open() { isOpened.finish() }
    func reached() { hasArrived.finish() }
    func wait() async { for await _ in opening {} }
    func untilReached() async { for await _ in arrival {} }
}

extension TestShare {
    static let partial = ("Content-Type", "application/partial-upload")
    static let offsetType = ("Content-Type", "application/offset+octet-stream")
    static let tus = ("Tus-Resumable", "1.0.0")

    /// Creates an upload without content, and returns its URL.
    func createUpload(
        _ target: String, _ fields: [(String, String)] = [], principal: String? = nil
    ) async throws -> String {
        let response = try await client.send(
            "PUT", target, [("Upload-Complete", "?0")] + fields, body: [], principal: principal)
        guard response.status == 201, let location = response["Location"] else {
            throw HTTPError(.badRequest, "\(response.status) \(response.text)")
        }
        return location
    }

    func append(
        _ text: String, to upload: String, at offset: Int, isLast: Bool = false,
        _ fields: [(String, String)] = [], principal: String? = nil
    ) async throws -> TestResponse {
        try await client.send(
            "PATCH", upload,
            [Self.partial, ("Upload-Offset", "\(offset)"), ("Upload-Complete", isLast ? "?1" : "?0")]
                + fields,
            body: Array(text.utf8), principal: principal)
    }

    /// Begins to append bytes, with a request that does not end before the gate opens.
    func beginAppending(_ bytes: [UInt8], to upload: String, until gate: Opening) -> Task<UInt16, any Error> {
        Task { [client] in
            try await client.send(
                "PATCH", upload,
                [Self.partial, ("Upload-Offset", "0"), ("Upload-Complete", "?0")],
                body: GatedBody(bytes, then: [], declared: nil, gate: gate)
            ).status
        }
    }

    /// Returns the offset reported by HEAD; nil if the upload does not exist.
    func offset(of upload: String, principal: String? = nil) async throws -> Int? {
        let response = try await client.send("HEAD", upload, principal: principal)
        return response.status == 204 ? response["Upload-Offset"].flatMap { Int($0) } : nil
    }

    /// Returns all names in the folder, including hidden ones.
    func names() -> [String] {
        var names: [String] = []
        guard let folder = unsafe opendir(folder.path) else { return [] }
        defer { unsafe closedir(folder) }
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func text(_ path: String) async throws -> String { try await client.send("GET", path).text }
}
