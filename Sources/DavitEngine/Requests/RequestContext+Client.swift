internal import DavitHTTP
internal import DavitServer
internal import DavitStore

extension RequestContext {
    /// The client that is charged for what the server stores, holds or does because of this request.
    var client: ClientKey { request.client }

    /// The network of the client if it is not authenticated; otherwise nil.
    var network: String? { request.network }
}

extension HTTPRequest {
    /// See ``RequestContext/client``.
    var client: ClientKey { ClientKey(principal: principal, network: network) }

    fileprivate var network: String? {
        principal == nil ? PeerNetwork.text(of: peerAddress) : nil
    }
}

extension LimitLog {
    /// Logs that a request was refused because of a limit.
    func refused(_ cause: StaticString, _ context: RequestContext) {
        refused(
            cause, account: context.principal, address: context.request.peerAddress, now: context.now)
    }
}
