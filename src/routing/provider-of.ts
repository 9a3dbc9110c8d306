import type { GatewayConfig } from '../config/gateway-file.ts';
import type { VendorFile } from '../models/vendor-file.ts';
import type { Provider } from '../providers/provider.ts';

export interface KnownProviders {
  /** The running configuration; a reload replaces it. */
  readonly current: () => GatewayConfig;
  readonly providers: Readonly<Record<string, Provider>>;
  /** The adapter of a vendor file, the same one for the same file. Absent: only `providers` are known. */
  readonly fileProvider?: (file: VendorFile) => Provider;
}

/** The adapter that `provider` of a channel names. */
export function providerOf(
  { current, providers, fileProvider }: KnownProviders,
  name: string,
): Provider | undefined {
  if (Object.hasOwn(providers, name)) return providers[name];
  const { vendors } = current();
  const file = Object.hasOwn(vendors, name) ? vendors[name] : undefined;
  return file === undefined ? undefined : fileProvider?.(file);
}
