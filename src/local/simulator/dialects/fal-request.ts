import { z } from 'zod';
import type { FaultSet } from '../fault.ts';
import { check, parseJson } from '../wire.ts';
import type { WireRequest } from '../wire.ts';
import { FalError, invalidInput } from './fal-error.ts';
import type { FalModel } from './fal-models.ts';
import type { FalDetail } from './fal-task.ts';

/** The result reports a wrong input; `docs-shape`: by the answer to the submission. */
export function settle(
  model: FalModel,
  input: unknown,
  faults: FaultSet,
): Omit<FalDetail, 'isStored' | 'fileSeconds' | 'input'> {
  try {
    return check(model, input, invalidInput).output;
  } catch (error) {
    if (!(error instanceof FalError) || faults.has('docs-shape')) throw error;
    const mistake = { message: error.message, type: error.type ?? '', loc: [...(error.loc ?? [])] };
    return { kind: 'video', width: 0, height: 0, seconds: 0, units: 0, mistake };
  }
}

const fileSecondsUnsaid = 86_400;
const lifecycleSchema = z.object({ expiration_duration_seconds: z.int().min(1) });

export function settingsOf({
  headers,
}: WireRequest): Pick<FalDetail, 'isStored' | 'startTimeoutMs' | 'fileSeconds'> {
  const text = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
  const bad = (name: string) => new FalError(400, `${name} is not valid`, 'bad_request');
  const timeout = text('x-fal-request-start-timeout') ?? text('x-fal-request-timeout');
  if (timeout !== undefined && !(Number(timeout) > 0.1)) throw bad('X-Fal-Request-Start-Timeout');
  if (!['normal', 'low'].includes(text('x-fal-queue-priority') ?? 'normal'))
    throw bad('X-Fal-Queue-Priority');
  const stored = text('x-fal-store-io') ?? '1';
  if (stored !== '0' && stored !== '1') throw bad('X-Fal-Store-IO');
  const lifecycle = text('x-fal-object-lifecycle-preference');
  const asked = lifecycle === undefined ? undefined : parseJson(Buffer.from(lifecycle));
  const life = lifecycleSchema.safeParse(asked).data?.expiration_duration_seconds;
  if (lifecycle !== undefined && life === undefined) throw bad('X-Fal-Object-Lifecycle-Preference');
  return {
    isStored: stored === '1',
    fileSeconds: life ?? fileSecondsUnsaid,
    ...(timeout === undefined ? {} : { startTimeoutMs: Number(timeout) * 1000 }),
  };
}
