/**
 * Runs once per thread, before any workflow. Without this setting, the SDK would record and map a stack trace for every
 * promise in a workflow, which costs more than the workflow itself (docs/decisions/0007-steps-on-temporal.md).
 */
Error.stackTraceLimit = 0;

// These modules have no state, so they are loaded once here instead of once per workflow.
import './index.ts';
