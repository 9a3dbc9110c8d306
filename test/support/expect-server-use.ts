import { afterAll, type RunnerTestSuite } from 'vitest';
import { forgetServerUse, serverWasUsed } from './server-use.ts';

/**
 * A file of the `servers` project must use a server. Outside this project, a file without one would start within a
 * second. A file usually ends up here because it imports a helper that shares a module with server helpers. In that
 * case, move the helper.
 */
forgetServerUse();

// oxlint-disable-next-line no-empty-pattern -- vitest reads the fixtures that are wanted from this pattern: none
afterAll(({}, file) => {
  if (serverWasUsed() || !everyTestPassed(file)) return;
  throw new Error('this file imports what needs a server but uses none: it can be a pure test file');
});

function everyTestPassed(suite: Readonly<Pick<RunnerTestSuite, 'tasks'>>): boolean {
  return suite.tasks.every((task) =>
    task.type === 'suite' ? everyTestPassed(task) : task.result?.state === 'pass',
  );
}
