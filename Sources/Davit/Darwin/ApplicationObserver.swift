#if canImport(UIKit) && !os(watchOS)
public import UIKit

/// Forwards notifications of the application's life cycle to a server, so that it suspends in the background
/// and resumes in the foreground.
///
/// ```swift
/// let observer = ApplicationObserver(server)   // keep it as long as the server is used
/// ```
/// While clients are connected, the observer requests background time from the system; when that expires,
/// connections are closed.
@MainActor public final class ApplicationObserver {
    private let server: WebServer
    private var observations: [NotificationObservation] = []
    private var task = UIBackgroundTaskIdentifier.invalid

    /// Starts to forward notifications to `server`, until this object is deallocated.
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
            Task { @MainActor in self?.updateBackgroundTask() }
        }
        if UIApplication.shared.applicationState == .background { server.applicationEnteredBackground() }
    }

    deinit {
        let task = task
        guard task != .invalid else { return }
        Task { @MainActor in UIApplication.shared.endBackgroundTask(task) }
    }

    /// Begins or ends the background task according to the current state of the server, so that late calls
    /// are harmless.
    private func updateBackgroundTask() {
        guard server.needsBackgroundTime else { return endTask() }
        guard task == .invalid else { return }
        task = UIApplication.shared.beginBackgroundTask(withName: "WebServer") { [weak self] in
            MainActor.assumeIsolated {
                self?.server.backgroundTimeEnded()
                self?.endTask()
            }
        }
        // The system granted no background time.
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

/// Forwards sleep and wake notifications to a server, so that it suspends while the machine sleeps.
///
/// ```swift
/// let observer = ApplicationObserver(server)   // keep it as long as the server is used
/// ```
/// Applications on a Mac are not stopped in the background and continue to serve. Connections do not survive
/// sleep.
@MainActor public final class ApplicationObserver {
    private let observations: [NotificationObservation]

    /// Starts to forward notifications to `server`, until this object is deallocated.
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
/// Observes a notification on the main queue for the lifetime of this object.
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
