extension WebServer {
    /// Listens, and returns when the server has stopped, as ``run()`` does.
    /// - Parameter ready: called once, when requests are answered, with ``url``: what to tell people who want to reach
    ///   the server.
    /// - Throws: what ``start()`` throws; `ready` is not called then.
    public func run(ready: (_ url: String) -> Void) async throws(ServerError) {
        try start()
        if let url { ready(url) }
        await waitUntilStopped()
    }
}
