public import DavitTransport

/// The life cycle of a server in an application; see `docs/lifecycle.md`.
extension WebServer {
    /// A sequence of the server's future events. Each access creates an observer that receives all events;
    /// see ``ServerEvents`` about events that are not read in time.
    public var events: ServerEvents { lifecycleController.observe() }

    /// Whether the server has started and not stopped, including while it is suspended.
    public var isRunning: Bool { lifecycleController.isRunning }

    /// Whether the server is running and accepts connections.
    public var isListening: Bool { lifecycleController.isListening }

    /// Stops listening until ``resume()``, and returns when this is done. Open connections continue, and
    /// handlers keep their state. Does nothing while the server is not running.
    public func suspend() async { await lifecycleController.suspend() }

    /// Listens again after ``suspend()``, on the same addresses and ports. If the application is in the
    /// background and the server suspends there, it listens when the application becomes active.
    /// - Returns: the bound addresses, as in ``addresses``.
    /// - Throws: ``ServerError/cannotListen(_:)``, with the reason `inUse` if another program uses the port
    ///   (you can call the method again), or `notRunning` if the server is not running.
    @discardableResult
    public func resume() async throws(ServerError) -> [BoundAddress] {
        do throws(TransportError) { return try await lifecycleController.resume() } catch {
            throw .cannotListen(error)
        }
    }
}

/// Notifications about the application's life cycle. `ApplicationObserver` sends them on Apple systems;
/// elsewhere and in tests, call the methods directly. They can be called on any thread.
extension WebServer {
    /// Call when the application has entered the background. With
    /// ``Configuration/LifecycleOptions/suspendsInBackground``, the server then listens only while clients
    /// are connected.
    public func applicationEnteredBackground() { lifecycleController.send(.enteredBackground) }

    /// Call when the application enters the foreground: the server listens again, on the same ports, unless
    /// ``suspend()`` was called.
    public func applicationBecameActive() { lifecycleController.send(.becameActive) }

    /// Call when the system is about to stop the application in the background. A server that suspends there
    /// then stops listening, and its connections close when their requests have been answered.
    public func backgroundTimeEnded() { lifecycleController.send(.backgroundTimeEnded) }

    /// Whether to request background time: the application is in the background, and clients are connected.
    public var needsBackgroundTime: Bool { lifecycleController.needsBackgroundTime }

    /// Sets the hook that is called on any thread when ``needsBackgroundTime`` has changed. It must not
    /// block. Replaces the previous hook.
    public func onBackgroundTime(_ hook: @escaping @Sendable () -> Void) {
        lifecycleController.onBackgroundTime(hook)
    }
}
