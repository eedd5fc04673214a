internal import DavitHTTP
internal import DavitStore

/// The URLs of uploads: members of a collection at the root of the share.
///
/// The name of this collection has the form that stores reserve for internal files, so that no resource can
/// have it.
enum UploadResource {
    static let collection = ReservedCollection(".davit-resumableuploads")
    /// The media type of requests that append to an upload (draft §8).
    static let partialType: StaticString = "application/partial-upload"
    /// The corresponding media type in tus.
    static let offsetType: StaticString = "application/offset+octet-stream"

    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    private static let idLength = 26

    /// Returns a new id, which contains 130 random bits and cannot be guessed.
    static func newID() -> String {
        var generator = SystemRandomNumberGenerator()
        let characters = (0..<idLength).map { _ in alphabet[Int(generator.next(upperBound: UInt64(32)))] }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Returns the id in the URL of an upload; nil for other paths, including the collection of uploads.
    static func id(at path: ResourcePath) -> String? {
        guard path.isMember(of: collection.path) else { return nil }
        return String(decoding: path.name, as: UTF8.self)
    }
}

extension RequestContext {
    /// Returns the URL of an upload for this client.
    func href(ofUpload id: String) -> [UInt8] {
        href(of: UploadResource.collection.path) + Array("/\(id)".utf8)
    }
}

extension UploadResource {
    static let limitField = "Upload-Limit"
    /// The media types accepted by PATCH of an upload.
    static var acceptPatch: String { "\(partialType), \(offsetType)" }
}
