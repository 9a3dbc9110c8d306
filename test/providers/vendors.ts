import type { FailureClass } from '../../src/errors/failure.ts';
import type { GenerationRequest, ImageRequest } from '../../src/models/request.ts';
import type { TaskKind } from '../../src/base/task-kind.ts';
import { defined } from '../../src/base/defined.ts';
import { providers } from '../../src/providers/index.ts';
import type {
  Operation,
  OperationStatus,
  Provider,
  ProviderContext,
  SubmitContext,
  Submitted,
  SynchronousImageProvider,
  TaskProvider,
} from '../../src/providers/provider.ts';
import { fieldMappingSchema } from '../../src/models/field-mapping.ts';
import type { FieldMapping } from '../../src/models/field-mapping.ts';
import { imageRequest, videoRequest } from './support.ts';

/** Every adapter that runs jobs, beside its dialect of the simulator: one row each. */

interface Row {
  readonly name: string;
  /** Below the simulator's address. */
  readonly path: string;
  /** The upstream's name of a model. */
  readonly model: string;
  /** What the dialect's moderation after the submit stands for. */
  readonly moderatedLater: FailureClass;
  /** Its answers say nothing of what was rendered. */
  readonly reportsNothing?: true;
  /** Where the dialect lets less be cancelled than the adapter can. */
  readonly cancelUntil?: TaskProvider<never>['cancelUntil'];
  /** No submit is refused for its content: the job says so. */
  readonly inspectsInJob?: true;
  /** What the dialect's moderation of the input stands for, where the vendor does not say which it was. */
  readonly moderatedBefore?: FailureClass;
  /** No answer says what is billed: what was asked for counts, or the files that came. */
  readonly billsUntold?: true;
  /** A cancelled job cannot be asked for any more. */
  readonly forgetsCancelled?: true;
  /** The vendor's list has none of this model's jobs: each is asked about alone. */
  readonly unlisted?: true;
  /** Of a provider that knows its models by their mappings. */
  readonly mapping?: FieldMapping;
  /** Its mapping has no field for a text of ours: nothing finds a lost job. */
  readonly unmarked?: true;
  /** Lost jobs are found by the address that they call back. */
  readonly callbackUrl?: string;
}

/** A row with its request filled in. */
export interface JobVendor extends Row {
  readonly part: Pick<TaskProvider<never>, 'cancelUntil'> & {
    readonly finds: boolean;
    readonly lists: boolean;
    /** Of many jobs and of one, as the poller asks for them. */
    readonly questions: Pick<TaskProvider<never>, 'status' | 'list' | 'listMax'>;
  };
  readonly kind: TaskKind;
  submit(prompt: string, context: SubmitContext): Promise<Submitted>;
  status(operation: Operation, context: ProviderContext): Promise<OperationStatus>;
  linkHeaders(url: string, context: ProviderContext): Readonly<Record<string, string>>;
  cancel(operation: Operation, context: ProviderContext): Promise<'cancelled' | 'refused' | undefined>;
  /** Undefined: it cannot ask for many at once. */
  list(
    operations: readonly Operation[],
    context: ProviderContext,
  ): Promise<ReadonlyMap<string, OperationStatus> | undefined>;
  /** Undefined: it cannot look. */
  find(prompt: string, marker: string, context: ProviderContext): Promise<readonly Submitted[] | undefined>;
}

export interface ImageVendor {
  readonly name: string;
  readonly path: string;
  readonly model: string;
  readonly image: SynchronousImageProvider;
  readonly request: (prompt: string) => ImageRequest;
}

