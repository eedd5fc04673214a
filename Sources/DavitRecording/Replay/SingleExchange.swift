internal import DavitHTTP

/// One request to a server on a connection of its own, and the response. Blocks.
package struct SingleExchange {
    /// The reason why there is no response, for people.
    package struct Failure: Error, Hashable, Sendable {
        package var reason: String
    }

    package let status: Int
    package let fields: [WireField]
    package let content: [UInt8]

    /// Sends a request, and receives the response.
    ///
    /// - Parameters:
    ///   - target: the path and the query, percent-encoded.
    ///   - fields: fields in addition to `Host`, `Content-Length` and `Connection`.
    ///   - content: nil for none.
    ///   - limitBytes: the maximum length of the content of the response.
    ///   - timeoutSeconds: the maximum time without data from the server.
    package init(
        _ method: String, _ target: String, to server: ServerAddress, fields: [WireField] = [],
        content: [UInt8]? = nil, limitBytes: Int = 64 << 20, timeoutSeconds: Int = 60
    ) throws(Failure) {
        var all = [WireField(name: "Host", value: server.authority)] + fields
        all.append(WireField(name: "Connection", value: "close"))
        if let content { all.append(WireField(name: "Content-Length", value: "\(content.count)")) }
        let request = WireRequest(
            method: method, target: target, fields: all, content: .bytes(content ?? []))
        let client = WireClient(server, timeoutSeconds: timeoutSeconds, contentLimitBytes: limitBytes)
        let response: WireResponse
        do throws(WireError) { response = try client.exchange(request) } catch {
            throw Failure(reason: error.text)
        }
        switch response.content {
        case .bytes(let bytes): self.content = bytes
        case .fill(let byte, let count) where count <= limitBytes:
            self.content = [UInt8](repeating: byte, count: count)
        case .fill, .omitted: throw Failure(reason: "the response is longer than \(limitBytes) bytes")
        }
        status = response.status
        self.fields = response.fields
    }
}
