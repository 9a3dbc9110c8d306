import { UpstreamError } from '../providers/provider.ts';
import type { OpenChannel } from './channels.ts';

/** Whether the upstream accepts a credential. `untested` means that the vendor has no free request to test it. */
export interface CredentialAnswer {
  readonly verdict: 'accepted' | 'refused' | 'unclear' | 'untested';
  /** A sentence for the operator. */
  readonly words: string;
}

/** No vendor has a job with this id. */
const absentId = '00000000-0000-4000-8000-000000000000';
/** Upstreams answer with these statuses because of the key or its account, not because of the address. */
const refusals: readonly (number | undefined)[] = [400, 401, 402, 403];

/** Asks for a job that does not exist. An upstream that says so has accepted the key, and the request is free. */
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
    return {
      verdict: 'accepted',
      words: 'The upstream accepts the key. It answered that there is no such job.',
    };
  const said = status === undefined ? code : `status ${status}, ${code}`;
  if (outcome === 'not_sent')
    return { verdict: 'unclear', words: `The upstream cannot be reached (${said}).` };
  if (outcome === 'unavailable' && refusals.includes(status))
    return { verdict: 'refused', words: `The upstream refuses the key or its account (${said}).` };
  return {
    verdict: 'unclear',
    words: `The answer of the upstream does not show whether it accepts the key (${said}).`,
  };
}

const untested =
  'This vendor has no request that would test the key free of charge. The first image request will show whether it works.';