function jobs<Request extends GenerationRequest>(
  part: TaskProvider<Request> | undefined,
  request: (prompt: string) => Request,
  row: Row,
): JobVendor {
  if (part === undefined) throw new Error(`${row.name} has no such adapter`);
  const { mapping, callbackUrl } = row;
  const mapped = <Context extends ProviderContext>(context: Context) => ({
    ...context,
    ...defined({ mapping }),
  });
  return {
    ...row,
    kind: request('').kind,
    part: defined({
      cancelUntil: part.cancelUntil,
      finds: part.find !== undefined,
      lists: part.list !== undefined,
      questions: defined({
        status: (operation: Operation, context: ProviderContext) => part.status(operation, mapped(context)),
        list: part.list,
        listMax: part.listMax,
      }),
    }),
    submit: (prompt, context) =>
      part.submit(request(prompt), { ...mapped(context), ...defined({ callbackUrl }) }),
    status: (operation, context) => part.status(operation, mapped(context)),
    cancel: async (operation, context) => part.cancel?.(operation, mapped(context)),
    list: async (operations, context) => part.list?.(operations, mapped(context)),
    linkHeaders: (url, context) => part.linkHeaders?.(url, context) ?? {},
    find: async (prompt, marker, context) => {
      // The simulator's clock is put forward by the tests.
      const window = { sentAfter: Date.now() - 60_000, sentBefore: Date.now() + 3650 * 86_400_000 };
      return part.find?.({ request: request(prompt), marker, ...window }, mapped(context));
    },
  };
}

function image(name: string, row: Pick<ImageVendor, 'path' | 'model'>): ImageVendor {
  const part = find(name).image;
  if (part === undefined) throw new Error(`${name} makes no images at once`);
  return { name, image: part, request: (prompt) => imageRequest({ prompt, size: '2048x2048' }), ...row };
}

function find(name: string): Provider {
  const provider = providers[name];
  if (provider === undefined) throw new Error(`no adapter is called ${name}`);
  return provider;
}

const video = (prompt: string) => videoRequest({ prompt, resolution: '720p', ratio: '16:9', duration: 5 });
const video768 = (prompt: string) => ({ ...video(prompt), resolution: '768p' });
const picture = (prompt: string) => imageRequest({ prompt, size: '1024x1024' });

/** Nobody listens there. */
const callbackUrl = 'https://127.0.0.1:9/callbacks/upstream/t1/secret';
const videoMapping = fieldMappingSchema.parse({
  fields: { prompt: 'prompt', duration: 'duration', resolution: 'resolution', ratio: 'aspect_ratio' },
  result: 'output',
  facts: { duration: 'input.duration' },
});
const falVideoMapping = fieldMappingSchema.parse({
  fields: {
    prompt: 'prompt',
    duration: { name: 'duration', form: 'text' },
    resolution: 'resolution',
    ratio: 'aspect_ratio',
  },
  marker: 'end_user_id',
  result: 'video.url',
  cost: { unit: 'USD', price: '0.014' },
});
const falPictureMapping = fieldMappingSchema.parse({
  fields: { prompt: 'prompt', size: { name: 'image_size', form: 'object' } },
  result: 'images[].url',
  cost: { unit: 'USD', price: '0.03' },
});
const pictureMapping = fieldMappingSchema.parse({
  fields: { prompt: 'prompt', size: { name: ['width', 'height'], form: 'sides' } },
  constants: { aspect_ratio: 'custom', output_format: 'png' },
  result: 'output',
});

