internal import DavitCrypto
internal import DavitHTTP
internal import DavitSystem

#if TLS
/// From the first byte of a connection to TLS until its handshake is over. No task is needed for that.
extension Connection {
    /// Goes on as far as what has arrived allows.
    func shakeHands() {
        if phase == .greeting, !greet() { return }
        while phase == .handshake, !isClosed {
            guard let tls = channel.tls, receiveHandshake(tls) else { return }
            if server.tls?.handshakesSlowly == true { return stepOnPool(tls) }
            guard goOn(after: tls.handshake()) else { return }
        }
    }

    /// Looks at the first byte, which tells TLS from HTTP.
    /// - Returns: false if a handshake does not begin now.
    private func greet() -> Bool {
        var first: UInt8 = 0
        switch channel.peek(&first) {
        case .bytes: break
        case .wouldBlock:
            isReadable = false
            return false
        case .ended, .failed:
            close()
            return false
        }
        guard let port = server.tls else { return false }
        guard TLSRecord.begins(with: first) else {
            serveInsecurely(port.insecure)
            return false
        }
        port.connectionCame(now: loop.now, pool: server.pool)
        do throws(CryptoError) {
            beginHandshake(try port.accept())
            return true
        } catch {
            server.log.error(
                "a TLS connection could not begin", ["call": error.call, "reason": error.reason])
            close()
            return false
        }
    }

    /// - Returns: false if nothing is to be done before the next event.
    private func receiveHandshake(_ tls: TLSLayer) -> Bool {
        let input = tls.receiveHandshake(from: channel.descriptor)
        switch input.outcome {
        case .bytes:
            if input.isDrained && !hasEnded { isReadable = false }
            return true
        case .wouldBlock:
            isReadable = false
            return false
        case .ended, .failed:
            close()
            return false
        }
    }

    /// - Returns: true if more can be read for the handshake.
    private func goOn(after state: TLSSession.Handshake) -> Bool {
        switch state {
        case .needsInput:
            sendUnsent()
            return isReadable && !isBroken
        case .done:
            endHandshake()
            return false
        case .failed(let failure):
            // With the alert that says why.
            sendUnsent()
            server.log.debug("a TLS handshake failed", ["peer": ends.remote.host, "reason": failure.text])
            close()
            return false
        }
    }

    // MARK: On the pool

    /// Meanwhile the connection counts as having a task: events are noted, and nothing touches the session.
    private func stepOnPool(_ tls: TLSLayer) {
        task = Task(executorPreference: loop) { await self.runStep(tls) }
    }

    private nonisolated(nonsending) func runStep(_ tls: TLSLayer) async {
        let state = await server.pool.run { tls.handshake() }
        task = nil
        guard let state, !isBroken, loop.now < handshakeEnd, !loop.isDraining else { return close() }
        loop.schedule(self, at: handshakeEnd)
        if goOn(after: state) { shakeHands() }
    }
}
#endif
