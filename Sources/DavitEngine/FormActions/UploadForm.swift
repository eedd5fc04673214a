internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// A form with files. Each file is stored as it arrives, as with PUT, and does not wait for the other files.
struct UploadForm {
    let share: Share
    let request: ActionRequest

    /// - Returns: the result for each selected file, in the order sent. A refused file does not stop the
    ///   others.
    /// - Throws: 400 if there are no files; an error for the form as a whole. Files received before the error
    ///   remain stored.
    func perform() async throws(WebDAVError) -> [FormResult] {
        let parts = try FormParts(of: request.context.request)
        var results: [FormResult] = []
        var replaces = request.query["replace"] == "yes"
        while let (head, content) = try await parts.next() {
            guard let name = head.fileName else {
                if head.name == "replace" {
                    replaces = try await parts.text(content, limitBytes: 16) == "yes"
                }
                continue
            }
            // The file input was left empty.
            if name.isEmpty { continue }
            results.append(try await take(Array(name.utf8), content, replaces: replaces))
        }
        if results.isEmpty { throw WebDAVError(.badRequest) }
        return results
    }

    private func take(
        _ name: [UInt8], _ content: any RequestBody, replaces: Bool
    ) async throws(WebDAVError) -> FormResult {
        try await request.result(of: name) { () async throws(WebDAVError) in
            let member = try request.member(name, content: content)
            guard replaces else {
                let collection = request.collection(content: content)
                return try await PostMethod.add(MemberNames(name), collection, share: share)
            }
            let put = try PutMethod(share: share, request: member.request)
            return try await ChangeCommitter(put, member).run()
        }
    }
}
