#if canImport(UIKit) && !os(watchOS)
public import UIKit

/// Tells a server what the system tells the application, so that it suspends in the background and comes back.
///
/// ```swift
/// let observer = ApplicationObserver(server)   // kept as long as the server is used
/// ```
/// While somebody is connected, the system is asked for time in the background; when that ends, so do connections.
@MainActor public final class ApplicationObserver {
    private let server: WebServer
    private var observations: [NotificationObservation] = []
    private var task = UIBackgroundTaskIdentifier.invalid

    public init(_ server: WebServer) {
        self.server = server
        observations = [
            NotificationObservation(UIApplication.didEnterBackgroundNotification, in: .default) {
                server.applicationEnteredBackground()
            },
            NotificationObservation(UIApplication.willEnterForegroundNotification, in: .default) {
                server.applicationBecameActive()
            },
        ]
        server.onBackgroundTime { [weak self] in
            Task { @MainActor in self?.holdBackgroundTime() }
        }
        if UIApplication.shared.applicationState == .background { server.applicationEnteredBackground() }
    }

    deinit {
        let task = task
        guard task != .invalid else { return }
        Task { @MainActor in UIApplication.shared.endBackgroundTask(task) }
    }

    /// Begins or ends, as the server needs it now: calls may come late, and nothing is lost by that.
    private func holdBackgroundTime() {
        guard server.needsBackgroundTime else { return endTask() }
        guard task == .invalid else { return }
        task = UIApplication.shared.beginBackgroundTask(withName: "WebServer") { [weak self] in
            MainActor.assumeIsolated {
                self?.server.backgroundTimeEnded()
                self?.endTask()
            }
        }
        // The system has none to give.
        if task == .invalid { server.backgroundTimeEnded() }
    }

    private func endTask() {
        guard task != .invalid else { return }
        UIApplication.shared.endBackgroundTask(task)
        task = .invalid
    }
}
#elseif canImport(AppKit)
public import AppKit

/// Tells a server what the system tells the application, so that it is suspended while the machine sleeps.
///
/// ```swift
/// let observer = ApplicationObserver(server)   // kept as long as the server is used
/// ```
/// An application on a Mac is not stopped in the background, and serves there; connections of a sleeping machine are dead.
@MainActor public final class ApplicationObserver {
    private let observations: [NotificationObservation]

    public init(_ server: WebServer) {
        let center = NSWorkspace.shared.notificationCenter
        observations = [
            NotificationObservation(NSWorkspace.willSleepNotification, in: center) {
                server.applicationEnteredBackground()
                server.backgroundTimeEnded()
            },
            NotificationObservation(NSWorkspace.didWakeNotification, in: center) {
                server.applicationBecameActive()
            },
        ]
    }
}
#endif

#if canImport(UIKit) && !os(watchOS) || canImport(AppKit)
/// Observes a notification on the main queue as long as it lives.
private final class NotificationObservation {
    private let center: NotificationCenter
    private let token: any NSObjectProtocol

    init(_ name: Notification.Name, in center: NotificationCenter, _ tell: @escaping @Sendable () -> Void) {
        self.center = center
        token = center.addObserver(forName: name, object: nil, queue: .main) { _ in tell() }
    }

    deinit { center.removeObserver(token) }
}
#endif
