import { z } from 'zod';
import { googleLinkHeaders, readGoogleModel } from './google-call.ts';
import { googleFacts } from './google-facts.ts';
import { cancelOmni, omniStatus, submitOmni } from './google-omni.ts';
import { submitVeo, veoStatus } from './google-veo.ts';
import { optionalText } from '../shared/http-outcome.ts';
import type { CallbackNews, Operation, UpstreamCallback, VideoProvider } from '../provider.ts';

/**
 * Google videos: Omni as interactions, all other models as Veo operations. The operation is `{id}`. The id of a Veo
 * operation is a path with a slash. The id of an interaction has no slash. Not covered: follow-up turns about an
 * earlier clip, and media from the Files API.
 */
export const googleVideo: VideoProvider = {
  // Veo has no cancellation call, so cancelling is always refused.
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
 * How events are wrapped and signed has not been verified, so every event triggers a poll unless it reports that the
 * job continues.
 */
function parseCallback({ body }: UpstreamCallback): CallbackNews {
  const { type, event, event_type: other } = eventSchema.safeParse(body).data ?? {};
  const word = type ?? event ?? other;
  return {
    ended: word === undefined || /\.(?:completed|failed|cancelled|requires_action|generated)$/.test(word),
  };
}
