public import DavitTransport

extension TransportConfiguration.Deadlines {
    /// Deadlines of one hour, because other tests may occupy the threads that a test waits for.
    ///
    /// Tests of a deadline set it themselves.
    public static var ofTests: Self {
        var deadlines = Self()
        deadlines.head = .seconds(3600)
        deadlines.handshake = .seconds(3600)
        deadlines.keepAlive = .seconds(3600)
        deadlines.window = .seconds(3600)
        return deadlines
    }
}
