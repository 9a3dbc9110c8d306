import { admissionMutants } from './admission.ts';
import { attemptMutants } from './attempts.ts';
import { bookMutants } from './books.ts';
import { callbackMutants } from './callbacks.ts';
import { callerMutants } from './callers.ts';
import { creationMutants } from './creation.ts';
import { dialectMutants } from './dialects.ts';
import { edgeMutants } from './edges.ts';
import { endMutants } from './ends.ts';
import { factMutants } from './facts.ts';
import { keySlotMutants } from './key-slots.ts';
import { leaseMutants } from './leases.ts';
import { moneyMutants } from './money.ts';
import type { Mutant } from './mutant.ts';

import { recordMutants } from './record.ts';
import { reconcilerMutants } from './reconciler.ts';
import { requestMutants } from './requests.ts';
import { submissionMutants } from './submission.ts';

/** Each is applied alone. */
export const mutants: readonly Mutant[] = [
  ...creationMutants,
  ...recordMutants,
  ...submissionMutants,
  ...attemptMutants,
  ...reconcilerMutants,
  ...admissionMutants,
  ...leaseMutants,
  ...keySlotMutants,
  ...callbackMutants,
  ...moneyMutants,
  ...bookMutants,
  ...endMutants,
  ...edgeMutants,
  ...callerMutants,
  ...factMutants,
  ...requestMutants,
  ...dialectMutants,
];
