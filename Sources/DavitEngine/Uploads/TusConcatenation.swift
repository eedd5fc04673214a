internal import DavitHTTP
internal import DavitStore

/// The value of `Upload-Concat` (concatenation extension of tus 1.0).
enum TusConcatenation {
    case none
    /// A part of a later upload.
    case partial
    /// An upload created by concatenating parts.
    case final([UploadRecord])

    static let field = "Upload-Concat"
    private static let finalPrefix = "final;"

    /// Maximum number of parts in an upload.
    private static let partLimit = 1_000

    /// - Throws: 400 for any other value, for too many parts, and for a reference to an upload that is not a
    ///   complete part; 404 or 410 for a reference that ``UploadEngine/find(_:_:)`` does not find.
    init(_ context: RequestContext, _ engine: UploadEngine) async throws(WebDAVError) {
        guard let value = context.request.string(named: Self.field) else {
            self = .none
            return
        }
        if value == "partial" {
            self = .partial
            return
        }
        guard value.hasPrefix(Self.finalPrefix) else { throw WebDAVError(.badRequest) }
        let references = value.dropFirst(Self.finalPrefix.count).split(separator: " ")
        guard !references.isEmpty, references.count <= Self.partLimit else { throw WebDAVError(.badRequest) }
        var parts: [UploadRecord] = []
        for reference in references {
            let path = engine.share.urls.path(ofReference: String(reference), in: context)
            let part = try await engine.find(path.flatMap(UploadResource.id), context)
            guard part.options.contains(.isPart), part.progress.isComplete else {
                throw WebDAVError(.badRequest)
            }
            parts.append(part)
        }
        self = .final(parts)
    }
}
