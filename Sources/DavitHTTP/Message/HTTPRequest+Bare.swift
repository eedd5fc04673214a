extension HTTPRequest {
    /// Returns a request from the same client with the same method and target, but with other content and
    /// only the Host field. Used for each member that a form changes, because the preconditions, lengths and
    /// names in the original head apply to the form.
    package func bare(with content: any RequestBody = EmptyRequestBody.shared) -> HTTPRequest {
        let other = HTTPRequest()
        other.method = method
        other.minorVersion = minorVersion
        other.parsedTarget = parsedTarget
        other.parsedMountPath = parsedMountPath
        other.principal = principal
        other.identityDetails = identityDetails
        other.credentialNumber = credentialNumber
        other.isSecure = isSecure
        other.clientCertificate = clientCertificate
        other.endpoints = endpoints
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
