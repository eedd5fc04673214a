/// A short name of a browser and its system, for a list in which users recognize their own devices. It has no
/// other effect.
package struct DeviceName {
    package let browser: String?
    package let system: String?

    /// Each word that identifies a browser; browsers also name those that they imitate, which come later here.
    private static let browsers = [
        ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"), ("Chromium/", "Chromium"), ("Chrome/", "Chrome"), ("CriOS/", "Chrome"),
        ("Safari/", "Safari"),
    ]
    private static let systems = [
        ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("CrOS", "ChromeOS"),
        ("Windows", "Windows"), ("Mac OS X", "macOS"), ("Linux", "Linux"), ("BSD", "BSD"),
    ]

    /// - Parameter agent: the value of User-Agent.
    package init(_ agent: String) {
        func first(_ names: [(word: String, name: String)]) -> String? {
            names.first { agent.contains($0.word) }?.name
        }
        browser = first(Self.browsers)
        system = first(Self.systems)
    }
}
