#if os(Linux)
internal import CLinux
#endif

extension Clock {
    /// Whether a time service keeps the clock of the system correct; nil if the system does not report it, as in some containers.
    package static var isSynchronized: Bool? {
        #if os(Linux)
        switch davit_clock_is_synchronized() {
        case 0: false
        case 1: true
        default: nil
        }
        #else
        nil
        #endif
    }
}
