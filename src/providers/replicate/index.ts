import { cancelReplicate, checkReplicate, findReplicate, linkLifeSeconds } from './replicate-job.ts';
import { replicateStatus, submitReplicate } from './replicate-job.ts';
import { removeReplicateFile, uploadToReplicate } from './replicate-files.ts';
import { readPrediction } from './replicate-call.ts';
import { mappedImageFacts, mappedVideoFacts } from '../shared/mapped-facts.ts';
import type { GenerationRequest } from '../../models/request.ts';
import { verifyStandardWebhook } from '../shared/standard-webhooks.ts';
import type { Provider, TaskProvider } from '../provider.ts';

const ended = new Set(['succeeded', 'failed', 'canceled', 'aborted']);

/**
 * Any model of Replicate, by its mapping in gateway.yaml. Not covered: training, and answers while the request waits.
 */
function jobs<Request extends GenerationRequest>(
  kind: Request['kind'],
): Omit<TaskProvider<Request>, 'facts'> {
  return {
    linkLifeSeconds,
    cancelUntil: 'running',
    check: checkReplicate,
    submit: submitReplicate,
    status: (operation, context) => replicateStatus(operation, context, kind),
    cancel: cancelReplicate,
    find: findReplicate,
    parseCallback: ({ body }) => ({ ended: ended.has(readPrediction(body)?.status ?? '') }),
    verifyCallback: verifyStandardWebhook,
  };
}

export const replicate: Provider = {
  about: {
    vendor: 'Replicate',
    inputs:
      'whatever the mapping of a model says. A job is found again by the address that it calls back, or by the field that the mapping names as its marker; where it has neither, a person looks it up within the hour for which inputs are kept',
    costUnit: 'what the mapping counts: seconds of its hardware, or outputs',
    unverified: [
      'whether a run that failed is billed for the time that it ran',
      'the names of the counts of outputs in `metrics`',
      'whether the input or the result of a job was flagged: its class is `moderation_output`',
      'the pace of accounts with a low balance; the text E006',
    ],
  },
  mapped: true,
  upload: uploadToReplicate,
  removeUpload: removeReplicateFile,
  video: { ...jobs('video'), facts: mappedVideoFacts },
  imageTask: { ...jobs('image'), facts: mappedImageFacts },
};
