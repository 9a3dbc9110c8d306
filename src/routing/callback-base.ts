import type { ChannelConfig } from '../config/gateway-file.ts';
import type { TaskProvider } from '../providers/provider.ts';

export function callbackBase(
  { callbacks }: Pick<ChannelConfig, 'callbacks'>,
  { parseCallback }: Pick<TaskProvider<never>, 'parseCallback'>,
  publicUrl: string | undefined,
): string | undefined {
  return callbacks && parseCallback !== undefined ? publicUrl : undefined;
}
