/// The life cycle of a server as a state machine, without sockets, clocks or locks.
///
/// The caller passes inputs and carries out the returned actions in order. Only one start, pause or resume is
/// in progress at a time: the next one begins after the result of the last one has been passed in.
package struct Lifecycle: Hashable, Sendable {
    package enum Phase: Hashable, Sendable, CaseIterable {
        case stopped, starting, listening, pausing, paused, resuming, stopping
    }

    package enum Input: Hashable, Sendable, CaseIterable {
        // Requests from the application.
        case start, stop, suspend, resume
        // Notifications from the system about the application.
        case enteredBackground, becameActive, backgroundTimeEnded
        // Whether clients are connected.
        case connected, disconnected
        // Results of actions; `stopped` can also follow a signal.
        case started, startFailed, paused, resumed, resumeFailed, stopped
    }

    package enum Action: Hashable, Sendable {
        /// Bind the sockets and serve; followed by `started` or `startFailed`.
        case start
        /// Report to the caller that the server is already running.
        case refuseStart
        /// Stop listening, end requests and threads; followed by `stopped`.
        case stop
        /// Close only the listening sockets; followed by `paused`.
        case pause
        /// Listen again on the same ports; followed by `resumed` or `resumeFailed`.
        case resume
        /// Close each connection when its request has been answered.
        case dismissConnections
        /// Request background time from the system, or release it.
        case updateBackgroundTask(Bool)
        case notifyStarted, notifyStopped, notifySuspended, notifyResumed, notifyResumeFailed
    }

    package private(set) var phase = Phase.stopped
    /// Whether the server stops listening while the application is in the background and no client is
    /// connected.
    private let suspendsInBackground: Bool
    private var isStopWanted = false
    /// Whether the application has suspended the server.
    private var isSuspended = false
    private var isInBackground = false
    private var isBackgroundTimeOver = false
    private var isConnected = false
    /// Whether the last attempt to resume failed. If so, the next attempt waits for `suspend`, `resume` or
    /// `becameActive`.
    private var hasFailedToResume = false
    /// Whether the server stopped while it was starting.
    private var hasEnded = false
    private var holdsBackgroundTime = false

    package init(suspendsInBackground: Bool) { self.suspendsInBackground = suspendsInBackground }

    /// Whether the server has started and not stopped, including while it is suspended.
    package var isRunning: Bool {
        switch phase {
        case .stopped, .starting: false
        case .listening, .pausing, .paused, .resuming, .stopping: true
        }
    }

    /// Whether no start, pause or resume is in progress. A stop does not count, because it waits for clients.
    package var isSettled: Bool {
        switch phase {
        case .stopped, .listening, .paused, .stopping: true
        case .starting, .pausing, .resuming: false
        }
    }

    private var wantsToListen: Bool {
        if isSuspended { return false }
        guard suspendsInBackground, isInBackground else { return true }
        return isConnected && !isBackgroundTimeOver
    }

    private var wantsBackgroundTime: Bool {
        suspendsInBackground && isInBackground && isConnected && !isBackgroundTimeOver && phase != .stopped
    }

    package mutating func handle(_ input: Input) -> [Action] {
        var actions = take(input)
        reconcile(&actions)
        return actions
    }

    private mutating func take(_ input: Input) -> [Action] {
        switch input {
        case .start:
            guard phase == .stopped else { return [.refuseStart] }
            phase = .starting
            return [.start]
        case .stop:
            if phase != .stopped && phase != .stopping { isStopWanted = true }
        case .suspend:
            if isRunning || phase == .starting { isSuspended = true }
            hasFailedToResume = false
        case .resume:
            isSuspended = false
            hasFailedToResume = false
        case .enteredBackground:
            isInBackground = true
            isBackgroundTimeOver = false
        case .becameActive:
            isInBackground = false
            hasFailedToResume = false
        case .backgroundTimeEnded: return endBackgroundTime()
        case .connected: isConnected = true
        case .disconnected: isConnected = false
        case .started, .startFailed, .paused, .resumed, .resumeFailed: return end(input)
        case .stopped:
            if phase == .starting { hasEnded = true } else if phase != .stopped { return becomeStopped() }
        }
        return []
    }

    /// Handles the result of an action; ignored if the server has stopped in the meantime.
    private mutating func end(_ input: Input) -> [Action] {
        switch (phase, input) {
        case (.starting, .started):
            phase = .listening
            return hasEnded ? [.notifyStarted] + becomeStopped() : [.notifyStarted]
        case (.starting, .startFailed):
            _ = becomeStopped()
            return []
        case (.pausing, .paused):
            phase = .paused
            return [.notifySuspended]
        case (.resuming, .resumed):
            phase = .listening
            return [.notifyResumed]
        case (.resuming, .resumeFailed):
            phase = .paused
            hasFailedToResume = true
            return [.notifyResumeFailed]
        default: return []
        }
    }

    private mutating func endBackgroundTime() -> [Action] {
        guard isInBackground, suspendsInBackground, !isBackgroundTimeOver else { return [] }
        isBackgroundTimeOver = true
        return isRunning && isConnected ? [.dismissConnections] : []
    }

    /// Clears a requested stop or suspension, but keeps the state of the application.
    private mutating func becomeStopped() -> [Action] {
        phase = .stopped
        isStopWanted = false
        isSuspended = false
        isConnected = false
        hasFailedToResume = false
        hasEnded = false
        return [.notifyStopped]
    }

    /// Appends the actions that lead to the requested state.
    private mutating func reconcile(_ actions: inout [Action]) {
        switch phase {
        case .listening, .pausing, .paused, .resuming:
            if isStopWanted {
                isStopWanted = false
                phase = .stopping
                actions.append(.stop)
            } else if phase == .listening, !wantsToListen {
                phase = .pausing
                actions.append(.pause)
            } else if phase == .paused, wantsToListen, !hasFailedToResume {
                phase = .resuming
                actions.append(.resume)
            }
        case .stopped, .starting, .stopping: break
        }
        if wantsBackgroundTime != holdsBackgroundTime {
            holdsBackgroundTime.toggle()
            actions.append(.updateBackgroundTask(holdsBackgroundTime))
        }
    }
}
