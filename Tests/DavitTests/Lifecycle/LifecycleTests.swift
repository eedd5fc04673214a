import Davit
import Testing

/// The state machine of a server's life cycle, without a server.
struct LifecycleTests {
    typealias Step = (input: Lifecycle.Input, actions: [Lifecycle.Action])

    struct Story: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var suspendsInBackground = true
        let steps: [Step]
        let end: Lifecycle.Phase
    }

    private static let started: [Step] = [(.start, [.start]), (.started, [.notifyStarted])]
    private static let suspended: [Step] =
        started + [(.enteredBackground, [.pause]), (.paused, [.notifySuspended])]

    static let stories: [Story] = [
        Story(
            testDescription: "W017: a second start is always an error",
            steps: [
                (.start, [.start]), (.start, [.refuseStart]), (.started, [.notifyStarted]),
                (.start, [.refuseStart]),
            ],
            end: .listening),
        Story(
            testDescription: "W017: a failed start can be repeated",
            steps: [(.start, [.start]), (.startFailed, [])] + started, end: .listening),
        Story(
            testDescription: "W019: stop and restart",
            steps: started + [
                (.stop, [.stop]), (.stop, []), (.start, [.refuseStart]), (.stopped, [.notifyStopped]),
            ]
                + started, end: .listening),
        Story(
            testDescription: "stop without a start does nothing",
            steps: [(.stop, []), (.stopped, []), (.suspend, []), (.resume, [])], end: .stopped),
        Story(
            testDescription: "stop while starting",
            steps: [
                (.start, [.start]), (.stop, []), (.started, [.notifyStarted, .stop]),
                (.stopped, [.notifyStopped]),
            ],
            end: .stopped),
        Story(
            testDescription: "W020: a signal stops the server, also while it starts",
            steps: started + [
                (.stopped, [.notifyStopped]), (.start, [.start]), (.stopped, []),
                (.started, [.notifyStarted, .notifyStopped]),
            ], end: .stopped),
        Story(
            testDescription:
                "W016: suspends in the background without connections, and resumes",
            steps: suspended + [(.becameActive, [.resume]), (.resumed, [.notifyResumed])], end: .listening),
        Story(
            testDescription: "W016: an open connection delays suspension and holds background time",
            steps: started + [
                (.connected, []), (.enteredBackground, [.updateBackgroundTask(true)]),
                (.disconnected, [.pause, .updateBackgroundTask(false)]), (.paused, [.notifySuspended]),
            ], end: .paused),
        Story(
            testDescription: "W016: background time expires before the connection closes",
            steps: started + [
                (.connected, []), (.enteredBackground, [.updateBackgroundTask(true)]),
                (.backgroundTimeEnded, [.dismissConnections, .pause, .updateBackgroundTask(false)]),
                (.backgroundTimeEnded, []), (.disconnected, []), (.paused, [.notifySuspended]),
                (.becameActive, [.resume]), (.resumed, [.notifyResumed]),
            ], end: .listening),
        Story(
            testDescription: "W016: active again before anything happened",
            steps: started + [
                (.connected, []), (.enteredBackground, [.updateBackgroundTask(true)]),
                (.becameActive, [.updateBackgroundTask(false)]), (.disconnected, []),
            ], end: .listening),
        Story(
            testDescription: "W016: active again while pausing",
            steps: started + [
                (.enteredBackground, [.pause]), (.becameActive, []), (.paused, [.notifySuspended, .resume]),
                (.resumed, [.notifyResumed]),
            ], end: .listening),
        Story(
            testDescription: "W016: a connection that arrived while pausing resumes the server",
            steps: started + [
                (.enteredBackground, [.pause]), (.connected, [.updateBackgroundTask(true)]),
                (.paused, [.notifySuspended, .resume]), (.resumed, [.notifyResumed]),
            ], end: .listening),
        Story(
            testDescription: "W016: started in the background",
            steps: [(.enteredBackground, []), (.start, [.start]), (.started, [.notifyStarted, .pause])],
            end: .pausing),
        Story(
            testDescription: "W016: suspension disabled",
            suspendsInBackground: false,
            steps: started + [(.enteredBackground, []), (.backgroundTimeEnded, []), (.becameActive, [])],
            end: .listening),
        Story(
            testDescription: "becoming active does not resume an explicitly suspended server",
            steps: started + [
                (.suspend, [.pause]), (.paused, [.notifySuspended]), (.enteredBackground, []),
                (.becameActive, []),
                (.resume, [.resume]), (.resumed, [.notifyResumed]),
            ], end: .listening),
        Story(
            testDescription: "resume waits for the foreground",
            steps: suspended + [(.resume, []), (.becameActive, [.resume])], end: .resuming),
        Story(
            testDescription: "a port in use is reported, and retried only on the next event",
            steps: suspended + [
                (.becameActive, [.resume]), (.resumeFailed, [.notifyResumeFailed]), (.disconnected, []),
                (.becameActive, [.resume]), (.resumeFailed, [.notifyResumeFailed]), (.resume, [.resume]),
                (.resumed, [.notifyResumed]),
            ], end: .listening),
        Story(
            testDescription: "W019: stop while suspended or suspending",
            steps: suspended + [(.stop, [.stop]), (.stopped, [.notifyStopped])] + [
                (.becameActive, []), (.start, [.start]), (.started, [.notifyStarted]), (.suspend, [.pause]),
                (.stop, [.stop]), (.paused, []), (.stopped, [.notifyStopped]),
            ], end: .stopped),
        Story(
            testDescription: "a stop resets earlier requests",
            steps: started + [(.suspend, [.pause]), (.stopped, [.notifyStopped]), (.paused, [])] + started,
            end: .listening),
    ]

    @Test(arguments: stories)
    func everyInputCausesTheExpectedActions(story: Story) {
        var lifecycle = Lifecycle(suspendsInBackground: story.suspendsInBackground)
        for (index, step) in story.steps.enumerated() {
            #expect(lifecycle.handle(step.input) == step.actions, "step \(index): \(step.input)")
        }
        #expect(lifecycle.phase == story.end)
    }

    /// `isRunning` is true while the server is suspended (W021 in docs/coming-from-gcdwebserver.md).
    @Test func suspendedServerCountsAsRunning() {
        var lifecycle = Lifecycle(suspendsInBackground: true)
        #expect(!lifecycle.isRunning)
        for step in Self.suspended { _ = lifecycle.handle(step.input) }
        #expect(lifecycle.phase == .paused)
        #expect(lifecycle.isRunning)
    }

    // MARK: All states

    /// Returns all reachable states, each with the inputs that lead to it.
    private static func reachable(_ suspendsInBackground: Bool) -> [Lifecycle: [Lifecycle.Input]] {
        let first = Lifecycle(suspendsInBackground: suspendsInBackground)
        var ways: [Lifecycle: [Lifecycle.Input]] = [first: []]
        var queue = [first]
        while let state = queue.popLast() {
            for input in Lifecycle.Input.allCases {
                var next = state
                _ = next.handle(input)
                guard ways[next] == nil else { continue }
                ways[next] = (ways[state] ?? []) + [input]
                queue.append(next)
            }
        }
        return ways
    }

    /// Returns the result that the caller would report for the action in progress.
    private static func completion(of phase: Lifecycle.Phase) -> Lifecycle.Input? {
        switch phase {
        case .starting: .started
        case .pausing: .paused
        case .resuming: .resumed
        case .stopping: .stopped
        case .stopped, .listening, .paused: nil
        }
    }

    /// In every state and for every input, all actions are valid, and results do not cause endless loops.
    @Test(arguments: [true, false])
    func everyStateBecomesStable(suspendsInBackground: Bool) {
        let ways = Self.reachable(suspendsInBackground)
        #expect(Set(ways.keys.map(\.phase)) == Set(Lifecycle.Phase.allCases))
        for (state, way) in ways {
            for input in Lifecycle.Input.allCases {
                var next = state
                var rounds = 0
                var actions = next.handle(input)
                Self.check(actions, from: state.phase, to: next.phase, way + [input])
                while let completion = Self.completion(of: next.phase), rounds < 10 {
                    let before = next.phase
                    actions = next.handle(completion)
                    Self.check(actions, from: before, to: next.phase, way + [input, completion])
                    rounds += 1
                }
                #expect(rounds < 10, "\(way + [input]) causes an endless loop")
            }
        }
    }

    private static func check(
        _ actions: [Lifecycle.Action], from before: Lifecycle.Phase, to after: Lifecycle.Phase,
        _ way: [Lifecycle.Input]
    ) {
        // Each transitional phase is entered with its action, and each action enters its phase.
        let entries: [(Lifecycle.Action, Lifecycle.Phase)] = [
            (.start, .starting), (.pause, .pausing), (.resume, .resuming), (.stop, .stopping),
        ]
        for (action, phase) in entries {
            let count = actions.filter { $0 == action }.count
            let isEntered = after == phase && before != phase
            #expect(count == (isEntered ? 1 : 0), "\(way): \(action)")
        }
        #expect(actions.contains(.refuseStart) == (way.last == .start && before != .stopped), "\(way)")
        #expect(Set(actions).count == actions.count, "\(way)")
    }

    /// From every state, the inputs `becameActive`, `resume`, `stop` and `start`, in this order, lead to a
    /// server that listens.
    @Test(arguments: [true, false])
    func everyStateCanListenAgain(suspendsInBackground: Bool) {
        for (state, way) in Self.reachable(suspendsInBackground) {
            var next = state
            func settle() {
                for _ in 0..<10 {
                    guard let completion = Self.completion(of: next.phase) else { return }
                    _ = next.handle(completion)
                }
            }
            for input in [.becameActive, .resume] as [Lifecycle.Input] { _ = next.handle(input) }
            settle()
            #expect(next.phase == .listening || next.phase == .stopped, "\(way)")
            _ = next.handle(.stop)
            settle()
            #expect(next.phase == .stopped, "\(way)")
            _ = next.handle(.start)
            settle()
            #expect(next.phase == .listening, "\(way)")
        }
    }

    /// For any order of inputs, requests and releases of background time alternate, and a stopped server holds
    /// no background time.
    @Test(arguments: [true, false])
    func everyInputOrderReportsPairedEvents(suspendsInBackground: Bool) {
        var held: [Lifecycle: Bool] = [Lifecycle(suspendsInBackground: suspendsInBackground): false]
        var queue = Array(held.keys)
        while let state = queue.popLast() {
            for input in Lifecycle.Input.allCases {
                var next = state
                var holds = held[state] ?? false
                for case .updateBackgroundTask(let wanted) in next.handle(input) {
                    #expect(wanted != holds)
                    holds = wanted
                }
                if next.phase == .stopped { #expect(!holds) }
                if let known = held[next] {
                    #expect(known == holds)
                } else {
                    held[next] = holds
                    queue.append(next)
                }
            }
        }
    }
}
