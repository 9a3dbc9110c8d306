import type { Caller } from '../access/caller.ts';
import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';
import type { ImageRequest } from '../models/request.ts';
import { leavesPixelsOpen } from '../money/price.ts';
import { spenderOf } from '../access/spender.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { Catalogue, RoutePlan } from '../routing/catalogue.ts';
import type { Channels } from '../routing/channels.ts';
import type { CreatedTask, CreateTaskCommand } from '../commands/create-task.ts';
import { clientRepeat } from '../commands/repeats.ts';
import type { ClientTry, Repeat, Repeats } from '../commands/repeats.ts';
import { answerOnce } from './answer-once.ts';
import type { BodyPart, ImageAnswer } from './answer-once.ts';
import type { Delivery } from './call-channel.ts';
import { createImageConverter } from './convert.ts';
import { fingerprintImage } from './fingerprint.ts';
import type { Generate, Generated } from './generate.ts';
import { imageTaskCommand } from './image-task-command.ts';
import { pinPlan } from './pin-plan.ts';
import type { ResultForms } from './result-form.ts';
import type { ImageWorkspaces } from './workspace.ts';

export interface CreateImagesDeps {
  readonly catalogue: Pick<Catalogue, 'plan'>;
  readonly channels: Channels;
  readonly generate: Generate;
  readonly repeats: Repeats;
  readonly workspaces: ImageWorkspaces;
  readonly openMedia: GuardedClient['openMedia'];
  readonly forms: ResultForms;
  /** The images as upstreams get them. Throws GatewayError. */
  readonly linkMedia: (request: ImageRequest, caller: Caller) => Promise<ImageRequest>;
  /** Pixels of one reference image. */
  readonly pixelsMax: number;
  /** An id for an image request. */
  readonly newImage: () => string;
}

/** Whether to create a task even if the upstream answers at once. `preferred` does so only if results can be links. */
export type AsTask = boolean | 'preferred';

export interface CreateImagesCommand {
  readonly request: ImageRequest;
  /** Fields of it by what the caller wrote, where that is another name. */
  readonly named: Readonly<Record<string, string>>;
  /** Whether to refuse fields that the plan would ignore. */
  readonly strict?: true;
  readonly caller: Caller;
  /** The route's name: the scope of the idempotency key beside the account. */
  readonly route: string;
  /** Checked address. */
  readonly callbackUrl?: string;
  readonly expiresAfterSeconds?: number;
  readonly idempotencyKey?: string;
  readonly sent: ClientTry;
  readonly asTask: AsTask;
  readonly traceparent?: string;
  /** Aborted when the caller disconnects. Created on first use. */
  readonly closed: () => AbortSignal;
  /** Reserves memory until the answer. Throws GatewayError where there is none. */
  readonly reserve: (bytes: number) => void;
  /** Throws GatewayError where so much memory could not be reserved now. */
  readonly requireRoom: (bytes: number) => void;
  readonly createTask: (command: CreateTaskCommand) => Promise<CreatedTask>;
  readonly present: AnswerPresenter;
}

/** How a response is written, because it is kept exactly as it was sent. */
export interface AnswerPresenter {
  /** `warnings`: names of fields that the plan does not use. */
  readonly images: (delivery: Delivery, warnings: readonly string[]) => readonly BodyPart[];
  readonly error: (error: GatewayError) => string;
}

/** `image`: the task of its ledger entries. */
type Money = Omit<Generated, 'delivery'> & { readonly image: string };
type ChargedAnswer = ImageAnswer & Partial<Money>;

export type CreatedImages =
  /** `charge`: micro-units; absent: a repeat, which costs nothing. */
  | { readonly kind: 'answer'; readonly answer: ChargedAnswer }
  | { readonly kind: 'task'; readonly task: CreatedTask };

export type CreateImages = (command: CreateImagesCommand) => Promise<CreatedImages>;

/** One request for images: rendered while the caller waits, or a task, as the first channel of its plan renders. */
export function createImageService(deps: CreateImagesDeps): CreateImages {
  return async (command) => {
    const { request, named, strict, caller } = command;
    const plan = deps.catalogue.plan({ ...request, named, ...defined({ strict }) }, caller);
    const keyed = command.idempotencyKey !== undefined;
    const asTask = command.asTask === 'preferred' ? hasLinks(plan, deps) : command.asTask;
    const pinned = pinPlan(plan, { channels: deps.channels, keyed, asTask });
    const repeat = await repeatOf(command);
    // The results of tasks are links.
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

/** Where nothing is kept, there is no link to what came as data: such a channel is not asked. */
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
    `Model ${request.model} answers with data, and this gateway keeps no files to link to: use b64_json${asTask ? ', and wait for the answer' : ''}.`,
    { param: asTask ? 'async' : 'response_format' },
  );
}

function hasLinks(plan: RoutePlan, { forms }: CreateImagesDeps): boolean {
  return forms.keepsImages || candidatesWithLinks(plan)[0] === plan.candidates[0];
}

function candidatesWithLinks({ candidates, serving }: RoutePlan): RoutePlan['candidates'] {
  return candidates.filter(({ channel }) => serving.get(channel)?.facts.data_only !== true);
}

/** Of a large image as base64. */
const dataBytes = 8 * 1024 * 1024;

async function renderImages(
  command: CreateImagesCommand,
  { plan, repeat }: { readonly plan: RoutePlan; readonly repeat: Repeat },
  deps: CreateImagesDeps,
): Promise<ChargedAnswer> {
  const { caller, route, present, closed, traceparent } = command;
  const { openMedia, pixelsMax } = deps;
  const workspace = deps.workspaces.open();
  const converter = createImageConverter({ openMedia, workspace, pixelsMax });
  const ask = { scope: [caller.account, route], repeat, closed, presentError: present.error };
  const paid: { money?: Money } = {};
  try {
    const answer = await answerOnce(
      ask,
      async (image, keepParts) => {
        // A repeat gets its answer, though the file may be gone by then.
        const request = await deps.linkMedia(command.request, caller);
        // What is to be fetched and has no room is refused before it is rendered, and billed.
        const isFetched = request.responseFormat === 'b64_json' && candidatesWithLinks(plan).length > 0;
        if (isFetched) command.requireRoom(dataBytes);
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
        paid.money = { ...money, image };
        return partsOf(delivery);
      },
      deps,
    );
    return { ...answer, ...paid.money };
  } finally {
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