export const jobVendors: readonly JobVendor[] = [
  jobs(find('ark').video, video, {
    name: 'ark',
    path: '/ark/api/v3',
    model: 'doubao-seedance-2-0-260128',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('dashscope').video, video, {
    name: 'dashscope video',
    path: '/dashscope/api/v1',
    model: 'wan2.6-t2v',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('dashscope').video, video, {
    name: 'dashscope Wan 3.0',
    path: '/dashscope/api/v1',
    model: 'wan3.0-video',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('dashscope').video, video, {
    name: 'dashscope Wan 3.0 Prime',
    path: '/dashscope/api/v1',
    model: 'wan3.0-video-prime',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('dashscope').video, video, {
    name: 'dashscope HappyHorse',
    path: '/dashscope/api/v1',
    model: 'happyhorse-1.1-t2v',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('dashscope').imageTask, picture, {
    name: 'dashscope image',
    billsUntold: true,
    path: '/dashscope/api/v1',
    model: 'wan2.5-t2i-preview',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('fal').video, video, {
    name: 'fal',
    path: '/fal',
    model: 'bytedance/seedance-2.0/text-to-video',
    mapping: falVideoMapping,
    callbackUrl,
    moderatedLater: 'moderation_output',
    inspectsInJob: true,
  }),
  jobs(find('fal').imageTask, picture, {
    name: 'fal image',
    path: '/fal',
    model: 'fal-ai/flux-2-pro',
    mapping: falPictureMapping,
    unmarked: true,
    moderatedLater: 'moderation_output',
    inspectsInJob: true,
  }),
  jobs(find('kling').video, video, {
    name: 'kling',
    path: '/kling',
    model: 'kling-3.0',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('kling').video, video, {
    name: 'kling omni',
    path: '/kling',
    model: 'kling-3.0-omni',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('kling').video, video, {
    name: 'kling legacy',
    unlisted: true,
    path: '/kling',
    model: 'kling-v2-6',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('kling').imageTask, picture, {
    name: 'kling image',
    path: '/kling',
    model: 'kling-v3',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('luma').video, video, {
    name: 'luma',
    path: '/luma/v1',
    model: 'ray-3.2',
    moderatedLater: 'moderation_input',
    inspectsInJob: true,
    reportsNothing: true,
    billsUntold: true,
  }),
  jobs(find('luma').imageTask, (prompt) => imageRequest({ prompt, size: '2048x2048' }), {
    name: 'luma image',
    path: '/luma/v1',
    model: 'uni-1',
    moderatedLater: 'moderation_input',
    inspectsInJob: true,
    billsUntold: true,
  }),
  jobs(find('minimax').video, video768, {
    name: 'minimax v2',
    path: '/minimax',
    model: 'MiniMax-H3',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('minimax').video, (prompt) => ({ ...video768(prompt), duration: 6 }), {
    name: 'minimax v1',
    billsUntold: true,
    unlisted: true,
    path: '/minimax',
    model: 'MiniMax-Hailuo-2.3',
    moderatedLater: 'moderation_output',
    cancelUntil: 'never',
  }),
  jobs(find('openrouter').video, video, {
    name: 'openrouter',
    path: '/openrouter/api/v1',
    model: 'bytedance/seedance-2.0',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('replicate').video, video, {
    name: 'replicate',
    billsUntold: true,
    path: '/replicate/v1',
    model: 'bytedance/seedance-2.0',
    mapping: videoMapping,
    callbackUrl,
    moderatedBefore: 'moderation_output',
    moderatedLater: 'moderation_output',
    inspectsInJob: true,
  }),
  jobs(find('replicate').imageTask, picture, {
    name: 'replicate image',
    billsUntold: true,
    path: '/replicate/v1',
    model: 'black-forest-labs/flux-2-pro',
    mapping: pictureMapping,
    callbackUrl,
    moderatedBefore: 'moderation_output',
    moderatedLater: 'moderation_output',
    inspectsInJob: true,
  }),
  jobs(find('runway').video, video, {
    name: 'runway',
    path: '/runway',
    model: 'gen4.5',
    moderatedLater: 'moderation_output',
    inspectsInJob: true,
    forgetsCancelled: true,
  }),
  jobs(find('runway').imageTask, picture, {
    name: 'runway image',
    path: '/runway',
    model: 'gen4_image',
    moderatedLater: 'moderation_output',
    inspectsInJob: true,
    forgetsCancelled: true,
  }),
  jobs(find('bfl').video, video, {
    name: 'bfl video',
    path: '/bfl',
    model: 'flux-3-video',
    moderatedLater: 'moderation_output',
    inspectsInJob: true,
  }),
  jobs(find('bfl').imageTask, picture, {
    name: 'bfl image',
    path: '/bfl',
    model: 'flux-2-pro',
    moderatedLater: 'moderation_output',
    inspectsInJob: true,
  }),
  jobs(find('bfl').imageTask, picture, {
    name: 'bfl FLUX 3 image',
    path: '/bfl',
    model: 'flux-3-image',
    moderatedLater: 'moderation_output',
    inspectsInJob: true,
  }),
  jobs(find('bfl').imageTask, picture, {
    name: 'bfl FLUX 3 image klein',
    path: '/bfl',
    model: 'flux-3-image-klein',
    moderatedLater: 'moderation_output',
    inspectsInJob: true,
  }),
  jobs(find('vidu').video, video, {
    name: 'vidu',
    path: '/vidu',
    model: 'viduq3-pro',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('xai').video, video, {
    name: 'xai',
    path: '/xai/v1',
    model: 'grok-imagine-video',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('google').video, video, {
    name: 'google Omni',
    path: '/google/v1beta',
    model: 'gemini-omni-1.1-flash',
    moderatedLater: 'moderation_output',
  }),
  jobs(find('google').video, (prompt) => ({ ...video(prompt), duration: 8 }), {
    name: 'google Veo',
    path: '/google/v1beta',
    model: 'veo-3.1-generate-preview',
    moderatedLater: 'moderation_output',
    reportsNothing: true,
    billsUntold: true,
    cancelUntil: 'never',
  }),
  jobs(find('gateway').video, video, {
    name: 'gateway, task dialect',
    path: '/new-api/v1',
    model: 'doubao-seedance-2-0-260128',
    moderatedLater: 'moderation_output',
    cancelUntil: 'never',
  }),
  jobs(find('gateway').video, video, {
    name: 'gateway, videos dialect',
    billsUntold: true,
    path: '/new-api/v1/videos',
    model: 'doubao-seedance-2-0-260128',
    moderatedLater: 'moderation_output',
    cancelUntil: 'never',
  }),
];

export const imageVendors: readonly ImageVendor[] = [
  image('ark', { path: '/ark/api/v3', model: 'doubao-seedream-4-0-250828' }),
  image('ark', { path: '/ark/api/v3', model: 'dola-seedream-5-0-pro-260628' }),
  image('ark', { path: '/ark/api/v3', model: 'dola-seedream-5-5-261028' }),
  image('ark', { path: '/ark/api/v3', model: 'seedream-5-0-260128' }),
  image('google', { path: '/google/v1beta', model: 'gemini-nano-banana-2.1' }),
  {
    ...image('google', { path: '/google/v1beta', model: 'gemini-3.1-flash-lite-image' }),
    request: picture,
  },
  image('openai', { path: '/openai/v1', model: 'gpt-image-2' }),
  image('openai', { path: '/openai/v1', model: 'gpt-image-2.6-sunburst' }),
  { ...image('dashscope', { path: '/dashscope/api/v1', model: 'wan2.7-image' }), request: picture },
  { ...image('dashscope', { path: '/dashscope/api/v1', model: 'qwen-image-2.0' }), request: picture },
  { ...image('dashscope', { path: '/dashscope/api/v1', model: 'wan2.6-image' }), request: picture },
  { ...image('xai', { path: '/xai/v1', model: 'grok-imagine-image-2.0' }), request: picture },
  { ...image('minimax', { path: '/minimax', model: 'image-01' }), request: picture },
  { ...image('minimax', { path: '/minimax', model: 'MiniMax-H3-Image' }), request: picture },
  { ...image('minimax', { path: '/minimax', model: 'MiniMax-H3-Image-Highspeed' }), request: picture },
  {
    ...image('stability', { path: '/stability', model: 'sd3.5-large' }),
    request: (prompt) => ({ ...picture(prompt), extra: { strength: 0.5 } }),
  },
];
