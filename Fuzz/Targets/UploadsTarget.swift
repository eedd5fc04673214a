import DavitEngine
import DavitHTTP

/// Fields of resumable uploads: tus 1.0 (`Upload-Metadata`, `Upload-Checksum`, offsets) and the IETF draft.
/// Each line of the input is one field line; accepted offsets and lengths are not negative.
func fuzzUploads(_ input: [UInt8]) {
    let names = [
        "Upload-Metadata", "Upload-Checksum", "Upload-Offset", "Upload-Length", "Upload-Defer-Length",
        "Upload-Complete", "Upload-Incomplete", "Upload-Draft-Interop-Version",
    ]
    var head = Array("PATCH /upload HTTP/1.1\r\nHost: a\r\n".utf8)
    for line in input.split(separator: UInt8(ascii: "\n")).prefix(16) {
        guard let first = line.first else { continue }
        head += Array(names[Int(first) % names.count].utf8) + Array(": ".utf8)
        head += line.dropFirst() + Array("\r\n".utf8)
    }
    head += Array("\r\n".utf8)
    guard let request = try? HTTPRequest(parsing: head) else { return }
    if let tus = TusFields.valid(in: request) {
        invariant((tus.offset ?? 0) >= 0 && (tus.length ?? 0) >= 0, "tus: offset and length not negative")
        if let name = tus.metadata.name { invariant(name.count <= input.count, "tus: name within the field") }
    }
    let draft = DraftFields(request)
    invariant((draft.offset ?? 0) >= 0 && (draft.length ?? 0) >= 0, "draft: offset and length not negative")
}
