import { createFalVerifier, parseFalCallback } from './fal-callback.ts';
import { createFalKeys } from './fal-keys.ts';
import { falBill } from './fal-bill.ts';
import { operationOf } from './fal-address.ts';
import { findFal } from './fal-history.ts';
import { cancelFal, checkFal, falStatus, submitFal } from './fal-job.ts';
import { mappedImageFacts, mappedVideoFacts } from '../shared/mapped-facts.ts';
import type { GenerationRequest } from '../../models/request.ts';
import type { Provider, TaskProvider } from '../provider.ts';

type Verify = NonNullable<TaskProvider<never>['verifyCallback']>;

/**
 * The queue forgets a result after an hour (a 10 KB result after six minutes). The account's settings determine how
 * long files are kept.
 */
const linkLifeSeconds = 3600;

/**
 * Serves any model in fal's queue that gateway.yaml maps. Does not support the synchronous host, status streams, file
 * uploads, or the headers for priority and file lifetime (the account's settings determine both).
 */
function jobs<Request extends GenerationRequest>(
  kind: Request['kind'],
  verifyCallback: Verify,
): Omit<TaskProvider<Request>, 'facts'> {
  return {
    linkLifeSeconds,
    cancelUntil: 'queued',
    check: checkFal,
    submit: submitFal,
    status: (operation, context) => falStatus(operation, context, kind),
    absentJob: (id, model) => operationOf(id, model),
    cancel: (operation, context) => cancelFal(operation, context, kind),
    find: findFal,
    parseCallback: parseFalCallback,
    verifyCallback,
  };
}

/** Creates the provider. Create only one per process, because it caches the vendor's public keys for a day. */
export function createFal(): Provider {
  const verifyCallback = createFalVerifier(createFalKeys());
  return {
    about: {
      vendor: 'fal',
      inputs:
        'defined by each model’s mapping. A lost job can be found by the mapping’s marker field only if the account stores payloads. A running job is reported as cancelled only after it has stopped',
      costUnit: 'the model’s billed units, times the price in the mapping',
      unbilled: { classes: ['internal', 'capacity'] },
      unverified: [
        'whether the history contains requests that are still waiting',
        'the status of a cancelled request: both status 499 and a missing result are treated as cancelled',
        'the prices of Kling and FLUX',
      ],
    },
    mapped: true,
    bill: falBill,
    video: { ...jobs('video', verifyCallback), facts: mappedVideoFacts },
    imageTask: { ...jobs('image', verifyCallback), facts: mappedImageFacts },
  };
}

export const fal = createFal();
