/**
 * Runs once per thread, before any workflow. By default, the SDK records a stack trace for every promise in a workflow,
 * which costs more than the workflow itself (docs/decisions/0007-steps-on-temporal.md).
 */
Error.stackTraceLimit = 0;

// These modules have no state, so load them once instead of once per workflow.
import './index.ts';
