public import DavitHTTP
internal import DavitListing
public import DavitServer
public import DavitStore

/// Serves a folder as a website.
///
/// GET and HEAD return files according to ``SiteOptions``. OPTIONS returns 204. Unknown methods are refused
/// with 501, and all other known methods with 405. A GET has the same capabilities and cost as in a WebDAV
/// share of the same folder: files stay open and are validated for each request.
public struct SiteHandler: Handler {
    private let site: Site
    private let work: any BlockingWorkRunner
    private let now: @Sendable () -> Timestamp
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - resources: the folder, opened with the ``SiteOptions/contentRules`` of the same options.
    ///   - now: the wall clock.
    ///   - report: receives internal errors that are not sent to clients, as text that may contain arbitrary
    ///     bytes.
    public init(
        resources: any ResourceReader, work: any BlockingWorkRunner, options: SiteOptions = SiteOptions(),
        now: @escaping @Sendable () -> Timestamp, report: @escaping @Sendable (String) -> Void
    ) {
        site = Site(resources, options)
        self.work = work
        self.now = now
        self.report = report
    }

    public func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        if let response = Self.answerWithoutReading(request) { return .ready(response) }
        let (path, endsInSlash) = try Self.place(of: request)
        let finding: Site.Finding
        do throws(StoreError) {
            finding = try site.find(request, at: path, endsInSlash: endsInSlash, wait: .never)
        } catch .wouldBlock {
            return .pending { () async throws(HTTPError) in
                let finding: Site.Finding
                do throws(StoreError) { finding = try await self.find(request, path, endsInSlash) } catch {
                    return self.response(to: request, error)
                }
                return try await self.reply(to: request, at: path, finding).response()
            }
        } catch {
            return .ready(response(to: request, error))
        }
        return reply(to: request, at: path, finding)
    }

    private func reply(to request: HTTPRequest, at path: ResourcePath, _ finding: Site.Finding) -> Reply {
        guard case .folder(let canonicalPath) = finding else {
            return .ready(response(to: request, finding))
        }
        return .pending { () async throws(HTTPError) in try await self.list(request, path, canonicalPath) }
    }

    private func response(to request: HTTPRequest, _ error: StoreError) -> HTTPResponse {
        if case .failed(let reason) = error { report(reason) }
        let refusal = HTTPError(reading: error)
        return .error(refusal.status, refusal.reason, for: request)
    }

    /// Returns the requested path, and whether it ends in a slash. Below a mount, an empty raw path means
    /// that the folder itself was requested without its trailing slash.
    private static func place(
        of request: HTTPRequest
    ) throws(HTTPError) -> (path: ResourcePath, endsInSlash: Bool) {
        let target = request.target
        let (path, endsInSlash) = try target.resourcePath()
        return (path, endsInSlash && !target.rawPath.isEmpty)
    }

    private static func answerWithoutReading(_ request: HTTPRequest) -> HTTPResponse? {
        var response: HTTPResponse
        switch request.method {
        case .get, .head: return nil
        case .options: response = HTTPResponse(status: .noContent)
        case .other: return .error(.notImplemented, "Method not supported.", for: request)
        default: response = .error(.methodNotAllowed, "This resource is read-only.", for: request)
        }
        response.fields.append(.allow, "GET, HEAD, OPTIONS")
        return response
    }

    /// Resolves a request on another thread.
    private func find(
        _ request: HTTPRequest, _ path: ResourcePath, _ endsInSlash: Bool
    ) async throws(StoreError) -> Site.Finding {
        let site = site
        let result = await work.run { () -> Result<Site.Finding, StoreError> in
            do throws(StoreError) {
                return .success(try site.find(request, at: path, endsInSlash: endsInSlash, wait: .allowed))
            } catch {
                return .failure(error)
            }
        }
        guard let result else { throw .busy }
        return try result.get()
    }

    /// - Parameter finding: must not be a folder to list.
    private func response(to request: HTTPRequest, _ finding: Site.Finding) -> HTTPResponse {
        switch finding {
        case .content(let plain, let gzip): return content(plain, gzip, for: request)
        case .unslashedFolder: return redirect(request)
        case .nothing(let page?): return Self.notFound(page)
        case .nothing(nil), .folder: return .error(.notFound, "Not found.", for: request)
        }
    }

    private func content(
        _ plain: OpenContent, _ gzip: OpenContent?, for request: HTTPRequest
    ) -> HTTPResponse {
        let head = gzip?.head.asForm(of: plain.head) ?? plain.head
        let wantsRange = RepresentationChoice.wantsRange(request)
        let response = HTTPResponse.stored(
            gzip?.file ?? plain.file, head, for: request,
            matchesAnyCoding: head.negotiatesCoding && !wantsRange,
            allowsRange: wantsRange || !head.negotiatesCoding, now: now())
        if response.status == .preconditionFailed { return .preconditionFailed(for: request) }
        if gzip != nil { return response }
        return compressed(response, of: plain, for: request)
    }

    /// Compresses the response while sending, if there is no precompressed file.
    private func compressed(
        _ response: HTTPResponse, of content: OpenContent, for request: HTTPRequest
    ) -> HTTPResponse {
        guard site.options.compresses, content.head.negotiatesCoding, RepresentationChoice.takesGzip(request),
            !RepresentationChoice.wantsRange(request),
            content.file.length >= Compression.defaultThresholdBytes
        else { return response }
        var coded = response
        if response.status == .ok { coded.body = .stream(FileStream(content.file, work: work)) }
        return Compression().encode(coded, for: request)
    }

    /// Returns a redirect to the same path with a trailing slash. The location is an absolute path, which
    /// cannot refer to another host.
    private func redirect(_ request: HTTPRequest) -> HTTPResponse {
        let slash = UInt8(ascii: "/")
        // After two slashes at the start, the next segment would be a host (RFC 3986 §4.2).
        var location = [slash] + request.fullRawPath.drop { $0 == slash } + [slash]
        if let query = request.target.rawQuery { location += [UInt8(ascii: "?")] + query }
        let response = HTTPResponse.redirect(
            to: String(decoding: location, as: UTF8.self), site.options.redirect)
        // Limit the cache age: otherwise browsers may cache a permanent redirect indefinitely, even if the
        // folder later becomes a file.
        return site.options.cacheAgeSeconds.map(response.cacheAge) ?? response
    }

    /// Returns the site's page for missing resources. The page does not represent the requested resource, so
    /// preconditions and ranges are ignored.
    private static func notFound(_ page: OpenContent) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(.contentType, page.head.type)
        fields.append(.xContentTypeOptions, "nosniff")
        fields.append(.cacheControl, "no-cache")
        return HTTPResponse(
            status: .notFound, fields: fields, body: .file(page.file, offset: 0, length: page.file.length))
    }

    private func list(
        _ request: HTTPRequest, _ path: ResourcePath, _ canonicalPath: ResourcePath
    ) async throws(HTTPError) -> HTTPResponse {
        let members = SiteMembers(of: canonicalPath, in: site, work: work)
        let mount = try ResourcePath.parse(rawPath: request.mountPath).path
        let page = ListingPage(
            rootName: mount.isRoot ? "Files" : String(decoding: mount.name, as: UTF8.self),
            segments: path.segments.map { Array($0) }, endsInSlash: true)
        return try await page.response(members)
    }
}
