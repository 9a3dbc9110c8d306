import { timeLimit } from '../process/running-time.ts';
import { UpstreamError, type VendorBalance } from '../providers/provider.ts';
import type { Channels, OpenChannel } from './channels.ts';
import { judge, saidBy } from './try-credential.ts';

export interface SeenBalance {
  readonly credential: string;
  readonly balance?: VendorBalance;
  readonly at?: number;
  readonly problem?: string;
}

interface Deps {
  readonly channels: Channels;
  readonly now: () => number;
}

const keptMs = 10 * 60_000;
const answerMs = 15_000;

/**
 * The returned function does not wait for the vendor. It returns the known balances, or an empty list if the vendor
 * reports none. Each call also refreshes balances older than ten minutes in the background.
 */
export function createVendorBalances({ channels, now }: Deps): (channel: string) => readonly SeenBalance[] {
  // A configuration change creates new objects, so the balance is queried again after a key is replaced.
  const known = new WeakMap<OpenChannel['config'], Map<string, SeenBalance & { readonly askedAt: number }>>();

  async function ask(channel: OpenChannel, credential: string): Promise<Omit<SeenBalance, 'credential'>> {
    const { provider, config } = channel;
    const [model = ''] = Object.keys(config.models);
    try {
      const context = channel.context(credential, model, timeLimit(answerMs));
      const balance = await provider.balance?.(context);
      return balance === undefined ? {} : { balance };
    } catch (error) {
      return { problem: problemOf(error) };
    }
  }

  return (id) => {
    const channel = channels(id);
    if (channel?.provider.balance === undefined) return [];
    const seen = known.get(channel.config) ?? new Map<string, SeenBalance & { readonly askedAt: number }>();
    known.set(channel.config, seen);
    return channel.config.credentials.map(({ id: credential }) => {
      const last = seen.get(credential);
      if (last !== undefined && Math.abs(now() - last.askedAt) < keptMs) return last;
      const asked = { ...last, credential, askedAt: now() };
      seen.set(credential, asked);
      void ask(channel, credential).then((answer) =>
        seen.set(credential, { ...answer, credential, at: now(), askedAt: asked.askedAt }),
      );
      return asked;
    });
  };
}

function problemOf(error: unknown): string {
  if (!(error instanceof UpstreamError)) return 'The balance could not be read.';
  const { verdict, words } = judge(error);
  const isAboutAccess = verdict === 'refused' || error.outcome === 'not_sent';
  return isAboutAccess ? words : `The balance could not be read (${saidBy(error)}).`;
}
