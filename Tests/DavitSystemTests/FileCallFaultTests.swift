import DavitSystem
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The fault injection that the crash tests rely on.
struct FileCallFaultTests {
    @Test func onlyTheChosenStepFails() throws {
        let root = try RootDirectory(opening: "/tmp")
        let plan = FaultPlan(failAt: (2, 28))
        try FileFaults.$plan.withValue(plan) {
            _ = try root.descriptor.status()
            #expect(throws: SystemError(errno: 28, call: "statx")) { try root.descriptor.status() }
            _ = try root.descriptor.status()
        }
        #expect(plan.count == 3)
        #expect(plan.calls == ["statx", "statx", "statx"])
    }

    @Test func everyCallWithTheNameFails() throws {
        let root = try RootDirectory(opening: "/tmp")
        try FileFaults.$plan.withValue(FaultPlan(failCalls: ["fstatvfs": 5])) {
            for _ in 0..<3 {
                #expect(throws: SystemError(errno: 5, call: "fstatvfs")) { try root.descriptor.space() }
            }
            _ = try root.descriptor.status()
        }
    }

    @Test func stepsOtherThanSystemCallsAreRecorded() {
        let plan = FaultPlan(failAt: (1, 5))
        FileFaults.$plan.withValue(plan) {
            FileFaults.step("sqlite-commit")
            FileFaults.step("sqlite-commit")
        }
        #expect(plan.calls == ["sqlite-commit", "sqlite-commit"])
    }
}

/// Faults from environment variables, each tested in a separate process.
struct EnvironmentFaultTests {
    @Test func processIsKilledBeforeTheChosenStep() async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            unsafe setenv("DAVIT_KILL_AT", "3", 1)
            let root = try RootDirectory(opening: "/tmp")
            FileFaults.arm(.ready)
            FileFaults.step("first")
            _ = try root.descriptor.status()
            _ = try root.descriptor.status()
        }
    }

    @Test func processIsNotKilledEarlier() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("DAVIT_KILL_AT", "3", 1)
            let root = try RootDirectory(opening: "/tmp")
            FileFaults.arm(.ready)
            FileFaults.step("first")
            _ = try root.descriptor.status()
        }
    }

    @Test func startupHasItsOwnCount() async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            unsafe setenv("DAVIT_KILL_START_AT", "2", 1)
            FileFaults.arm(.start)
            FileFaults.step("first")
            FileFaults.step("second")
        }
    }

    @Test func countRestartsAfterStartup() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("DAVIT_KILL_START_AT", "2", 1)
            unsafe setenv("DAVIT_KILL_AT", "3", 1)
            FileFaults.arm(.start)
            FileFaults.step("first")
            FileFaults.arm(.ready)
            FileFaults.step("first")
            FileFaults.step("second")
            FileFaults.uncounted { FileFaults.step("in the background") }
        }
    }

    @Test func callsFailByName() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("DAVIT_FAIL_CALL", "statx:ENOSPC,fstatvfs:5", 1)
            unsafe setenv("DAVIT_FAIL_AT", "2:EXDEV", 1)
            let root = try RootDirectory(opening: "/tmp")
            FileFaults.arm(.ready)
            #expect(throws: SystemError(errno: ENOSPC, call: "statx")) { try root.descriptor.status() }
            #expect(throws: SystemError(errno: EXDEV, call: "fstatvfs")) { try root.descriptor.space() }
            #expect(throws: SystemError(errno: 5, call: "fstatvfs")) { try root.descriptor.space() }
        }
    }
}
