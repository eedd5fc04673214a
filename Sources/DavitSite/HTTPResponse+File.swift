internal import DavitFileStore
public import DavitHTTP
public import DavitServer
internal import DavitStore
internal import DavitSystem

extension HTTPResponse {
    /// Options for sending a file.
    public struct FileOptions: Sendable {
        /// The value of Content-Type; nil to derive it from the file name.
        public var type: String?
        /// The media types of file name extensions.
        public var types = MediaTypes()
        /// How long caches may use the file without revalidation, in seconds; 0 requires revalidation for
        /// each use.
        public var cacheAgeSeconds = 0
        /// Whether to follow a symbolic link in the last segment of the path; if not, a link results in 404.
        public var followsLink = false

        /// The default options: the media type is derived from the file name, caches revalidate the file for
        /// each use, and a link in the last segment is not followed.
        public init() {}
    }

    /// Returns a file in response to GET or HEAD, with entity tag, Last-Modified, preconditions (RFC 9110
    /// §13) and ranges (§14).
    ///
    /// ```swift
    /// routes.get("/report") { request in
    ///     try await .file("/srv/report.pdf", for: request, attachment: "Report 2026.pdf")
    /// }
    /// ```
    /// - Parameters:
    ///   - path: an absolute path, or one relative to the working directory. It must not be derived from
    ///     client input; use `StaticSite` to serve a folder of files.
    ///   - attachment: the name under which the file is to be saved instead of displayed; sent as `filename`
    ///     and `filename*` (RFC 6266).
    ///   - work: the executor that opens the file, which may block.
    /// - Returns: 200, 206, 304, 412 or 416.
    /// - Throws: 404, including for folders, FIFOs and devices, which are never opened; 403 if this process
    ///   may not read the file; 503 if too much work is waiting; 500 for other errors.
    public static func file(
        _ path: String, for request: HTTPRequest, attachment: String? = nil,
        options: FileOptions = FileOptions(), work: (any BlockingWorkRunner)? = nil
    ) async throws(HTTPError) -> HTTPResponse {
        var rules = ContentResponseSettings()
        rules.types = options.types
        rules.onlyType = options.type
        rules.cacheAgeSeconds = options.cacheAgeSeconds
        rules.sandboxesActiveContent = false
        let (followsLink, finalRules) = (options.followsLink, rules)
        let opened = await (work ?? PooledWorkRunner.shared).run { () -> Result<OpenContent, StoreError> in
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
