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
 * Any model on Replicate, as mapped in gateway.yaml. The operation is `{id}`. Not covered: training, and synchronous
 * responses.
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
      'defined by the mapping of each model. A lost job is found by its callback address, or by the marker field of the mapping. With neither, a person must look it up within an hour, because the inputs are deleted after that',
    costUnit: 'the unit that the mapping counts (seconds of hardware, or outputs)',
    unverified: [
      'whether a failed run is billed for its run time',
      'the names of the counts of outputs in `metrics`',
      'whether the input or the result of a flagged job was at fault: its class is always `moderation_output`',
      'the rate limit of accounts with a low balance; the message of error E006',
    ],
  },
  mapped: true,
  upload: uploadToReplicate,
  removeUpload: removeReplicateFile,
  video: { ...jobs('video'), facts: mappedVideoFacts },
  imageTask: { ...jobs('image'), facts: mappedImageFacts },
};
