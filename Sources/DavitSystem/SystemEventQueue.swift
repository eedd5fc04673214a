#if os(Linux)
/// The event queue of the operating system.
package typealias SystemEventQueue = Epoll
#else
/// The event queue of the operating system.
package typealias SystemEventQueue = Kqueue
#endif
