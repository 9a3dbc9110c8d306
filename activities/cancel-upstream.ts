import type { ChannelActivityDeps } from './deps.ts';
import { requireTarget } from './open-target.ts';
import type { OperationInput } from './types.ts';

/** Asks the upstream to cancel; one that cannot has refused. */
export function createCancelUpstream(deps: ChannelActivityDeps) {
  return async function cancelUpstream(input: OperationInput): Promise<'cancelled' | 'refused'> {
    const { config, provider, context } = requireTarget(deps, input);
    if (provider.cancel === undefined) return 'refused';
    return provider.cancel(input.operation, context(AbortSignal.timeout(config.timeouts.poll_ms)));
  };
}
