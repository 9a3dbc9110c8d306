/**
 * Runs once per thread, before any workflow. Turns off stack traces. By default, the SDK records one for every promise
 * in a workflow, which costs more than the workflow itself (docs/decisions/0007-steps-on-temporal.md).
 */
Error.stackTraceLimit = 0;

// Load these modules once instead of once per workflow. This is safe, because they have no state.
import './index.ts';
