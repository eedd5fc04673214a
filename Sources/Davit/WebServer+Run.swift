extension WebServer {
    /// Starts the server and returns when it has stopped, like ``run()``.
    /// - Parameter ready: called once, when the server accepts requests, with its ``url``.
    /// - Throws: any error that ``start()`` throws; `ready` is then not called.
    public func run(ready: (_ url: String) -> Void) async throws(ServerError) {
        try start()
        if let url { ready(url) }
        await waitUntilStopped()
    }
}
