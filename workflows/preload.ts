/**
 * Runs once in each thread, before any workflow. The SDK records and maps a stack trace for every promise of a
 * workflow, which costs more than the workflow itself, so none is recorded
 * (docs/decisions/0007-steps-on-temporal.md).
 */
Error.stackTraceLimit = 0;

// Nothing in these modules keeps state: they are loaded here, once, and not again for each workflow.
import './index.ts';
