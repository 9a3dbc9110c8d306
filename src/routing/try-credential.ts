import { UpstreamError } from '../providers/provider.ts';
import type { OpenChannel } from './channels.ts';

/** What the upstream says of a credential. `untested`: the vendor has no question that costs nothing. */
export interface CredentialAnswer {
  readonly verdict: 'accepted' | 'refused' | 'unclear' | 'untested';
  /** A sentence for people. */
  readonly words: string;
}

/** No vendor gives a job this name. */
const absentId = '00000000-0000-4000-8000-000000000000';
/** Statuses with which an upstream judges the key, and not the address. */
const refusals: readonly (number | undefined)[] = [400, 401, 402, 403];

/** Asks for a job that does not exist: an upstream that says so has accepted the key, and bills nothing. */
export async function tryCredential(
  channel: OpenChannel,
  credential: string,
  signal: AbortSignal,
): Promise<CredentialAnswer> {
  const { provider, config } = channel;
  const part = provider.video ?? provider.imageTask;
  if (part === undefined) return { verdict: 'untested', words: untested };
  const [model = ''] = Object.keys(config.models);
  const asked = channel.context(credential, model, signal);
  try {
    await part.status(part.absentJob?.(absentId, asked.model) ?? { id: absentId }, asked);
    return { verdict: 'accepted', words: 'The upstream accepts the key.' };
  } catch (error) {
    if (error instanceof UpstreamError) return judge(error);
    throw error;
  }
}

function judge({ outcome, status, code, gone }: UpstreamError): CredentialAnswer {
  if (gone)
    return { verdict: 'accepted', words: 'The upstream accepts the key: it says that there is no such job.' };
  const said = status === undefined ? code : `status ${status}, ${code}`;
  if (outcome === 'not_sent')
    return { verdict: 'unclear', words: `The upstream cannot be reached (${said}).` };
  if (outcome === 'unavailable' && refusals.includes(status))
    return { verdict: 'refused', words: `The upstream refuses the key, or its account (${said}).` };
  return { verdict: 'unclear', words: `The upstream’s answer says nothing about the key (${said}).` };
}

const untested =
  'This adapter has no question that costs nothing. The key is tried by the first request for an image.';
