/**
 * Runs once in each thread, before any workflow: the SDK takes and maps a stack trace for every promise of a workflow,
 * which costs more than the workflow itself. A workflow that fails is debugged by replaying its history with this line
 * away (docs/decisions/0012-workflow-stack-traces.md).
 */
Error.stackTraceLimit = 0;
