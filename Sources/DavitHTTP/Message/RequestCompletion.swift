/// Is notified when a request ends: when its response has been sent, or when it is clear that the response will not be sent
/// completely.
package protocol RequestCompletion: AnyObject, Sendable {
    /// Called once, on the event loop of the connection; must not block.
    func requestDidEnd()
}
