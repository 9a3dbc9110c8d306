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

/** The queue forgets a result after an hour, and one of 10 KB after six minutes; files live as the account says. */
const linkLifeSeconds = 3600;

/**
 * Any model of fal's queue, by its mapping in gateway.yaml. Not covered: the synchronous host, streams of states,
 * uploads of files, and the headers of priority and of a file's lifetime, which the account decides.
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

/** It keeps the vendor's public keys for a day: one instance serves the whole process. */
export function createFal(): Provider {
  const verifyCallback = createFalVerifier(createFalKeys());
  return {
    about: {
      vendor: 'fal',
      inputs:
        'whatever the mapping of a model says. A job is found again by the field that the mapping names as its marker, while the account stores payloads; where there is none, a person looks it up. A job that runs is asked to stop, and counts as cancelled only once it has',
      costUnit: 'what the model bills, times the price in the mapping',
      unbilled: { classes: ['internal', 'capacity'] },
      unverified: [
        'whether requests that still wait are in the history',
        'what the status of a cancelled request is: a result with status 499, and none at all, both count as cancelled',
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
