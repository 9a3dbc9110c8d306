import { serviceUnavailable } from '../errors/errors.ts';

/** Rejects with `service_unavailable` when `name` has not answered in time. */
export function withTimeout<Result>(check: Promise<Result>, name: string, ms: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(serviceUnavailable(`${name} did not answer in ${ms} ms`)), ms);
    void check.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
