// What a reload must not lose, in the browser's database: a record for each upload that has not ended.
//
// Writing is best effort: a browser that keeps nothing (a private window) uploads all the same.

const databaseName = "davit-uploads"
const storeName = "uploads"

let opening

function open() {
    opening ??= new Promise((resolve, reject) => {
        const request = indexedDB.open(databaseName, 1)
        request.onupgradeneeded = () => {
            request.result.createObjectStore(storeName, { keyPath: "id" }).createIndex("share", "share")
        }
        request.onsuccess = () => {
            request.result.onversionchange = () => request.result.close()
            resolve(request.result)
        }
        request.onerror = () => reject(request.error)
        request.onblocked = () => reject(new Error("blocked"))
    })
    return opening
}

async function transact(mode, work) {
    const database = await open()
    return new Promise((resolve, reject) => {
        const transaction = database.transaction(storeName, mode)
        let result
        transaction.oncomplete = () => resolve(result)
        transaction.onabort = transaction.onerror = () => reject(transaction.error)
        work(transaction.objectStore(storeName), (value) => { result = value })
    })
}

// Writes wait for each other, and those of the same moment go together. What is forgotten too late is found to be there
// already, so that it need not be quick.
const forgetMilliseconds = 200
// A task of the page must stay short.
const mostAtOnce = 100
const pending = new Map()
let writing

async function flush() {
    while (pending.size > 0) {
        const batch = [...pending].slice(0, mostAtOnce)
        for (const [id] of batch) pending.delete(id)
        try {
            await transact("readwrite", (store) => {
                for (const [id, record] of batch) {
                    if (record) store.put(record)
                    else store.delete(id)
                }
            })
        } catch {
            // A handle that cannot be kept must not take the others with it.
            for (const [id, record] of batch) {
                const { handle, blob, ...plain } = record ?? {}
                await transact("readwrite", (store) => { record ? store.put(plain) : store.delete(id) }).catch(() => {})
            }
        }
    }
    writing = undefined
}

const schedule = (milliseconds) => {
    writing ??= new Promise((resolve) => { setTimeout(resolve, milliseconds) }).then(flush)
    return writing
}

/// Resolves when it is kept, or cannot be.
export function keep(record) {
    pending.set(record.id, record)
    return schedule(0)
}

export function forget(id) {
    pending.set(id, undefined)
    return schedule(forgetMilliseconds)
}

/// Takes over what pages have left that are no more: `isAlive` tells of a session. Two pages that begin together get
/// each record once, because the database orders them.
export async function claim(share, session, isAlive) {
    try {
        return await transact("readwrite", (store, answer) => {
            const claimed = []
            answer(claimed)
            const request = store.index("share").openCursor(IDBKeyRange.only(share))
            request.onsuccess = () => {
                const cursor = request.result
                if (!cursor) return
                const record = cursor.value
                if (!isAlive(record.session)) {
                    record.session = session
                    cursor.update(record)
                    claimed.push(record)
                }
                cursor.continue()
            }
        })
    } catch {
        return []
    }
}

/// Whether there is anything, without a look at what.
export async function count(share) {
    try {
        return await transact("readonly", (store, answer) => {
            const request = store.index("share").count(IDBKeyRange.only(share))
            request.onsuccess = () => answer(request.result)
        })
    } catch {
        return 0
    }
}
