// Package gateway speaks the Kafka protocol: it listens, reads frames, has
// gateway/kapi answer the requests and writes the answers in order.
//
// Not here: what requests mean (gateway/kapi) and what is stored
// (gateway/backend).
//
// Goroutines. A Server has one goroutine per listener that accepts, and per
// connection a reader, a writer and one for each request in work. The reader
// cuts frames, checks key and version, reserves memory and decodes; it gives
// every request an entry in the connection's bounded queue before its handler
// starts. The writer takes entries in that order, waits for each and writes its
// answer, so that answers leave in the order of requests whatever correlation
// ids clients choose; an entry without answer (acks=0) is skipped.
//
// Order of effects. A request starts when the one before has finished or
// parked. Requests of APIs that overlap (Produce) start while the one before
// runs, wait for their turn before their effect, and pass the turn on when that
// has its place in the order, before it is durable and answered; other requests
// wait for the end of those before, so that they see what was done. Parking lets a Heartbeat
// take effect behind a JoinGroup that it would otherwise wait for.
//
// Memory. Two budgets, both counted semaphores: request memory is reserved from
// the frame's size before the frame is read and held until the answer is
// encoded or the request parks; answer memory is reserved by handlers that
// read a lot, only for the entry whose answer is next on its connection. So no
// holder of one waits for a holder of the same, and neither can run dry for
// ever. A part of request memory is kept for small requests: large frames that
// are announced and hardly sent delay other large ones, and nobody else.
//
// Limits, all in Options: connections, bytes of a frame, requests in work per
// connection, both memories, times without a first request, without a byte,
// within a frame and for a whole one, and without progress of a write. A frame's buffer grows with
// the bytes that arrive, never by the length that a peer claims.
package gateway
