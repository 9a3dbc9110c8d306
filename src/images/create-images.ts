import type { Caller } from '../access/caller.ts';
import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';
import type { ImageRequest } from '../models/request.ts';
import { leavesPixelsOpen } from '../money/price.ts';
import { spenderOf } from '../access/spender.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { Catalogue, RoutePlan } from '../routing/catalogue.ts';
import type { Channels } from '../routing/channels.ts';
import { answersWithData, withStorage, type StorageRefusal } from '../routing/storage-room.ts';
import type { CreatedTask, CreateTaskCommand } from '../commands/create-task.ts';
import { clientRepeat, type ClientTry, type Repeat, type Repeats } from '../commands/repeats.ts';
import { answerOnce, type BodyPart, type ImageAnswer } from './answer-once.ts';
import type { Delivery } from './call-channel.ts';
import { createImageConverter } from './convert.ts';
import { fingerprintImage } from './fingerprint.ts';
import type { Generate, Generated } from './generate.ts';
import { imageTaskCommand } from './image-task-command.ts';
import { pinPlan } from './pin-plan.ts';
import type { ResultForms } from './result-form.ts';
import type { FetchedImages } from './fetched-images.ts';
import type { ImageWorkspaces } from './workspace.ts';

export interface CreateImagesDeps {
  readonly catalogue: Pick<Catalogue, 'buyer' | 'plan'>;
  readonly channels: Channels;
  readonly generate: Generate;
  readonly repeats: Repeats;
  readonly workspaces: ImageWorkspaces;
  readonly fetchedImages: FetchedImages;
  readonly openMedia: GuardedClient['openMedia'];
  readonly forms: ResultForms;
  readonly storageRefusal: StorageRefusal;
  readonly linkMedia: (request: ImageRequest, caller: Caller) => Promise<ImageRequest>;
  readonly pixelsMax: number;
  readonly newImage: () => string;
}

/**
 * If true, even a synchronous upstream is called in a task. `preferred` creates a task only if its results can be
 * links.
 */
export type AsTask = boolean | 'preferred';

export interface CreateImagesCommand {
  readonly request: ImageRequest;
  readonly named: Readonly<Record<string, string>>;
  readonly strict?: true;
  readonly caller: Caller;
  readonly route: string;
  readonly callbackUrl?: string;
  readonly expiresAfterSeconds?: number;
  readonly idempotencyKey?: string;
  readonly sent: ClientTry;
  readonly asTask: AsTask;
  readonly traceparent?: string;
  readonly closed: () => AbortSignal;
  readonly reserve: (bytes: number) => void;
  /** Throws GatewayError if this much memory is not available at present. Reserves nothing. */
  readonly requireRoom: (bytes: number) => void;
  readonly createTask: (command: CreateTaskCommand) => Promise<CreatedTask>;
  readonly present: AnswerPresenter;
}

/** Responses are stored exactly as sent, so they are formatted as text. */
export interface AnswerPresenter {
  readonly images: (delivery: Delivery, warnings: readonly string[]) => readonly BodyPart[];
  readonly error: (error: GatewayError) => string;
}

type Money = Omit<Generated, 'delivery'>;
type ChargedAnswer = ImageAnswer & Partial<Money>;

export type CreatedImages =
  /** `charge` is in micro-units. Undefined for a repeated request, which is free. */
  | { readonly kind: 'answer'; readonly answer: ChargedAnswer }
  | { readonly kind: 'task'; readonly task: CreatedTask };

export type CreateImages = (command: CreateImagesCommand) => Promise<CreatedImages>;

/** The plan's first channel determines whether the caller waits for the images or gets a task. */
export function createImageService(deps: CreateImagesDeps): CreateImages {
  return async (command) => {
    const { request, named, strict, caller } = command;
    const buyer = await deps.catalogue.buyer(caller);
    const plan = deps.catalogue.plan({ ...request, named, ...defined({ strict }) }, buyer);
    const keyed = command.idempotencyKey !== undefined;
    const asTask = command.asTask === 'preferred' ? hasLinks(plan, deps) : command.asTask;
    const pinned = pinPlan(plan, { channels: deps.channels, keyed, asTask });
    const repeat = await repeatOf(command);
    // A task's results are always links.
    const format = asTask ? 'url' : pinned.mode === 'task' ? undefined : request.responseFormat;
    const deliverable = format === 'url' ? withLinks(pinned.plan, { request, asTask }, deps) : pinned.plan;
    if (pinned.mode === 'task') {
      const linked = (inlined: ImageRequest) => deps.linkMedia(inlined, caller);
      const asked = await imageTaskCommand(command, { plan: deliverable, repeat, linked });
      return { kind: 'task', task: await command.createTask(asked) };
    }
    const rendering = { plan: deliverable, repeat };
    const answer = await renderImages(command, rendering, deps);
    return { kind: 'answer', answer };
  };
}

