extension FileDescriptor {
    /// Sets an extended attribute to one byte, to find out whether the volume supports attributes of users. Does nothing on
    /// systems whose volumes all do.
    package borrowing func tryAttribute(_ name: String) throws(SystemError) {
        #if os(Linux)
        try setAttribute(name, to: [1])
        #endif
    }
}
