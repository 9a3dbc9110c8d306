import { expect, it } from 'vitest';
import { failuresIn, knownFailures, sdkTests } from '../../../workshop/vendor-sdks/newest-node.ts';

const passed = sdkTests.map((path) => ({
  name: `/project/${path}`,
  status: 'passed',
  assertionResults: [{ fullName: 'reads', status: 'passed' }],
}));
const report = (testResults: readonly object[]) => failuresIn(JSON.stringify({ testResults }));

it('a report without failures produces no line', () => {
  expect(report(passed)).toEqual([]);
});

it('a known failure produces no line', () => {
  const [first, ...rest] = passed;
  const fullName = `${knownFailures[0]?.test} follows a job`;
  const failed = { fullName, status: 'failed', failureMessages: ['no method'] };
  expect(report([{ ...first, status: 'failed', assertionResults: [failed] }, ...rest])).toEqual([]);
});

it('a failed test, a file that cannot be loaded and a file that did not run produce a line each', () => {
  const [first, second, , ...rest] = passed;
  const failed = { fullName: 'polls', status: 'failed', failureMessages: ['no link\n  at x'] };
  const broken = { ...second, status: 'failed', message: 'no export\n  at y', assertionResults: [] };
  expect(report([{ ...first, status: 'failed', assertionResults: [failed] }, broken, ...rest])).toEqual([
    `${sdkTests[2]} did not run`,
    `${sdkTests[0]}: polls: no link`,
    `${sdkTests[1]}: no export`,
  ]);
});
