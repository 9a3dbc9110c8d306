import { MongoNetworkError } from 'mongodb';
import type { Stores } from '../../src/store/stores.ts';

/** MongoDB is away when the first copy of `run` is to be put on record. `writes`: how often one was. */
export async function refuseFirstCopy<Result>(
  { resultCopies }: Pick<Stores, 'resultCopies'>,
  run: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly writes: number }> {
  const write = resultCopies.write.bind(resultCopies);
  let writes = 0;
  resultCopies.write = (copy) => {
    writes += 1;
    return writes > 1 ? write(copy) : Promise.reject(new MongoNetworkError('away'));
  };
  try {
    return { result: await run(), writes };
  } finally {
    resultCopies.write = write;
  }
}
