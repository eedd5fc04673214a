internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// A form with files. Each file is published as soon as it is complete, as with PUT.
struct UploadForm {
    let share: Share
    let request: ActionRequest

    /// Stores the files, even if some of them are refused.
    /// - Returns: the result for each file, in the order of the form.
    /// - Throws: 400 if there are no files; other errors that concern the form as a whole. Files received before the
    ///   error remain stored.
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
            // An empty file name means that the user selected no file.
            if name.isEmpty { continue }
            results.add(try await take(Array(name.utf8), content, replaces: replaces))
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
