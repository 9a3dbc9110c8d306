import type { ChannelConfig } from '../config/gateway-file.ts';
import type { TaskProvider } from '../providers/provider.ts';

/** Where the upstream calls us when a job changes; undefined: it is given no address. */
export function callbackBase(
  { callbacks }: Pick<ChannelConfig, 'callbacks'>,
  { parseCallback }: Pick<TaskProvider<never>, 'parseCallback'>,
  publicUrl: string | undefined,
): string | undefined {
  return callbacks && parseCallback !== undefined ? publicUrl : undefined;
}
