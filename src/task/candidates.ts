export interface RouteCandidate {
  readonly channel: string;
  readonly credential: string;
}

type DropReason =
  | 'model_not_served'
  | 'kind_not_served'
  | 'disabled'
  | 'not_permitted'
  | 'unsupported'
  | 'no_price'
  | 'circuit_open'
  | 'no_worker'
  | 'at_concurrency_limit';

export interface DroppedChannel {
  readonly channel: string;
  readonly credential?: string;
  readonly reason: DropReason;
  readonly detail: string;
}

export interface ConfiguredChannel {
  readonly id: string;
  readonly credentials: readonly { readonly id: string }[];
  readonly models: Readonly<Record<string, unknown>>;
}

export function hasCredential(
  channel: Pick<ConfiguredChannel, 'credentials'> | undefined,
  credential: string,
): boolean {
  return channel?.credentials.some(({ id }) => id === credential) === true;
}

/** A plan can contain channels, credentials and models that have been removed since. */
export function isConfigured(
  channels: readonly ConfiguredChannel[],
  { channel: id, credential }: RouteCandidate,
  model?: string,
): boolean {
  const channel = channels.find((one) => one.id === id);
  return hasCredential(channel, credential) && (model === undefined || servesModel(channel, model));
}

export function servesModel(channel: Pick<ConfiguredChannel, 'models'> | undefined, model: string): boolean {
  return channel !== undefined && Object.hasOwn(channel.models, model);
}
