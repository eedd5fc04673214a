internal import DavitHTTP
internal import DavitStore

/// What `Upload-Concat` says (concatenation extension of tus 1.0).
enum TusConcatenation {
    case none
    /// A part of an upload that comes later.
    case partial
    /// The upload that parts become, one after the other.
    case final([UploadRecord])

    static let field = "Upload-Concat"
    private static let finalPrefix = "final;"

    /// Parts that one upload may have.
    private static let partLimit = 1_000

    /// - Throws: 400 for anything else, and for what is no complete part of this client.
    init(_ context: RequestContext, _ engine: UploadEngine) throws(WebDAVError) {
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
            let path = engine.share.path(ofReference: String(reference), in: context)
            let part = try engine.find(path.flatMap(UploadResource.id), context)
            guard part.options.contains(.isPart), part.progress.isComplete else {
                throw WebDAVError(.badRequest)
            }
            parts.append(part)
        }
        self = .final(parts)
    }
}
