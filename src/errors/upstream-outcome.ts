/**
 * The outcome of a failed upstream request.
 * - `not_sent`: nothing left this machine (DNS, connect, TLS).
 * - `throttled`: temporarily not accepted (429, or 503 with the upstream's own error body).
 * - `unavailable`: not accepted because of the channel (key, balance, disabled model).
 * - `rejected`: not accepted because of the request. The task fails.
 * - `ambiguous`: the request may have been accepted, and may be billed.
 */
export type UpstreamOutcome = 'not_sent' | 'throttled' | 'unavailable' | 'rejected' | 'ambiguous';
