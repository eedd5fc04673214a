internal import DavitHTTP
internal import DavitWebDAV

extension WebDAVError {
    /// Returns the response of `work`, or the response for its error. Each pending reply calls this in its own
    /// closure, which saves a second closure around it.
    /// - Throws: the error of the connection, if the connection failed.
    static nonisolated(nonsending) func converted(
        _ work: nonisolated(nonsending) () async throws(WebDAVError) -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        do throws(WebDAVError) { return try await work() } catch { return try error.responseOrRethrow() }
    }

    /// Returns the response for this error.
    /// - Throws: the error of the connection, if the connection failed.
    func responseOrRethrow() throws(HTTPError) -> HTTPResponse {
        if let connectionError { throw connectionError }
        return response()
    }

    /// Returns the response; its body is ``content``, the condition as XML, or a line of text. The response has
    /// no body if the status forbids one.
    func response() -> HTTPResponse {
        var response = HTTPResponse(status: status, fields: fields)
        if status.forbidsContent { return response }
        if let content {
            response.fields.append(.contentType, content.type)
            response.body = .bytes(content.bytes)
        } else if let condition {
            response.fields.append(.contentType, "application/xml; charset=utf-8")
            response.body = .bytes(ErrorBody.encode(condition))
            response.isSameForEveryAccount = !condition.isMissingRight
        } else {
            response.fields.append(.contentType, "text/plain; charset=utf-8")
            var text: [UInt8] = []
            text.appendDecimal(Int64(status.code))
            text.append(UInt8(ascii: " "))
            text.append(contentsOf: status.reasonPhrase.description.utf8)
            text.append(UInt8(ascii: "\n"))
            response.body = .bytes(text)
        }
        return response
    }
}

extension ErrorBody.Condition {
    /// Whether another account may not be refused.
    fileprivate var isMissingRight: Bool {
        if case .needPrivileges = self { true } else { false }
    }
}
