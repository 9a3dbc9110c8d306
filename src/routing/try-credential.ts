import { UpstreamError, type Provider, type ProviderContext } from '../providers/provider.ts';
import type { OpenChannel } from './channels.ts';

export interface CredentialAnswer {
  readonly verdict: 'accepted' | 'refused' | 'unclear' | 'untested';
  readonly words: string;
}

const absentId = '00000000-0000-4000-8000-000000000000';
const refusals: readonly (number | undefined)[] = [400, 401, 402, 403];

/**
 * Sends the adapter's free request. If there is none, asks for a job that does not exist. That costs nothing, and an
 * upstream that reports an unknown job has accepted the key.
 */
export async function tryCredential(
  channel: OpenChannel,
  credential: string,
  signal: AbortSignal,
): Promise<CredentialAnswer> {
  const { provider, config } = channel;
  const [model = ''] = Object.keys(config.models);
  const ask = freeRequestOf(provider);
  if (ask === undefined) return { verdict: 'untested', words: untested };
  try {
    await ask(channel.context(credential, model, signal));
    return { verdict: 'accepted', words: 'The upstream accepts the key.' };
  } catch (error) {
    if (error instanceof UpstreamError) return judge(error);
    throw error;
  }
}

function freeRequestOf({
  checkKey,
  video,
  imageTask,
}: Provider): ((context: ProviderContext) => Promise<unknown>) | undefined {
  if (checkKey !== undefined) return checkKey;
  const part = video ?? imageTask;
  return (
    part &&
    (async (context) => part.status(part.absentJob?.(absentId, context.model) ?? { id: absentId }, context))
  );
}

export function judge(error: UpstreamError): CredentialAnswer {
  const { outcome, status, gone } = error;
  if (gone)
    return {
      verdict: 'accepted',
      words: 'The upstream accepts the key. It responded that it has no such job.',
    };
  const said = saidBy(error);
  if (outcome === 'not_sent')
    return { verdict: 'unclear', words: `The upstream cannot be reached (${said}).` };
  if (outcome === 'unavailable' && refusals.includes(status))
    return { verdict: 'refused', words: `The upstream rejects the key or its account (${said}).` };
  return {
    verdict: 'unclear',
    words: `The response does not show whether the upstream accepts the key (${said}).`,
  };
}

export function saidBy({ status, code }: UpstreamError): string {
  return status === undefined ? code : `status ${status}, ${code}`;
}

const untested =
  'This vendor offers no free request that would test a key. The first image request will show whether the key works.';
