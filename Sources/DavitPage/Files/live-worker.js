// Shared worker with the event stream of all tabs.

import { LiveStream } from "./live-stream.js"

const ports = new Map()
let stream

onconnect = ({ ports: [port] }) => {
    port.onmessage = ({ data: { root, folder } }) => {
        stream ??= new LiveStream(root, (event) => { for (const other of ports.keys()) other.postMessage(event) })
        if (folder) ports.set(port, folder)
        else ports.delete(port)
        stream.watch([...ports.values()])
    }
    port.start()
}
