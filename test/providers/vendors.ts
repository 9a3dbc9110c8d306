import type { FailureClass } from '../../src/errors/failure.ts';
import type { GenerationRequest, ImageRequest, VideoRequest } from '../../src/models/request.ts';
import type { TaskKind } from '../../src/base/task-kind.ts';
import { defined } from '../../src/base/defined.ts';
import { providers } from '../../src/providers/index.ts';
import type { Operation, OperationStatus, Provider, ProviderContext } from '../../src/providers/provider.ts';
import type { SubmitContext, Submitted, SynchronousImageProvider } from '../../src/providers/provider.ts';
import type { TaskProvider } from '../../src/providers/provider.ts';
import { fieldMappingSchema, type FieldMapping } from '../../src/models/field-mapping.ts';
import { klingCallbackSecret } from '../../workshop/simulator/dialects/kling.ts';
import { replicateWebhookSecret } from '../../workshop/simulator/dialects/replicate.ts';
import { imageRequest, videoRequest } from './support.ts';

/** One row per adapter that runs jobs, with the simulator's dialect for it. */

interface Row {
  readonly name: string;
  readonly path: string;
  readonly model: string;
  readonly moderatedLater: FailureClass;
  readonly reportsNothing?: true;
  /** Set only if the dialect refuses to cancel earlier than the adapter does. */
  readonly cancelUntil?: TaskProvider<never>['cancelUntil'];
  readonly inspectsInJob?: true;
  readonly moderatedBefore?: FailureClass;
  readonly billsUntold?: true;
  readonly forgetsCancelled?: true;
  readonly unlisted?: true;
  /** After these faults, it is certain that a job costs nothing. Only such jobs may be replaced. */
  readonly unbilled?: readonly ('failed' | 'moderation-in-task')[];
  readonly mapping?: FieldMapping;
  readonly unmarked?: true;
  readonly callbackSecret?: string;
  readonly uncalled?: true;
  readonly callbackUrl?: string;
}

export interface JobVendor extends Row {
  readonly part: Pick<TaskProvider<never>, 'cancelUntil'> & {
    readonly finds: boolean;
    readonly lists: boolean;
    readonly questions: Pick<TaskProvider<never>, 'status' | 'list' | 'listMax'>;
    readonly callbacks: Pick<TaskProvider<never>, 'parseCallback' | 'verifyCallback'>;
  };
  readonly kind: TaskKind;
  submit(prompt: string, context: SubmitContext): Promise<Submitted>;
  status(operation: Operation, context: ProviderContext): Promise<OperationStatus>;
  linkHeaders(url: string, context: ProviderContext): Readonly<Record<string, string>>;
  cancel(operation: Operation, context: ProviderContext): Promise<'cancelled' | 'refused' | undefined>;
  list(
    operations: readonly Operation[],
    context: ProviderContext,
  ): Promise<ReadonlyMap<string, OperationStatus> | undefined>;
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
      callbacks: defined({ parseCallback: part.parseCallback, verifyCallback: part.verifyCallback }),
      finds: part.find !== undefined,
      lists: part.list !== undefined,
      questions: defined({
        status: (operation: Operation, context: ProviderContext) => part.status(operation, mapped(context)),
        list: part.list,
        listMax: part.listMax,
      }),
    }),
    submit: (prompt, context) =>
      part.submit(request(prompt), { ...defined({ callbackUrl }), ...mapped(context) }),
    status: (operation, context) => part.status(operation, mapped(context)),
    cancel: async (operation, context) => part.cancel?.(operation, mapped(context)),
    list: async (operations, context) => part.list?.(operations, mapped(context)),
    linkHeaders: (url, context) => part.linkHeaders?.(url, context) ?? {},
    find: async (prompt, marker, context) => {
      // The window is wide enough for slow tests and for tests that advance the simulator's clock.
      const window = { sentAfter: Date.now() - 3_600_000, sentBefore: Date.now() + 3650 * 86_400_000 };
      return part.find?.({ request: request(prompt), marker, ...window }, mapped(context));
    },
  };
}

