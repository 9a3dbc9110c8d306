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
 * Serves any model on Replicate that gateway.yaml maps. The operation is `{id}`. Training and synchronous responses are
 * not supported.
 */
function jobs<Request extends GenerationRequest>(
  kind: Request['kind'],
): Omit<TaskProvider<Request>, 'facts'> {
  return {
    linkLifeSeconds,
    cancelUntil: 'queued',
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
      'defined by each model’s mapping. A lost job is found by its callback URL or the mapping’s marker field. If there is neither, an operator must look up the job within an hour, before its inputs are deleted',
    costUnit: 'the unit that the mapping counts (seconds of hardware, or outputs)',
    unverified: [
      'whether a failed run is billed for its run time',
      'what the output counts in `metrics` are called',
      'whether a flagged job’s input or result was at fault: the class is always `moderation_output`',
      'the rate limit of accounts with a low balance; the message of error E006',
    ],
  },
  mapped: true,
  upload: uploadToReplicate,
  removeUpload: removeReplicateFile,
  video: { ...jobs('video'), facts: mappedVideoFacts },
  imageTask: { ...jobs('image'), facts: mappedImageFacts },
};
