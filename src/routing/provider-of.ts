import type { GatewayConfig } from '../config/gateway-file.ts';
import type { VendorFile } from '../models/vendor-file.ts';
import type { Provider } from '../providers/provider.ts';

export interface KnownProviders {
  /** The running configuration; a reload replaces it. */
  readonly current: () => GatewayConfig;
  readonly providers: Readonly<Record<string, Provider>>;
  /** Returns the adapter of a vendor file, always the same one for a file. Absent: only `providers` are known. */
  readonly fileProvider?: (file: VendorFile) => Provider;
}

/** Returns the adapter that a channel names as its `provider`. */
export function providerOf(
  { current, providers, fileProvider }: KnownProviders,
  name: string,
): Provider | undefined {
  if (Object.hasOwn(providers, name)) return providers[name];
  const { vendors } = current();
  const file = Object.hasOwn(vendors, name) ? vendors[name] : undefined;
  return file === undefined ? undefined : fileProvider?.(file);
}
