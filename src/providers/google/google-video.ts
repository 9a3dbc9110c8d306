import { z } from 'zod';
import { googleLinkHeaders, readGoogleModel } from './google-call.ts';
import { checkGoogleVideo, googleConsumes, googleRoles, isOmni, omniSeconds } from './google-check.ts';
import { cancelOmni, omniStatus, submitOmni } from './google-omni.ts';
import { submitVeo, veoStatus } from './google-veo.ts';
import { optionalText } from '../shared/http-outcome.ts';
import type {
  CallbackNews,
  Operation,
  PossibleOutput,
  UpstreamCallback,
  VideoProvider,
} from '../provider.ts';
import { defined } from '../../domain/defined.ts';
import type { VideoRequest } from '../../domain/request.ts';

/**
 * Videos of Google: Omni as interactions, everything else as Veo's operations. The operation is `{id}`: a path of Veo's
 * has a slash, an interaction's id has none. Not covered: turns of a conversation about an earlier clip, and media by
 * the Files API.
 */
export const googleVideo: VideoProvider = {
  // Veo refuses what nobody can ask it: there is no such call.
  cancelUntil: 'running',
  linkLifeSeconds: 2 * 24 * 3600,
  linkHeaders: googleLinkHeaders,
  check: checkGoogleVideo,
  consumes: googleConsumes,
  roles: (_, model) => googleRoles(model),
  submit: (request, context) =>
    isOmni(readGoogleModel(context.model).name) ? submitOmni(request, context) : submitVeo(request, context),
  status: (operation, context) =>
    isVeoOperation(operation) ? veoStatus(operation, context) : omniStatus(operation, context),
  cancel: (operation, context) =>
    isVeoOperation(operation) ? Promise.resolve('refused') : cancelOmni(operation, context),
  parseCallback,
  renders,
};

function isVeoOperation({ id }: Operation): boolean {
  return id.includes('/');
}

function renders({ resolution, duration }: VideoRequest, upstream: string): PossibleOutput {
  const { name } = readGoogleModel(upstream);
  return defined({
    resolutions: resolution === undefined ? ['720p'] : undefined,
    seconds: duration !== undefined ? undefined : isOmni(name) ? omniSeconds(name) : { min: 4, max: 8 },
  });
}

const eventSchema = z.object({ type: optionalText, event: optionalText, event_type: optionalText });

/** How events are wrapped and signed is not verified: whatever does not say that the job continues is worth a question. */
function parseCallback({ body }: UpstreamCallback): CallbackNews {
  const { type, event, event_type: other } = eventSchema.safeParse(body).data ?? {};
  const word = type ?? event ?? other;
  return {
    ended: word === undefined || /\.(?:completed|failed|cancelled|requires_action|generated)$/.test(word),
  };
}
