import { taskProviderFor } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { openChannel } from './submit.ts';
import type { OperationInput } from './types.ts';

/** Asks the upstream to cancel; one that cannot has refused. */
export function createCancelUpstream(deps: ChannelActivityDeps) {
  return async function cancelUpstream(input: OperationInput): Promise<'cancelled' | 'refused'> {
    const channel = openChannel(deps, input.candidate.channel);
    const provider = taskProviderFor(channel.provider, input.kind);
    if (provider?.cancel === undefined) return 'refused';
    const signal = AbortSignal.timeout(channel.config.timeouts.poll_ms);
    return provider.cancel(input.operation, channel.context(input.candidate.credential, input.model, signal));
  };
}
