import { serviceUnavailable } from '../errors/errors.ts';
import { within } from '../process/running-time.ts';

export function withTimeout<Result>(check: Promise<Result>, name: string, ms: number): Promise<Result> {
  return within(ms, check, () => serviceUnavailable(`${name} did not respond within ${ms} ms`));
}
