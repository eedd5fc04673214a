internal import DavitFileStore
public import DavitHTTP
public import DavitServer
internal import DavitStore
internal import DavitSystem

extension HTTPResponse {
    /// How a file is sent.
    public struct FileOptions: Sendable {
        /// The value of Content-Type; nil for that of the name.
        public var type: String?
        /// The table the type of a name is looked up in.
        public var types = MediaTypes()
        /// How long caches may keep the file without asking again, in seconds; 0 has them ask each time.
        public var cacheAgeSeconds = 0
        /// A symbolic link at the end of the path is followed; else the answer is 404.
        public var followsLink = false

        /// The type by the name, no caching without asking, no link at the end.
        public init() {}
    }

    /// A file, with entity tag, Last-Modified, conditions (RFC 9110 §13) and ranges (§14), for GET and HEAD.
    ///
    /// ```swift
    /// routes.get("/report") { request in
    ///     try await .file("/srv/report.pdf", for: request, attachment: "Report 2026.pdf")
    /// }
    /// ```
    /// - Parameters:
    ///   - path: of the program's own: absolute, or from the working directory. Do not make it from what a client sent: a
    ///     folder of files is served by a `StaticSite`.
    ///   - attachment: the name under which the file is to be saved instead of shown; it is sent in both forms of
    ///     RFC 6266.
    ///   - work: where the file is opened, which may block.
    /// - Returns: 200, 206, 304, 412 or 416.
    /// - Throws: 404 also for folders, FIFOs and devices, which are never opened; 403 where this process may not read it; 503
    ///   where too much work waits.
    public static func file(
        _ path: String, for request: HTTPRequest, attachment: String? = nil,
        options: FileOptions = FileOptions(), work: (any BlockingWork)? = nil
    ) async throws(HTTPError) -> HTTPResponse {
        var rules = ContentRules()
        rules.types = options.types
        rules.onlyType = options.type
        rules.cacheAgeSeconds = options.cacheAgeSeconds
        rules.sandboxesActiveContent = false
        let (followsLink, finalRules) = (options.followsLink, rules)
        let opened = await (work ?? PoolWork.shared).run { () -> Result<OpenContent, StoreError> in
            do throws(StoreError) {
                return .success(try RegularFile.open(path, followsLink: followsLink, rules: finalRules))
            } catch {
                return .failure(error)
            }
        }
        guard let opened else { throw .tooBusy }
        switch opened {
        case .failure(let error): throw HTTPError(reading: error)
        case .success(let content): return file(content, for: request, attachment: attachment)
        }
    }

    private static func file(
        _ content: OpenContent, for request: HTTPRequest, attachment: String?
    ) -> HTTPResponse {
        let now = Timestamp(nanoseconds: Clock.coarseWallNow())
        let response = stored(content.file, content.head, for: request, now: now)
        switch response.status {
        case .preconditionFailed: return .preconditionFailed(for: request)
        case .ok, .partialContent: return attachment.map { response.attachment(named: $0) } ?? response
        default: return response
        }
    }
}
