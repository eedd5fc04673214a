internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// A form with files: each becomes a member as it comes, as PUT would make it, and none waits in a copy for another.
struct UploadForm {
    let share: Share
    let request: ActionRequest

    /// - Returns: what became of each file that was chosen, in the order sent. What is refused does not hold up the rest.
    /// - Throws: 400 without any file; what is wrong with the form as a whole. What came before it is there then.
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
            // Of a control where nothing was chosen.
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
            return try await share.change(put, context: member)
        }
    }
}
