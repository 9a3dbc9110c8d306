/**
 * - `not_sent`: nothing left this machine (DNS, connect, TLS).
 * - `throttled`: the upstream said "not now" (429, 503 with its own error body): not accepted.
 * - `unavailable`: not accepted for a reason that is the channel's (key, balance, model switched off).
 * - `rejected`: not accepted for a reason that is the request's: the task's failure.
 * - `ambiguous`: it may have been accepted, and may be billed.
 */
export type UpstreamOutcome = 'not_sent' | 'throttled' | 'unavailable' | 'rejected' | 'ambiguous';