/** Keeps only channels that can provide links. If copies are not stored, a channel that responds with data cannot. */
function withLinks(
  plan: RoutePlan,
  { request, asTask }: { readonly request: ImageRequest; readonly asTask: boolean },
  deps: CreateImagesDeps,
): RoutePlan {
  if (deps.forms.keepsImages) return plan;
  const candidates = candidatesWithLinks(plan);
  if (candidates.length > 0) return { ...plan, candidates };
  throw new GatewayError(
    'unsupported_parameter',
    `Model ${request.model} returns image data, and this gateway does not store files, so it cannot return a link. Use b64_json${asTask ? ' and wait for the response' : ''}.`,
    { param: asTask ? 'async' : 'response_format' },
  );
}

function hasLinks(plan: RoutePlan, { forms }: CreateImagesDeps): boolean {
  return forms.keepsImages || candidatesWithLinks(plan)[0] === plan.candidates[0];
}

function candidatesWithLinks(plan: RoutePlan): RoutePlan['candidates'] {
  return plan.candidates.filter(({ channel }) => !answersWithData(plan, channel));
}

function mayReturnData(plan: RoutePlan, { responseFormat }: ImageRequest): boolean {
  const withData = () => plan.candidates.some(({ channel }) => answersWithData(plan, channel));
  return responseFormat === 'b64_json' || (responseFormat === undefined && withData());
}

const dataBytes = 8 * 1024 * 1024;

async function renderImages(
  command: CreateImagesCommand,
  { plan: whole, repeat }: { readonly plan: RoutePlan; readonly repeat: Repeat },
  deps: CreateImagesDeps,
): Promise<ChargedAnswer> {
  const { caller, route, present, closed, traceparent } = command;
  const { openMedia, pixelsMax } = deps;
  const workspace = deps.workspaces.open();
  const space = deps.fetchedImages.open(caller.account);
  const { reserve } = space;
  const converter = createImageConverter({ openMedia, workspace, pixelsMax, reserve });
  const waiting = { closed, reserve: command.reserve };
  const ask = { scope: [caller.account, route], repeat, ...waiting, presentError: present.error };
  const paid: { money?: Money } = {};
  try {
    const answer = await answerOnce(
      ask,
      async (image, keepParts) => {
        // Resolve links to stored files only for the first request. A repeated request gets the stored response even if
        // a file has since been deleted.
        const request = await deps.linkMedia(command.request, caller);
        const needsStorage = (channel: string) =>
          request.responseFormat === 'url' && answersWithData(whole, channel);
        const plan = await withStorage(whole, needsStorage, deps.storageRefusal);
        // If there is no memory for these images, reject the request before it is rendered and billed.
        if (mayReturnData(plan, request)) command.requireRoom(dataBytes);
        const partsOf = (made: Delivery) => present.images(made, plan.warnings);
        const keep = keepParts === undefined ? undefined : (made: Delivery) => keepParts(partsOf(made));
        const asked = { image, format: request.responseFormat, reserve: command.reserve };
        const inForm = (made: Delivery, channel: string) =>
          deps.forms.convert(made, {
            ...asked,
            channel,
            measuresLinks: leavesPixelsOpen(plan.basis, channel),
          });
        const by = spenderOf(caller, plan.model.id, request);
        const order = { image, account: caller.account, by, request, plan, converter, inForm };
        const { delivery, ...money } = await deps.generate({ ...order, ...defined({ keep, traceparent }) });
        paid.money = money;
        return partsOf(delivery);
      },
      deps,
    );
    return { ...answer, ...paid.money };
  } finally {
    space.release();
    await workspace.dispose();
  }
}

async function repeatOf(command: CreateImagesCommand): Promise<Repeat> {
  const { idempotencyKey: key, sent, request, caller } = command;
  const fingerprint = await fingerprintImage(request, [
    command.callbackUrl,
    command.expiresAfterSeconds,
    command.asTask,
  ]);
  return key === undefined ? clientRepeat(caller, sent, fingerprint) : { kind: 'key', key, fingerprint };
}
