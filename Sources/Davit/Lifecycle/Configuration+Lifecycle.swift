extension Configuration {
    /// How a server lives in an application; see `docs/lifecycle.md`.
    public struct LifecycleOptions: Sendable {
        /// Stops listening while the application is in the background and nobody is connected, and listens again,
        /// on the same port, when it is active. Needs somebody who tells: `ApplicationObserver` on Apple systems, or
        /// ``WebServer/applicationEnteredBackground()`` and its neighbours.
        public var suspendsInBackground = true
        /// How long nobody must be connected before ``ServerEvent/lastClientDisconnected`` is told, at most a quarter
        /// of a second more. 0 or less tells it at once.
        public var disconnectDelay: Duration = .seconds(1)

        public init() {}
    }
}
