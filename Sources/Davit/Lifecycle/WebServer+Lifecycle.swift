public import DavitTransport

/// The life of a server in an application; see `docs/lifecycle.md`.
extension WebServer {
    /// What happens to the server from now on. Each time this is read there is one more observer, which gets every
    /// event; see ``ServerEvents`` for what becomes of those that are not read in time.
    public var events: ServerEvents { life.observe() }

    /// From the start to the end, also while it is suspended.
    public var isRunning: Bool { life.isRunning }

    /// It runs, and new connections are accepted.
    public var isListening: Bool { life.isListening }

    /// Stops listening until ``resume()``; returns when nothing listens any more. Open connections go on, and everything
    /// behind the handlers stays as it is. Does nothing while the server does not run.
    public func suspend() async { await life.suspend() }

    /// Listens again after ``suspend()``, on the same addresses and ports. A server that is in the background, and shall
    /// not listen there, does so when the application is active again.
    /// - Returns: as ``addresses``.
    /// - Throws: ``ServerError/cannotListen(_:)``: with `inUse` if another program took the port, and it can be tried
    ///   again; with `notRunning` if the server does not run.
    @discardableResult
    public func resume() async throws(ServerError) -> [BoundAddress] {
        do throws(TransportError) { return try await life.resume() } catch { throw .cannotListen(error) }
    }
}

/// What an application is told by its system. `ApplicationObserver` forwards it on Apple systems; elsewhere, and in
/// tests, it is called directly. From any thread.
extension WebServer {
    /// The application is in the background. With ``Configuration/LifecycleOptions/suspendsInBackground`` the server
    /// listens no longer than somebody is connected.
    public func applicationEnteredBackground() { life.send(.enteredBackground) }

    /// The application is, or will soon be, in the foreground: the server listens again, on the same ports.
    public func applicationBecameActive() { life.send(.becameActive) }

    /// The system stops the application soon: connections end when their requests are answered, and nothing listens.
    public func backgroundTimeEnded() { life.send(.backgroundTimeEnded) }

    /// True while the application should be kept from being stopped: it is in the background, and somebody is connected.
    public var needsBackgroundTime: Bool { life.needsBackgroundTime }

    /// Has `hook` called, on any thread, when ``needsBackgroundTime`` has changed; it must not block. Replaces the last one.
    public func onBackgroundTime(_ hook: @escaping @Sendable () -> Void) { life.onBackgroundTime(hook) }
}
