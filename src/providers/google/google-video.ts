import { z } from 'zod';
import { googleLinkHeaders, readGoogleModel } from './google-call.ts';
import { googleFacts } from './google-facts.ts';
import { cancelOmni, omniStatus, submitOmni } from './google-omni.ts';
import { submitVeo, veoStatus } from './google-veo.ts';
import { optionalText } from '../shared/http-outcome.ts';
import type { CallbackNews, Operation, UpstreamCallback, VideoProvider } from '../provider.ts';

/**
 * Omni models use interactions, and all others use Veo operations. The operation is `{id}`: a path with a slash for
 * Veo, or an id without one for an interaction. Follow-up turns about an earlier clip and media from the Files API are
 * not supported.
 */
export const googleVideo: VideoProvider = {
  // Applies to Omni. Veo has no cancel call, so a request to cancel a Veo job is always rejected.
  cancelUntil: 'running',
  linkLifeSeconds: 2 * 24 * 3600,
  linkHeaders: googleLinkHeaders,
  facts: googleFacts,
  submit: (request, context) =>
    isOmni(readGoogleModel(context.model).name) ? submitOmni(request, context) : submitVeo(request, context),
  status: (operation, context) =>
    isVeoOperation(operation) ? veoStatus(operation, context) : omniStatus(operation, context),
  cancel: (operation, context) =>
    isVeoOperation(operation) ? Promise.resolve('refused') : cancelOmni(operation, context),
  parseCallback,
};

function isVeoOperation({ id }: Operation): boolean {
  return id.includes('/');
}

function isOmni(name: string): boolean {
  return name.startsWith('gemini-omni');
}

const eventSchema = z.object({ type: optionalText, event: optionalText, event_type: optionalText });

/**
 * We have not verified the events' format and signature, so every event triggers a poll unless it says that the job
 * continues.
 */
function parseCallback({ body }: UpstreamCallback): CallbackNews {
  const { type, event, event_type: other } = eventSchema.safeParse(body).data ?? {};
  const word = type ?? event ?? other;
  return {
    ended: word === undefined || /\.(?:completed|failed|cancelled|requires_action|generated)$/.test(word),
  };
}
