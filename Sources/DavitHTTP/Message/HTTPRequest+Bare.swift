extension HTTPRequest {
    /// The same request from the same client, with other content, and with nothing said about it in fields but to which
    /// host it was sent: what a form asks for of one member. Conditions, lengths and names that stand in the head are
    /// about the form.
    package func bare(with content: any RequestBody = EmptyRequestBody.shared) -> HTTPRequest {
        let other = HTTPRequest()
        other.method = method
        other.minorVersion = minorVersion
        other.parsedTarget = parsedTarget
        other.parsedMountPath = parsedMountPath
        other.principal = principal
        other.admittedBy = admittedBy
        other.credentialNumber = credentialNumber
        other.isSecure = isSecure
        other.clientCertificate = clientCertificate
        other.ends = ends
        other.peerAddress = connectionPeerAddress
        other.forwardedOrigin = forwardedOrigin
        other.requestNumber = requestNumber
        other.hostKind = hostKind
        unsafe head.withUnsafeBytes { unsafe other.keepHead($0) }
        for line in lines where line.name == .host { other.append(line) }
        other.body = content
        return other
    }
}
