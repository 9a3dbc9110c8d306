import type { GatewayConfig } from '../config/gateway-file.ts';
import type { VendorFile } from '../models/vendor-file.ts';
import type { Provider } from '../providers/provider.ts';

export interface KnownProviders {
  readonly current: () => GatewayConfig;
  readonly providers: Readonly<Record<string, Provider>>;
  /** Returns the same adapter each time for the same file. Undefined if only the built-in `providers` are available. */
  readonly fileProvider?: (file: VendorFile) => Provider;
}

export function providerOf(
  { current, providers, fileProvider }: KnownProviders,
  name: string,
): Provider | undefined {
  if (Object.hasOwn(providers, name)) return providers[name];
  const { vendors } = current();
  const file = Object.hasOwn(vendors, name) ? vendors[name] : undefined;
  return file === undefined ? undefined : fileProvider?.(file);
}
