import { taskKinds } from '../../../base/task-kind.ts';
import type { Fixture, VendorFile } from '../../../models/vendor-file.ts';
import type { Provider } from '../../provider.ts';
import { creationTests } from './creation-tests.ts';
import { factsTests } from './facts-tests.ts';
import { specimensOf, type Specimens } from './specimens.ts';
import { statusTests } from './status-tests.ts';
import type { VerificationTest } from './verify.ts';

export function conformanceTests(file: VendorFile, provider: Provider): VerificationTest[] {
  const kinds = taskKinds.filter((kind) => servedBy(file, kind));
  return kinds.flatMap((kind) => testsOf({ file, provider, kind, specimens: specimensOf(file, kind) }));
}

export interface Conformance {
  readonly file: VendorFile;
  readonly provider: Provider;
  readonly kind: Fixture['kind'];
  readonly specimens: Specimens;
}

function servedBy({ videos, images }: VendorFile, kind: Fixture['kind']): boolean {
  return (kind === 'video' ? videos : images) !== undefined;
}

function testsOf(given: Conformance): VerificationTest[] {
  const lacking = lackingSpecimens(given);
  if (lacking !== undefined) return [{ test: `${given.kind}: fixtures`, run: async () => lacking }];
  const tests = [...creationTests(given), ...statusTests(given), ...factsTests(given)];
  return tests.map(({ test, run }) => ({ test: `${given.kind}: ${test}`, run }));
}

function lackingSpecimens({ file, kind, specimens }: Conformance): string | undefined {
  const isAtOnce = kind === 'image' && file.images !== undefined && 'generate' in file.images;
  const jobs = isAtOnce ? undefined : kind === 'video' ? file.videos : file.images;
  const needed = [
    ['accepted', `a ${isAtOnce ? 'generate' : 'submit'} that succeeds`],
    ['refused', `a ${isAtOnce ? 'generate' : 'submit'} that the vendor refuses, with an expected error`],
    ...(isAtOnce
      ? []
      : ([
          ['pending', 'a status that is expected to be pending'],
          ['succeeded', 'a status that is expected to be succeeded'],
          ['failed', 'a status that is expected to be failed'],
        ] as const)),
    ...(jobs !== undefined && 'find' in jobs && jobs.find !== undefined
      ? ([['find', 'a find whose job carries the marker mediary-fixture-1']] as const)
      : []),
  ] as const;
  const missing = needed.find(([name]) => specimens[name] === undefined);
  return missing === undefined ? undefined : `needs a fixture with ${missing[1]}`;
}
