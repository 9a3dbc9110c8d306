import { isRecord } from '../../../base/is-record.ts';
import type { Fixture, FixtureStep, VendorFile } from '../../../models/vendor-file.ts';
import type { Operation, Provider } from '../../provider.ts';
import { createDouble, differenceOf, shown } from './double.ts';
import { readFixtureRequest } from './fixture-request.ts';
import { lackOf, runStep, type Running } from './run-step.ts';
import type { VerificationTest } from './verify.ts';

export function fixtureTests(file: VendorFile, provider: Provider): VerificationTest[] {
  return file.fixtures.map((fixture) => ({
    test: `fixture ${fixture.name}`,
    run: () => replay(fixture, file, provider),
  }));
}

async function replay(fixture: Fixture, file: VendorFile, provider: Provider): Promise<string | undefined> {
  const request = readFixtureRequest(fixture);
  if ('mistake' in request) return request.mistake;
  let operation: Operation = { id: 'fixture' };
  for (const [index, step] of fixture.steps.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- a step uses the job of those before it
    const { failure, job } = await replayStep(step, file, {
      provider,
      request,
      operation,
      model: fixture.model,
    });
    if (failure !== undefined) return `step ${index + 1}, ${step.do}: ${failure}`;
    operation = job ?? operation;
  }
  return undefined;
}

async function replayStep(
  step: FixtureStep,
  { authentication }: VendorFile,
  running: Omit<Running, 'context'> & { readonly model: string },
): Promise<{ readonly failure?: string; readonly job?: Operation }> {
  const answers = step.exchanges.map(({ answer }) => answer);
  const { context, sent } = createDouble({ model: running.model, authentication, answers });
  const outcome = await runStep(step.do, { ...running, context });
  const differences = sent.map((one, index) => {
    const recorded = step.exchanges[index];
    if (recorded !== undefined) return differenceOf(one, recorded);
    // After a cancellation, the gateway asks whether the job is charged. A file need not record that.
    const isOptional = step.do === 'cancel' && index === 1 && one.method === 'GET';
    return isOptional ? undefined : `sent an additional request: ${one.method} ${one.path}`;
  });
  const difference = differences.find((one) => one !== undefined);
  if (difference !== undefined) return { failure: difference };
  const lack = lackOf(outcome, step.expect);
  if (lack !== undefined) return { failure: `${lack} is not as expected in ${shown(outcome)}` };
  if (sent.length < step.exchanges.length) return { failure: 'sent fewer requests than are recorded' };
  const job = jobOf(step, outcome);
  return job === undefined ? {} : { job };
}

function jobOf({ do: step }: FixtureStep, outcome: unknown): Operation | undefined {
  if (step !== 'submit' || !isRecord(outcome) || typeof outcome['id'] !== 'string') return undefined;
  const parts = Object.entries(outcome).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return { ...Object.fromEntries(parts), id: outcome['id'] };
}
