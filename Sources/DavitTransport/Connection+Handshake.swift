internal import DavitCrypto
internal import DavitHTTP
internal import DavitLogging
internal import DavitSystem

#if TLS
/// The TLS handshake of a connection. It runs without a task, except for steps that run on the pool.
extension Connection {
    /// Advances the handshake as far as the available input allows.
    func performHandshake() {
        if phase == .greeting, !detectTLS() { return }
        while phase == .handshake, !isClosed {
            guard let tls = channel.tls, receiveHandshake(tls) else { return }
            if server.tls?.handshakesSlowly == true { return stepOnPool(tls) }
            guard advanceHandshake(after: tls.handshake()) else { return }
        }
    }

    /// Peeks at the first byte, which distinguishes TLS from HTTP.
    /// - Returns: false if no handshake begins now.
    private func detectTLS() -> Bool {
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
                "cannot start TLS on a connection", ["call": error.call, "reason": error.reason])
            close()
            return false
        }
    }

    /// Receives input for the handshake.
    /// - Returns: false if there is nothing to do before the next event.
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

    /// Sends the output of a handshake step, and completes or aborts the handshake if the step was the last.
    /// - Returns: true if more input is available for the handshake.
    private func advanceHandshake(after state: TLSSession.Handshake) -> Bool {
        switch state {
        case .needsInput:
            sendUnsent()
            return isReadable && !isBroken
        case .done:
            if channel.tls?.hasAnsweredChallenge == true {
                // RFC 8737 §3: no data follows.
                sendUnsent()
                close()
                return false
            }
            endHandshake()
            return false
        case .failed(let failure):
            // Send the alert that states the reason.
            sendUnsent()
            server.log.debug("TLS handshake failed", ["peer": endpoints.remote.host, "reason": failure.text])
            close()
            return false
        }
    }

    // MARK: On the pool

    /// Runs a step of the handshake on the pool. Until the step ends, the connection counts as having a task:
    /// events are only recorded, and the TLS session is not used.
    private func stepOnPool(_ tls: TLSLayer) {
        task = Task(executorPreference: loop) { await self.runStep(tls) }
    }

    private nonisolated(nonsending) func runStep(_ tls: TLSLayer) async {
        let state = await server.pool.run { tls.handshake() }
        task = nil
        guard let state, !isBroken, loop.now < handshakeEnd, !loop.isDraining else { return close() }
        loop.schedule(self, at: handshakeEnd)
        if advanceHandshake(after: state) { performHandshake() }
    }
}
#endif
