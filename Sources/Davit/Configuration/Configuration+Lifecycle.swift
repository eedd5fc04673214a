extension Configuration {
    /// Settings for servers in applications with a life cycle; see `docs/lifecycle.md`.
    public struct LifecycleOptions: Sendable {
        /// Whether the server stops listening while the application is in the background and no client is
        /// connected, and listens again, on the same port, when the application becomes active. Requires life
        /// cycle notifications: from `ApplicationObserver` on Apple systems, or through
        /// ``WebServer/applicationEnteredBackground()`` and related methods.
        public var suspendsInBackground = true
        /// The time without connections before ``ServerEvent/lastClientDisconnected``, accurate to a quarter
        /// of a second. 0 or less sends the event immediately.
        public var disconnectDelay: Duration = .seconds(1)

        /// Creates settings that suspend the server in the background, with a disconnect delay of one second.
        public init() {}
    }
}
