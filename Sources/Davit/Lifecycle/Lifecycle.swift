/// What a server does and what it should do: a state machine without a socket, a clock or a lock.
///
/// Inputs come in as calls; the caller carries out the actions that come back, in their order. Of start, pause and
/// resume only one is under way at a time: the next begins when the end of the last one has come in.
package struct Lifecycle: Hashable, Sendable {
    package enum Phase: Hashable, Sendable, CaseIterable {
        case stopped, starting, listening, pausing, paused, resuming, stopping
    }

    package enum Input: Hashable, Sendable, CaseIterable {
        // What the application asks for.
        case start, stop, suspend, resume
        // What the system says about the application.
        case enteredBackground, becameActive, backgroundTimeEnded
        // Whether anybody is connected.
        case connected, disconnected
        // What became of actions; `stopped` also comes after a signal.
        case started, startFailed, paused, resumed, resumeFailed, stopped
    }

    package enum Action: Hashable, Sendable {
        /// Binds and serves; then `started` or `startFailed`.
        case start
        /// The server runs already: the caller made a mistake.
        case refuseStart
        /// Ends listening, requests and threads; then `stopped`.
        case stop
        /// Closes the listening sockets and nothing else; then `paused`.
        case pause
        /// Listens again on the same ports; then `resumed` or `resumeFailed`.
        case resume
        /// Ends connections as their requests are answered.
        case dismissConnections
        /// The system is asked to let the application go on in the background; with false, no longer.
        case holdBackgroundTime(Bool)
        case tellStarted, tellStopped, tellSuspended, tellResumed, tellResumeFailed
    }

    package private(set) var phase = Phase.stopped
    /// Off where an application serves in the background too, or where no such thing exists.
    private let suspendsInBackground: Bool
    private var isStopWanted = false
    /// The application asked for it.
    private var isSuspended = false
    private var isInBackground = false
    private var isBackgroundTimeOver = false
    private var isConnected = false
    /// The last attempt; the next one waits for a reason to be made.
    private var hasFailedToResume = false
    /// It ended while it was starting.
    private var hasEnded = false
    private var holdsBackgroundTime = false

    package init(suspendsInBackground: Bool) { self.suspendsInBackground = suspendsInBackground }

    /// From the start to the end, suspended or not.
    package var isRunning: Bool {
        switch phase {
        case .stopped, .starting: false
        case .listening, .pausing, .paused, .resuming, .stopping: true
        }
    }

    /// Nothing is under way that ends by itself and without a peer.
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
        settle(&actions)
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

    /// Takes the outcome of an action; nothing where the server has ended meanwhile.
    private mutating func end(_ input: Input) -> [Action] {
        switch (phase, input) {
        case (.starting, .started):
            phase = .listening
            return hasEnded ? [.tellStarted] + becomeStopped() : [.tellStarted]
        case (.starting, .startFailed):
            _ = becomeStopped()
            return []
        case (.pausing, .paused):
            phase = .paused
            return [.tellSuspended]
        case (.resuming, .resumed):
            phase = .listening
            return [.tellResumed]
        case (.resuming, .resumeFailed):
            phase = .paused
            hasFailedToResume = true
            return [.tellResumeFailed]
        default: return []
        }
    }

    private mutating func endBackgroundTime() -> [Action] {
        guard isInBackground, suspendsInBackground, !isBackgroundTimeOver else { return [] }
        isBackgroundTimeOver = true
        return isRunning && isConnected ? [.dismissConnections] : []
    }

    /// What the application is in survives; what was asked of the server does not.
    private mutating func becomeStopped() -> [Action] {
        phase = .stopped
        isStopWanted = false
        isSuspended = false
        isConnected = false
        hasFailedToResume = false
        hasEnded = false
        return [.tellStopped]
    }

    /// Moves towards what is wanted.
    private mutating func settle(_ actions: inout [Action]) {
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
            actions.append(.holdBackgroundTime(holdsBackgroundTime))
        }
    }
}