function image(
  name: string,
  model: string,
  asked: Partial<ImageRequest> = { size: '1024x1024' },
): ImageVendor {
  const part = find(name).image;
  if (part === undefined) throw new Error(`${name} makes no images at once`);
  return {
    name,
    path: pathOf(name),
    model,
    image: part,
    request: (prompt) => imageRequest({ ...asked, prompt }),
  };
}

function find(name: string): Provider {
  const provider = providers[name];
  if (provider === undefined) throw new Error(`no adapter is called ${name}`);
  return provider;
}

const callbackUrl = 'https://127.0.0.1:9/callbacks/upstream/t1/secret';
const videoMapping = fieldMappingSchema.parse({
  fields: { prompt: 'prompt', duration: 'duration', resolution: 'resolution', ratio: 'aspect_ratio' },
  result: 'output',
  facts: { duration: 'input.duration' },
  cost: { units: 'metrics.predict_time', unit: 'USD', price: '0.001' },
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

const paths: Readonly<Record<string, string>> = {
  ark: '/ark/api/v3',
  dashscope: '/dashscope/api/v1',
  google: '/google/v1beta',
  gateway: '/new-api/v1',
  luma: '/luma/v1',
  openai: '/openai/v1',
  openrouter: '/openrouter/api/v1',
  replicate: '/replicate/v1',
  xai: '/xai/v1',
};
const pathOf = (provider: string): string => paths[provider] ?? `/${provider}`;

type Differences = Partial<Row> & { readonly asks?: Partial<VideoRequest> };

function videoJobs(provider: string, name: string, model: string, more: Differences = {}): JobVendor {
  const { asks = {}, ...row } = more;
  const usual = { resolution: '720p', ratio: '16:9', duration: 5, ...asks };
  return jobs(find(provider).video, (prompt) => videoRequest({ prompt, ...usual }), {
    ...rowOf(provider, name, model),
    ...row,
  });
}

function imageJobs(provider: string, model: string, more: Partial<Row> & { size?: string } = {}): JobVendor {
  const { size = '1024x1024', ...row } = more;
  return jobs(find(provider).imageTask, (prompt) => imageRequest({ prompt, size }), {
    ...rowOf(provider, `${provider} image`, model),
    ...row,
  });
}

const rowOf = (provider: string, name: string, model: string): Row => ({
  name,
  path: pathOf(provider),
  model,
  moderatedLater: 'moderation_output',
});

const inJob = { inspectsInJob: true } as const;
const free = { unbilled: ['failed', 'moderation-in-task'] } as const;
const freeFailures = { ...inJob, unbilled: ['failed'] } as const;
const freeModeration = { unbilled: ['moderation-in-task'] } as const;
const untold = { billsUntold: true } as const;
const kling = { callbackSecret: klingCallbackSecret };
const luma = { ...inJob, ...untold, moderatedLater: 'moderation_input' } as const;
const minimax1 = { ...untold, unlisted: true, cancelUntil: 'never', asks: { resolution: '768p', duration: 6 } } as const; // prettier-ignore
const replicate = { ...inJob, ...untold, callbackSecret: replicateWebhookSecret, callbackUrl, moderatedBefore: 'moderation_output' } as const; // prettier-ignore
const runway = { ...inJob, ...free, forgetsCancelled: true } as const;
const bfl = { ...inJob, ...freeModeration } as const;

export const jobVendors: readonly JobVendor[] = [
  videoJobs('ark', 'ark', 'doubao-seedance-2-0-260128', free),
  videoJobs('dashscope', 'dashscope video', 'wan2.6-t2v', free),
  videoJobs('dashscope', 'dashscope Wan 3.0', 'wan3.0-video', free),
  videoJobs('dashscope', 'dashscope Wan 3.0 Prime', 'wan3.0-video-prime', free),
  videoJobs('dashscope', 'dashscope HappyHorse', 'happyhorse-1.1-t2v', free),
  imageJobs('dashscope', 'wan2.5-t2i-preview', { ...untold, ...free }),
  videoJobs('fal', 'fal', 'bytedance/seedance-2.0/text-to-video', { ...freeFailures, mapping: falVideoMapping, callbackUrl }),
  imageJobs('fal', 'fal-ai/flux-2-pro', { ...freeFailures, mapping: falPictureMapping, unmarked: true }),
  videoJobs('kling', 'kling', 'kling-3.0', kling),
  videoJobs('kling', 'kling omni', 'kling-3.0-omni', kling),
  videoJobs('kling', 'kling legacy', 'kling-v2-6', { ...kling, unlisted: true }),
  imageJobs('kling', 'kling-v3', kling),
  videoJobs('luma', 'luma', 'ray-3.2', { ...luma, reportsNothing: true }),
  imageJobs('luma', 'uni-1', { ...luma, size: '2048x2048' }),
  videoJobs('minimax', 'minimax v2', 'MiniMax-H3', { ...free, asks: { resolution: '768p' } }),
  videoJobs('minimax', 'minimax v1', 'MiniMax-Hailuo-2.3', minimax1),
  videoJobs('openrouter', 'openrouter', 'bytedance/seedance-2.0', { callbackSecret: 'openrouter-signing-secret' }),
  videoJobs('replicate', 'replicate', 'bytedance/seedance-2.0', { ...replicate, mapping: videoMapping }),
  imageJobs('replicate', 'black-forest-labs/flux-2-pro', { ...replicate, mapping: pictureMapping }),
  videoJobs('runway', 'runway', 'gen4.5', runway),
  imageJobs('runway', 'gen4_image', runway),
  videoJobs('bfl', 'bfl video', 'flux-3-video', bfl),
  imageJobs('bfl', 'flux-2-pro', bfl),
  imageJobs('bfl', 'flux-3-image', { ...bfl, name: 'bfl FLUX 3 image', uncalled: true }),
  imageJobs('bfl', 'flux-3-image-klein', { ...bfl, name: 'bfl FLUX 3 image klein', uncalled: true }),
  videoJobs('vidu', 'vidu', 'viduq3-pro'),
  videoJobs('xai', 'xai', 'grok-imagine-video'),
  videoJobs('google', 'google Omni', 'gemini-omni-1.1-flash', freeModeration),
  videoJobs('google', 'google Veo', 'veo-3.1-generate-preview', { ...untold, ...freeModeration, reportsNothing: true, cancelUntil: 'never', asks: { duration: 8 } }),
  videoJobs('gateway', 'gateway, task dialect', 'doubao-seedance-2-0-260128', { cancelUntil: 'never' }),
  videoJobs('gateway', 'gateway, videos dialect', 'doubao-seedance-2-0-260128', { ...untold, path: '/new-api/v1/videos', cancelUntil: 'never' }),
]; // prettier-ignore

const large = { size: '2048x2048' };

export const imageVendors: readonly ImageVendor[] = [
  image('ark', 'doubao-seedream-4-0-250828', large),
  image('ark', 'dola-seedream-5-0-pro-260628', large),
  image('ark', 'dola-seedream-5-5-261028', large),
  image('ark', 'seedream-5-0-260128', large),
  image('google', 'gemini-nano-banana-2.1', large),
  image('google', 'gemini-3.1-flash-lite-image'),
  image('openai', 'gpt-image-2', large),
  image('openai', 'gpt-image-2.6-sunburst', large),
  image('dashscope', 'wan2.7-image'),
  image('dashscope', 'qwen-image-2.0'),
  image('dashscope', 'wan2.6-image'),
  image('xai', 'grok-imagine-image-2.0'),
  image('minimax', 'image-01'),
  image('minimax', 'MiniMax-H3-Image'),
  image('minimax', 'MiniMax-H3-Image-Highspeed'),
  image('stability', 'sd3.5-large', { size: '1024x1024', extra: { strength: 0.5 } }),
];
