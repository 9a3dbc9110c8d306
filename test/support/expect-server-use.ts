import { afterAll } from 'vitest';
import type { RunnerTestSuite } from 'vitest';
import { forgetServerUse, serverWasUsed } from './server-use.ts';

/**
 * Runs in every file of the project `servers`: a file whose tests all passed and that never asked for a server is
 * reported, since it would start in a second as a pure one. It usually imports a helper from a file that also hands
 * out servers: move the helper.
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
