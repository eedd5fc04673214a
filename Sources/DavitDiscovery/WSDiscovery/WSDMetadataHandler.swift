package import DavitHTTP
package import DavitServer

/// Answers questions for the metadata of a device: WS-Transfer Get, in a POST of a SOAP envelope.
package struct WSDMetadataHandler: Handler {
    private let router: Router

    /// - Parameter presentation: returns the URL that Windows opens in the browser, for the address on which the question has arrived.
    package init(
        _ device: WSDDevice, presentation: @escaping @Sendable (_ host: NetworkAddress) -> String
    ) {
        let writer = WSDWriter(device)
        router = Router { routes in
            routes.post(device.path, body: .bytes(limitBytes: WSDRequest.limitBytes)) { request, bytes in
                guard request.contentType?.essence == "application/soap+xml" else {
                    throw HTTPError(.unsupportedMediaType, "Expected a SOAP envelope.")
                }
                guard let question = try? WSDRequest(parsing: bytes), question.question == .get else {
                    throw HTTPError(.badRequest, "Expected a SOAP envelope with the action Get.")
                }
                guard let host = request.localAddress else { throw HTTPError(.internalServerError) }
                var writer = writer
                let answer = writer.write(
                    .metadata(presentation: presentation(host), request: question.messageID))
                var fields = HTTPFields()
                fields.append(.contentType, "application/soap+xml")
                return HTTPResponse(status: .ok, fields: fields, body: .bytes(answer))
            }
        }
    }

    package func respond(to request: HTTPRequest) throws(HTTPError) -> Reply {
        try router.respond(to: request)
    }
}
