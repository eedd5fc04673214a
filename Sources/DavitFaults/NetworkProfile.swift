/// The speed of a typical network. Rates are in bytes per second in each direction.
public struct NetworkProfile: Hashable, Sendable {
    public var downBytesPerSecond: Int
    public var upBytesPerSecond: Int
    /// Added before each response.
    public var latency: FaultDelay
    /// The share of responses whose connection is reset, from 0 to 1.
    public var resetProbability: Double

    public init(
        downBytesPerSecond: Int, upBytesPerSecond: Int, latency: FaultDelay, resetProbability: Double = 0
    ) {
        self.downBytesPerSecond = downBytesPerSecond
        self.upBytesPerSecond = upBytesPerSecond
        self.latency = latency
        self.resetProbability = resetProbability
    }

    /// 280 kbit/s down, 256 kbit/s up, 800 ms.
    public static let mobile2G = NetworkProfile(
        downBytesPerSecond: 35_000, upBytesPerSecond: 32_000, latency: .fixed(800))
    /// 1.6 Mbit/s down, 768 kbit/s up, 300 ms.
    public static let mobile3G = NetworkProfile(
        downBytesPerSecond: 200_000, upBytesPerSecond: 96_000, latency: .fixed(300))
    /// 12 Mbit/s in both directions, 70 ms.
    public static let lte = NetworkProfile(
        downBytesPerSecond: 1_500_000, upBytesPerSecond: 1_500_000, latency: .fixed(70))
    /// 2 Mbit/s in both directions, 50 to 500 ms; one response in a hundred is lost.
    public static let badWiFi = NetworkProfile(
        downBytesPerSecond: 250_000, upBytesPerSecond: 250_000, latency: .uniform(50...500),
        resetProbability: 0.01)

    /// The profiles by their names in rules.
    static let named: [(name: String, profile: NetworkProfile)] = [
        ("2g", .mobile2G), ("3g", .mobile3G), ("lte", .lte), ("bad-wifi", .badWiFi),
    ]
}
