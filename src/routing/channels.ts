import { defined } from '../base/defined.ts';
import type { ChannelConfig } from '../config/gateway-file.ts';
import type { TaskKind } from '../base/task-kind.ts';
import type { GenerationRequest, ImageRequest, VideoRequest } from '../models/request.ts';
import { isUnusable } from '../providers/links.ts';
import { providerOf, type KnownProviders } from './provider-of.ts';
import { withUsableLinks, type LinkRules } from './usable-links.ts';
import { UpstreamError } from '../providers/provider.ts';
import type {
  HttpRequest,
  ImageTaskProvider,
  Provider,
  ProviderContext,
  SynchronousImageProvider,
  TaskProvider,
} from '../providers/provider.ts';

export interface OpenChannel {
  readonly config: ChannelConfig;
  readonly provider: Provider;
  context(credential: string, model: string, signal: AbortSignal): ProviderContext;
}

export type Channels = (id: string) => OpenChannel | undefined;

export interface ChannelsOptions extends KnownProviders {
  readonly requestOf: (channel: ChannelConfig) => HttpRequest;
  readonly links: ChannelLinks;
}

export interface ChannelLinks extends Pick<LinkRules, 'onWithheld'> {
  readonly check: (channel: ChannelConfig, url: string) => string | undefined;
}

export function createChannels(options: ChannelsOptions): Channels {
  const opened = new WeakMap<ChannelConfig, OpenChannel>();
  return (id) => {
    const config = options.current().channels.find((channel) => channel.id === id);
    const provider = config === undefined ? undefined : providerOf(options, config.provider);
    if (config === undefined || provider === undefined) return undefined;
    const channel = opened.get(config) ?? openChannel(config, provider, options);
    opened.set(config, channel);
    return channel;
  };
}

/** Wraps each channel's provider once. Every opened channel has a provider object of its own. */
export function withProviders(channels: Channels, wrap: (channel: OpenChannel) => Provider): Channels {
  const known = new WeakMap<Provider, Provider>();
  return (id) => {
    const channel = channels(id);
    if (channel === undefined) return undefined;
    const provider = known.get(channel.provider) ?? wrap(channel);
    known.set(channel.provider, provider);
    return { ...channel, provider };
  };
}

function openChannel(
  config: ChannelConfig,
  provider: Provider,
  { requestOf, links }: Pick<ChannelsOptions, 'requestOf' | 'links'>,
): OpenChannel {
  const request = requestOf(config);
  const { onWithheld } = links;
  return {
    config,
    provider: withUsableLinks(provider, { check: (url) => links.check(config, url), onWithheld }),
    context: (credentialId, model, signal) => {
      const credential = config.credentials.find((entry) => entry.id === credentialId);
      if (credential === undefined) throw new ChannelGoneError(config.id, `credential ${credentialId}`);
      return {
        request,
        credential: {
          id: credential.id,
          apiKey: credential.api_key,
          ...defined({ callbackSecret: credential.callback_secret }),
        },
        baseUrl: config.base_url,
        model: config.models[model]?.upstream ?? model,
        ...defined({ mapping: config.models[model]?.mapping, facts: config.models[model]?.facts }),
        signal,
      };
    },
  };
}

export class ChannelGoneError extends Error {
  constructor(channel: string, part?: string) {
    super(
      `gateway.yaml no longer has ${part === undefined ? '' : `${part} of `}channel ${channel}, ` +
        'which unfinished tasks depend on: restore it (enabled: false keeps new tasks away)',
    );
    this.name = 'ChannelGoneError';
  }
}

export interface LinkOwner {
  readonly channel: string;
  readonly credential: string;
  readonly kind: TaskKind;
  readonly model: string;
}

export type LinkHeaders = (url: string) => Readonly<Record<string, string>> | undefined;

export function linkHeadersOf(
  channels: Channels,
  { channel: id, credential, kind, model }: LinkOwner,
): LinkHeaders {
  const channel = channels(id);
  const provider = channel === undefined ? undefined : taskProviderFor(channel.provider, kind);
  if (channel === undefined || provider?.linkHeaders === undefined) return () => undefined;
  const { linkHeaders } = provider;
  return (url) => linkHeaders(url, channel.context(credential, model, new AbortController().signal));
}

/** Returns true if callers cannot use the vendor's links. The results must then be delivered as our own copies. */
export function mustBeCopied(
  channels: Channels,
  { channel: id, kind }: Pick<LinkOwner, 'channel' | 'kind'>,
): boolean {
  const channel = channels(id);
  const provider = channel === undefined ? undefined : taskProviderFor(channel.provider, kind);
  return provider !== undefined && isUnusable(provider);
}

export function isUnsearchable(
  channels: Channels,
  { channel: id, kind }: Pick<LinkOwner, 'channel' | 'kind'>,
): boolean {
  const channel = channels(id);
  const provider = channel === undefined ? undefined : taskProviderFor(channel.provider, kind);
  return provider !== undefined && provider.find === undefined;
}

export function taskProviderFor(
  provider: Provider,
  kind: TaskKind,
): TaskProvider<GenerationRequest> | undefined {
  if (kind === 'video') return provider.video === undefined ? undefined : narrow(provider.video, isVideo);
  const { imageTask, image } = provider;
  const part = imageTask ?? (image === undefined ? undefined : withoutJobs(image));
  return part === undefined ? undefined : narrow(part, isImage);
}

/** Returns a task adapter that rejects every call, because a synchronous upstream has no jobs to look up. */
function withoutJobs({ facts }: SynchronousImageProvider): ImageTaskProvider {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new UpstreamError('rejected', 'The upstream returns images directly and has no jobs.', {
        code: 'no_jobs',
      }),
    );
  return { facts, submit: refuse, status: refuse, cancelUntil: 'never' };
}

function isVideo(request: GenerationRequest): request is VideoRequest {
  return request.kind === 'video';
}

function isImage(request: GenerationRequest): request is ImageRequest {
  return request.kind === 'image';
}

function narrow<Request extends GenerationRequest>(
  provider: TaskProvider<Request>,
  isOurs: (request: GenerationRequest) => request is Request,
): TaskProvider<GenerationRequest> {
  const own = (request: GenerationRequest): Request => {
    if (!isOurs(request))
      throw new TypeError(`a request of kind ${request.kind} reached another kind's adapter`);
    return request;
  };
  const { submit, check: _check, find, estimateTokens, renders: _renders, ...rest } = provider;
  return {
    ...rest,
    submit: (request, context) => submit(own(request), context),
    ...(find === undefined
      ? {}
      : { find: ({ request, ...lost }, context) => find({ ...lost, request: own(request) }, context) }),
    ...(estimateTokens === undefined
      ? {}
      : { estimateTokens: (request, output, model) => estimateTokens(own(request), output, model) }),
  };
}
