import type { ChannelConfig } from '../config/gateway-file.ts';
import type { TaskProvider } from '../providers/provider.ts';

/** Returns the base address for callbacks about a job, or undefined if the channel does not use callbacks. */
export function callbackBase(
  { callbacks }: Pick<ChannelConfig, 'callbacks'>,
  { parseCallback }: Pick<TaskProvider<never>, 'parseCallback'>,
  publicUrl: string | undefined,
): string | undefined {
  return callbacks && parseCallback !== undefined ? publicUrl : undefined;
}
