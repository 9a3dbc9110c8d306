import type { Channels } from '../routing/channels.ts';
import type { RoutePlan } from '../routing/catalogue.ts';
import type { ImageRequest } from '../domain/request.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ImageResultStore } from '../store/image-results.ts';
import { createGenerate } from './generate.ts';
import type { GenerateCommand, GenerateDeps } from './generate.ts';
import type { Delivery } from './call-channel.ts';
import { synchronousIssue } from '../routing/image-forms.ts';
import type { ImageWorkspaces } from './workspace.ts';

export interface ImageLimits {
  /** JSON or form. */
  readonly bodyBytesMax: number;
  /** Files, or reference images, of one request. */
  readonly filesMax: number;
  /** Pixels of one reference image. */
  readonly pixelsMax: number;
  /** Answers larger than this are not kept for a repeat of their request. */
  readonly keptBytesMax: number;
}

/** What the image routes stand on. Built by src/api.ts. */
export interface ImageService {
  readonly limits: ImageLimits;
  readonly workspaces: ImageWorkspaces;
  readonly openMedia: GuardedClient['openMedia'];
  readonly results: ImageResultStore;
  readonly isSettled: (image: string) => Promise<boolean>;
  readonly secret: Buffer;
  /** An id for an image request. */
  readonly newImage: () => string;
  generate(command: GenerateCommand): Promise<Delivery>;
  /** The part of the plan that one request uses: only channels that answer at once, or only such that make a task. */
  pin(plan: RoutePlan, request: ImageRequest, keyed: boolean): PinnedPlan;
}

export interface PinnedPlan {
  readonly mode: 'synchronous' | 'task';
  readonly plan: RoutePlan;
}

export interface ImageServiceOptions extends GenerateDeps {
  readonly limits: ImageLimits;
  readonly workspaces: ImageWorkspaces;
  readonly openMedia: GuardedClient['openMedia'];
  readonly results: ImageResultStore;
  readonly ledger: Pick<Ledger, 'hold' | 'settle' | 'release' | 'entriesOfTask'>;
  readonly secret: Buffer;
}

export function createImageService(options: ImageServiceOptions): ImageService {
  const { limits, workspaces, openMedia, results, ledger, secret, channels } = options;
  return {
    limits,
    workspaces,
    openMedia,
    results,
    secret,
    newImage: () => options.imageLeases.newImage(),
    isSettled: async (image) => (await ledger.entriesOfTask(image)).some(({ kind }) => kind === 'settle'),
    generate: createGenerate(options),
    pin: (plan, request, keyed) => pinPlan(plan, { channels, request, keyed }),
  };
}

interface PinContext {
  readonly channels: Channels;
  readonly request: ImageRequest;
  /** The request may come again and must then take the same way: the draw by weight does not decide. */
  readonly keyed: boolean;
}

function pinPlan(plan: RoutePlan, context: PinContext): PinnedPlan {
  const modes = new Map(plan.candidates.map(({ channel }) => [channel, modeOf(channel, context)]));
  const [first] = context.keyed ? [...modes.keys()].sort(byRank(context.channels)) : modes.keys();
  const mode = modes.get(first ?? '') ?? 'synchronous';
  return {
    mode,
    plan: { ...plan, candidates: plan.candidates.filter(({ channel }) => modes.get(channel) === mode) },
  };
}

/** As the catalogue sees it: a channel that can do both answers at once. */
function modeOf(id: string, { channels, request }: PinContext): PinnedPlan['mode'] {
  const channel = channels(id);
  const synchronous = channel?.provider.image;
  if (channel === undefined || synchronous === undefined) return 'task';
  const upstream = channel.config.models[request.model]?.upstream ?? request.model;
  if (channel.provider.imageTask === undefined) return 'synchronous';
  return synchronousIssue(synchronous, request, upstream) === undefined ? 'synchronous' : 'task';
}

function byRank(channels: Channels) {
  const priority = (id: string): number => channels(id)?.config.priority ?? 0;
  return (a: string, b: string): number => priority(b) - priority(a) || (a < b ? -1 : 1);
}
