import { MongoNetworkError } from 'mongodb';
import type { Stores } from '../../src/store/stores.ts';

/**
 * While `run` executes, the first attempts to record a result copy fail with these errors. By default, one attempt
 * fails as if MongoDB were unreachable.
 */
export async function refuseFirstCopy<Result>(
  { resultCopies }: Pick<Stores, 'resultCopies'>,
  run: () => Promise<Result>,
  errors: readonly Error[] = [new MongoNetworkError('away')],
): Promise<{ readonly result: Result; readonly writes: number }> {
  const write = resultCopies.write.bind(resultCopies);
  let writes = 0;
  resultCopies.write = (copy) => {
    const error = errors[writes];
    writes += 1;
    return error === undefined ? write(copy) : Promise.reject(error);
  };
  try {
    return { result: await run(), writes };
  } finally {
    resultCopies.write = write;
  }
}
