import type { Answer, Json } from './support.ts';
import { testKey } from './support.ts';

/** Every way into the simulator: one row each. What is common to all is tested with them in every-dialect.test.ts. */

export type Ask = readonly [method: string, path: string, body?: unknown];

interface Row {
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The code of a refusal. */
  readonly code: (body: Json) => unknown;
  /** By fault: the status and code of what is refused at the create; moderation is absent where the job reports it. */
  readonly refused: Readonly<Record<string, string>>;
  readonly create: (prompt: string, hook?: string) => Ask;
}

export interface JobRow extends Row {
  readonly poll: (created: Json) => Ask;
  readonly word: (answer: Answer) => unknown;
  readonly words: Readonly<Record<'queued' | 'running' | 'unknown' | 'succeeded' | 'failed', unknown>>;
  /** The answer that has the link and what was used, where the poll has not. */
  readonly result?: (created: Json, polled: Json) => Ask;
  readonly link: (body: Json) => string | undefined;
  /** undefined: its answers never say. */
  readonly used?: (answer: Answer) => unknown;
  readonly calls?: true;
  /** What else can be asked of it, or of all jobs: cancellations and lists. */
  readonly others?: (created: Json) => Readonly<Record<string, Ask>>;
  /** Its link is an address of the API: it does not expire. */
  readonly isDelivered?: true;
  /** It ends without a link, as this body says. */
  readonly vanished?: string;
}

export interface PictureRow extends Row {
  readonly pictures: (body: Json) => readonly unknown[];
  readonly used?: (body: Json) => unknown;
}

/** In the order of the words that a job goes through, and of those that not every job meets. */
function words(...[queued, running, unknown, succeeded, failed]: readonly unknown[]) {
  return { queued, running, unknown, succeeded, failed };
}

const refusable = ['401', '403', '404', '429', 'quota', '500', '503', 'moderation'];
/** In that order; moderation is absent where the job reports it. */
function refusals(...said: readonly string[]): Record<string, string> {
  return Object.fromEntries(said.map((words, index) => [refusable[index] ?? '', words]));
}

const at = (base: string, method: string, path: string, body?: unknown): Ask => [
  method,
  `${base}${path}`,
  body,
];
const last = (value: unknown) => String(value).split('/').at(-1) ?? '';

const ark = '/ark/api/v3';
const arkRow = {
  code: (body: Json) => body.error?.code,
  refused: refusals(
    '401 AuthenticationError',
    '403 AccountOverdueError',
    '404 ResourceNotFound',
    '429 ModelAccountRpmRateLimitExceeded',
    '429 SetLimitExceeded',
    '500 InternalServiceError',
    '503 ServerOverloaded',
    '400 InputTextSensitiveContentDetected',
  ),
};
const newApi = '/new-api/v1';
const newApiRow = {
  code: (body: Json) => body.code ?? body.error?.code,
  refused: refusals(
    '401 invalid_api_key',
    '403 access_denied',
    '400 task_not_exist',
    '429 rate_limit_exceeded',
    '403 quota_not_enough',
    '500 fail_to_fetch_task',
    '503 get_channel_failed',
    '400 fail_to_fetch_task',
  ),
};
const dashScope = '/dashscope/api/v1';
const dashScopeRow = {
  code: (body: Json) => body.code,
  refused: refusals(
    '401 InvalidApiKey',
    '403 Model.AccessDenied',
    '404 ModelNotFound',
    '429 Throttling.RateQuota',
    '429 Throttling.AllocationQuota',
    '500 InternalError',
    '503 ModelUnavailable',
    '400 DataInspectionFailed',
  ),
};
const dashScopeJob = {
  ...dashScopeRow,
  headers: { 'x-dashscope-async': 'enable' },
  others: ({ output }: Json) => ({
    list: at(dashScope, 'GET', '/tasks/?page_no=1&page_size=20&status=PENDING'),
    'a wrong page': at(dashScope, 'GET', '/tasks/?page_no=0'),
    cancel: at(dashScope, 'POST', `/tasks/${output.task_id}/cancel`),
  }),
  poll: ({ output }: Json) => at(dashScope, 'GET', `/tasks/${output.task_id}`),
  word: ({ body }: Answer) => body.output.task_status,
  words: words('PENDING', 'RUNNING', 'POST_PROCESSING', 'SUCCEEDED', 'FAILED'),
  vanished: 'UNKNOWN',
};
const klingRow = {
  code: (body: Json) => body.code,
  refused: refusals(
    '401 1002',
    '403 1103',
    '404 1203',
    '429 1302',
    '429 1102',
    '500 5000',
    '503 5001',
    '400 1301',
  ),
  words: words('submitted', 'processing', 'post_processing', 'succeeded', 'failed'),
};
const klingLegacy = {
  ...klingRow,
  words: { ...klingRow.words, succeeded: 'succeed' },
  word: ({ body }: Answer) => body.data.task_status,
  used: ({ body }: Answer) => body.data.final_unit_deduction,
};
const bflRow = {
  headers: { 'x-key': testKey },
  code: (body: Json) => body.error ?? body.detail,
  refused: refusals(
    '401 Not authenticated',
    '403 Not authenticated - no access to this endpoint',
    '404 Not Found',
    '429 rate_limit_exceeded',
    '402 Insufficient credits. Please add credits to continue.',
    '500 Internal Server Error',
    '503 The service is under maintenance. Please try again later.',
  ),
  poll: ({ id }: Json) => at('/bfl/us1/v1', 'GET', `/get_result?id=${id}`),
  word: ({ body }: Answer) => body.status,
  words: words('Pending', 'Pending', 'Upscaling', 'Ready', 'Error'),
  link: ({ result }: Json) => result?.sample,
  used: ({ body }: Answer) => body.cost,
  vanished: 'Task not found',
};
const googleRow = {
  headers: { 'x-goog-api-key': testKey, authorization: '' },
  code: (body: Json) => body.error?.status,
  refused: refusals(
    '400 INVALID_ARGUMENT',
    '403 PERMISSION_DENIED',
    '404 NOT_FOUND',
    '429 RESOURCE_EXHAUSTED',
    '429 RESOURCE_EXHAUSTED',
    '500 INTERNAL',
    '503 UNAVAILABLE',
    '400 INVALID_ARGUMENT',
  ),
};
const google = '/google/v1beta';
const falRow = {
  headers: { authorization: `Key ${testKey}` },
  code: (body: Json) => body.detail,
  refused: refusals(
    '401 Authentication is required to access this application',
    '403 Access denied',
    '404 Application not found',
    '429 Rate limit exceeded',
    '403 User is locked. Reason: Exhausted balance. Top up your balance.',
    '500 Internal Server Error',
    '503 Service unavailable',
  ),
  word: ({ body }: Answer) =>
    body.status === 'COMPLETED' && body.error !== undefined ? 'failed' : body.status,
  words: words('IN_QUEUE', 'IN_PROGRESS', 'RETRYING', 'COMPLETED', 'failed'),
  used: ({ headers }: Answer) => headers.get('x-fal-billable-units') ?? undefined,
};
const falApp = (path: string, prompt: string, hook?: string) =>
  at('/fal', 'POST', `/${path}${hook === undefined ? '' : `?fal_webhook=${hook}`}`, { prompt });
const minimaxRow = {
  code: (body: Json) => body.error?.message,
  refused: refusals(
    '401 login fail: Please carry the API secret key (1004)',
    '401 invalid api key (2049)',
    '400 invalid params, invalid task_id (2013)',
    '429 rate limit exceeded (1002)',
    '402 insufficient balance (1008)',
    '500 unknown error (1000)',
    '529 the server cluster is currently under high load',
    '422 video description contains sensitive content (1026)',
  ),
};
const hailuoRow = {
  code: (body: Json) => body.base_resp?.status_code,
  refused: refusals(
    '200 1004',
    '200 2049',
    '200 2013',
    '200 1002',
    '200 1008',
    '200 1000',
    '200 1041',
    '200 1026',
  ),
};
const replicateRow = {
  code: (body: Json) => body.title,
  refused: refusals(
    '401 Unauthenticated',
    '403 Forbidden',
    '404 Not found',
    '429 undefined',
    '402 Insufficient credit',
    '500 Internal server error',
    '503 undefined',
  ),
  others: ({ id }: Json) => ({
    list: at('/replicate/v1', 'GET', '/predictions'),
    'a wrong time': at('/replicate/v1', 'GET', '/predictions?created_after=x'),
    cancel: at('/replicate/v1', 'POST', `/predictions/${id}/cancel`),
  }),
  poll: ({ id }: Json) => at('/replicate/v1', 'GET', `/predictions/${id}`),
  word: ({ body }: Answer) => body.status,
  words: words('starting', 'processing', 'uploading', 'succeeded', 'failed'),
  link: ({ output }: Json) => output ?? undefined,
  used: ({ body }: Answer) => body.metrics?.predict_time,
};
const runwayRow = {
  headers: { 'x-runway-version': '2024-11-06' },
  code: (body: Json) => body.error,
  refused: refusals(
    '401 The API key is invalid or disabled.',
    '403 You do not have access to this resource.',
    '404 Task not found.',
    '429 You have reached the daily generation limit of this model.',
    '400 You do not have enough credits to run this task.',
    '500 Internal server error.',
    '503 Service unavailable.',
  ),
  others: ({ id }: Json) => ({ remove: at('/runway/v1', 'DELETE', `/tasks/${id}`) }),
  poll: ({ id }: Json) => at('/runway/v1', 'GET', `/tasks/${id}`),
  word: ({ body }: Answer) => body.status,
  words: words('PENDING', 'RUNNING', 'POST_PROCESSING', 'SUCCEEDED', 'FAILED'),
  link: ({ output = [] }: Json) => output[0],
  used: ({ body }: Answer) => body.cost?.credits,
};
const xai = '/xai/v1';
const xaiRow = {
  code: (body: Json) => body.error,
  refused: refusals(
    '400 Incorrect API key provided: xa***ey.',
    '403 The team has no access to this model.',
    '404 The request was not found.',
    '429 Too many requests.',
    '402 All credits are used up.',
    '500 An internal error occurred.',
    '503 The model is at capacity.',
    '400 Content violates usage guidelines.',
  ),
};
const openAiRow = {
  code: (body: Json) => body.error?.code,
  refused: refusals(
    '401 invalid_api_key',
    '403 organization_not_verified',
    '404 not_found',
    '429 rate_limit_exceeded',
    '429 insufficient_quota',
    '500 server_error',
    '503 service_unavailable',
    '400 moderation_blocked',
  ),
  pictures: ({ data }: Json) => data,
};
const shaped = { settings: { aspect_ratio: '16:9' } };

export const jobRows: readonly JobRow[] = [
  {
    ...arkRow,
    name: 'ark',
    calls: true,
    create: (text, callback_url) =>
      at(ark, 'POST', '/contents/generations/tasks', {
        model: 'doubao-seedance-2-0-260128',
        content: [{ type: 'text', text }],
        callback_url,
      }),
    others: ({ id }) => ({
      list: at(ark, 'GET', `/contents/generations/tasks?filter.task_ids=${id}`),
      'all of a status': at(ark, 'GET', '/contents/generations/tasks?filter.status=queued&page_size=1'),
      'a wrong page': at(ark, 'GET', '/contents/generations/tasks?page_size=0'),
      remove: at(ark, 'DELETE', `/contents/generations/tasks/${id}`),
    }),
    poll: ({ id }) => at(ark, 'GET', `/contents/generations/tasks/${id}`),
    word: ({ body }) => body.status,
    words: words('queued', 'running', 'post_processing', 'succeeded', 'failed'),
    link: ({ content }) => content.video_url,
    used: ({ body }) => body.usage?.total_tokens,
  },
  ...(['/video/generations', '/videos'] as const).map((path): JobRow => {
    const isTask = path === '/video/generations';
    return {
      ...newApiRow,
      name: `new-api ${path}`,
      create: (prompt) => at(newApi, 'POST', path, { model: 'doubao-seedance-2-0-260128', prompt }),
      poll: ({ id }) => at(newApi, 'GET', `${path}/${id}`),
      word: ({ body }) => (isTask ? body.data.status : body.status),
      words: isTask
        ? {
            queued: 'NOT_START',
            running: 'IN_PROGRESS',
            unknown: 'POST_PROCESSING',
            succeeded: 'SUCCESS',
            failed: 'FAILURE',
          }
        : {
            queued: 'queued',
            running: 'in_progress',
            unknown: 'post_processing',
            succeeded: 'completed',
            failed: 'failed',
          },
      link: (body) => (isTask ? body.data.result_url || undefined : body.metadata?.url),
      ...(isTask ? { used: ({ body }: Answer) => body.data.data.usage?.total_tokens } : {}),
    };
  }),
  {
    ...dashScopeJob,
    name: 'dashscope video',
    create: (prompt) =>
      at(dashScope, 'POST', '/services/aigc/video-generation/video-synthesis', {
        model: 'wan2.6-t2v',
        input: { prompt },
      }),
    link: ({ output }) => output.video_url,
    used: ({ body }) => body.usage?.duration,
  },
  {
    ...dashScopeJob,
    name: 'dashscope image',
    create: (prompt) =>
      at(dashScope, 'POST', '/services/aigc/text2image/image-synthesis', {
        model: 'wan2.5-t2i-preview',
        input: { prompt },
      }),
    link: ({ output }) => output.results[0]?.url,
    used: ({ body }) => body.usage?.image_count,
  },
  {
    ...klingRow,
    name: 'kling',
    calls: true,
    create: (prompt, callback_url) =>
      at('/kling', 'POST', '/text-to-video/kling-3.0', { prompt, ...shaped, options: { callback_url } }),
    poll: ({ data }) => at('/kling', 'GET', `/tasks?task_ids=${data.id}`),
    word: ({ body }) => body.data[0]?.status,
    link: ({ data: [task] }) => task.outputs[0]?.url,
    used: ({ body }) => body.data[0].billing?.[0].amount,
  },
  {
    ...klingLegacy,
    name: 'kling legacy',
    create: (prompt) => at('/kling/v1', 'POST', '/videos/text2video', { model_name: 'kling-v2-6', prompt }),
    others: () => ({ list: at('/kling/v1', 'GET', '/videos/text2video?pageNum=1&pageSize=30') }),
    poll: ({ data }) => at('/kling/v1', 'GET', `/videos/text2video/${data.task_id}`),
    link: ({ data }) => data.task_result.videos[0]?.url,
  },
  {
    ...klingLegacy,
    name: 'kling image',
    create: (prompt) => at('/kling/v1', 'POST', '/images/generations', { model_name: 'kling-v3', prompt }),
    poll: ({ data }) => at('/kling/v1', 'GET', `/images/generations/${data.task_id}`),
    link: ({ data }) => data.task_result.images[0]?.url,
  },
  {
    ...bflRow,
    name: 'bfl image',
    create: (prompt) => at('/bfl/v1', 'POST', '/flux-2-pro', { prompt }),
  },
  {
    ...bflRow,
    name: 'bfl video',
    words: { ...bflRow.words, running: 'Reasoning' },
    create: (prompt) => at('/bfl/v1', 'POST', '/flux-3-video', { prompt, mode: 't2v' }),
  },
  {
    ...googleRow,
    name: 'google omni',
    create: (input) =>
      at(google, 'POST', '/interactions', {
        model: 'gemini-omni-1.1-flash',
        input,
        background: true,
        response_format: { type: 'video', delivery: 'uri' },
      }),
    others: ({ id }) => ({ cancel: at(google, 'POST', `/interactions/${id}/cancel`) }),
    poll: ({ id }) => at(google, 'GET', `/interactions/${id}`),
    word: ({ body }) => body.status,
    words: words('in_progress', 'in_progress', 'post_processing', 'completed', 'failed'),
    link: ({ steps }) => steps[0].content[0]?.uri,
    used: ({ body }) => body.usage?.total_tokens,
  },
  {
    ...googleRow,
    name: 'google veo',
    create: (prompt) =>
      at(google, 'POST', '/models/veo-3.1-generate-preview:predictLongRunning', { instances: [{ prompt }] }),
    poll: ({ name }) => at(google, 'GET', `/${name}`),
    word: ({ body }) => body.metadata?.state ?? (body.error === undefined ? body.done : 'error'),
    words: words(undefined, undefined, 'POST_PROCESSING', true, 'error'),
    link: ({ response }) => response.generateVideoResponse.generatedSamples[0]?.video.uri,
  },
  {
    ...falRow,
    name: 'fal video',
    create: (prompt) => falApp('bytedance/seedance-2.0/text-to-video', prompt),
    others: ({ cancel_url }) => ({
      cancel: at(
        '/fal/bytedance/seedance-2.0/requests',
        'PUT',
        `/${last(cancel_url.replace('/cancel', ''))}/cancel`,
      ),
      list: at(
        '/fal/v1',
        'GET',
        '/models/requests/by-endpoint?expand=payloads&endpoint_id=bytedance/seedance-2.0/text-to-video',
      ),
      'a list of no endpoint': at('/fal/v1', 'GET', '/models/requests/by-endpoint'),
    }),
    poll: ({ status_url }) =>
      at('/fal/bytedance/seedance-2.0/requests', 'GET', `/${last(status_url.replace('/status', ''))}/status`),
    result: ({ response_url }) => at('/fal/bytedance/seedance-2.0/requests', 'GET', `/${last(response_url)}`),
    link: ({ video }) => video?.url,
  },
  {
    ...falRow,
    name: 'fal image',
    create: (prompt) => falApp('fal-ai/flux-2-pro', prompt),
    poll: ({ request_id }) => at('/fal/fal-ai/flux-2-pro/requests', 'GET', `/${request_id}/status`),
    result: ({ request_id }) => at('/fal/fal-ai/flux-2-pro/requests', 'GET', `/${request_id}`),
    link: ({ images }) => images[0]?.url,
  },
  {
    ...minimaxRow,
    name: 'minimax',
    create: (text) =>
      at('/minimax/v2', 'POST', '/video_generation', {
        model: 'MiniMax-H3',
        content: [{ type: 'text', text }],
        resolution: '768P',
        duration: 5,
        ratio: '16:9',
      }),
    others: ({ task_id }) => ({
      list: at('/minimax/v2', 'GET', `/query/video_generation?filter.task_ids=${task_id}`),
      'a wrong page': at('/minimax/v2', 'GET', '/query/video_generation?page_num=0'),
      remove: at('/minimax/v2', 'DELETE', `/video_generation/${task_id}`),
    }),
    poll: ({ task_id }) => at('/minimax/v2', 'GET', `/query/video_generation/${task_id}`),
    word: ({ body }) => body.task?.status,
    words: words('queued', 'running', 'postprocessing', 'succeeded', 'failed'),
    link: ({ task }) => task.content?.url,
    used: ({ body }) => body.task.usage?.total_tokens,
  },
  {
    ...hailuoRow,
    name: 'minimax-v1',
    create: (prompt) =>
      at('/minimax/v1', 'POST', '/video_generation', { model: 'MiniMax-Hailuo-2.3', prompt }),
    poll: ({ task_id }) => at('/minimax/v1', 'GET', `/query/video_generation?task_id=${task_id}`),
    word: ({ body }) => body.status,
    words: words('Queueing', 'Processing', 'Reviewing', 'Success', 'Fail'),
    result: (_, { file_id }) => at('/minimax/v1', 'GET', `/files/retrieve?file_id=${file_id}`),
    link: ({ file }) => file.download_url,
  },
  {
    ...replicateRow,
    name: 'replicate video',
    calls: true,
    create: (prompt, webhook) =>
      at('/replicate/v1', 'POST', '/models/bytedance/seedance-2.0/predictions', {
        input: { prompt },
        webhook,
      }),
  },
  {
    ...replicateRow,
    name: 'replicate image',
    create: (prompt) =>
      at('/replicate/v1', 'POST', '/models/black-forest-labs/flux-2-pro/predictions', { input: { prompt } }),
  },
  {
    ...runwayRow,
    name: 'runway video',
    create: (promptText) =>
      at('/runway/v1', 'POST', '/text_to_video', {
        model: 'gen4.5',
        promptText,
        ratio: '1280:720',
        duration: 5,
      }),
  },
  {
    ...runwayRow,
    name: 'runway image',
    create: (promptText) =>
      at('/runway/v1', 'POST', '/text_to_image', { model: 'gen4_image', promptText, ratio: '1280:720' }),
  },
  {
    ...xaiRow,
    name: 'xai',
    create: (prompt) => at(xai, 'POST', '/videos/generations', { model: 'grok-imagine-video', prompt }),
    poll: ({ request_id }) => at(xai, 'GET', `/videos/${request_id}`),
    word: ({ body }) => body.status,
    words: words('pending', 'pending', 'postprocessing', 'done', 'failed'),
    link: ({ video }) => video?.url,
    used: ({ body }) => body.usage?.cost_in_usd_ticks,
  },
  {
    name: 'luma',
    code: (body) => body.detail,
    refused: refusals(
      '401 Invalid or missing API key',
      '403 Access denied',
      '404 Generation not found',
      '429 Rate limit exceeded',
      '402 Insufficient balance',
      '500 Internal server error',
      '503 Image ingestion unavailable',
    ),
    create: (prompt) => at('/luma/v1', 'POST', '/generations', { model: 'ray-3.2', type: 'video', prompt }),
    poll: ({ id }) => at('/luma/v1', 'GET', `/generations/${id}`),
    word: ({ body }) => body.state,
    words: words('queued', 'processing', 'grading', 'completed', 'failed'),
    link: ({ output = [] }) => output[0]?.url,
  },
  {
    name: 'openrouter',
    calls: true,
    code: (body) => body.error?.message,
    refused: refusals(
      '401 No auth credentials found',
      '403 The key may not use this model.',
      '404 Video generation not found',
      '429 Rate limit exceeded',
      '402 Insufficient credits',
      '500 Internal Server Error',
      '503 No provider is available',
      '403 The input was flagged.',
    ),
    create: (prompt, callback_url) =>
      at('/openrouter/api/v1', 'POST', '/videos', { model: 'a/b', prompt, callback_url }),
    poll: ({ id }) => at('/openrouter/api/v1', 'GET', `/videos/${id}`),
    word: ({ body }) => body.status,
    words: words('pending', 'in_progress', 'uploading', 'completed', 'failed'),
    link: ({ unsigned_urls: urls = [] }) => urls[0],
    used: ({ body }) => body.usage?.cost,
    headers: { authorization: `Bearer ${testKey}` },
    isDelivered: true,
  },
  {
    name: 'vidu',
    calls: true,
    headers: { authorization: `Token ${testKey}` },
    code: (body) => body.reason,
    refused: refusals(
      '401 Unauthorized',
      '403 Forbidden',
      '404 TaskNotFound',
      '429 TooManyRequests',
      '400 CreditInsufficient',
      '500 InternalServiceFailure',
      '503 SystemThrottling',
      '400 TaskPromptPolicyViolation',
    ),
    create: (prompt, callback_url) =>
      at('/vidu/ent/v2', 'POST', '/text2video', { model: 'viduq3', prompt, callback_url }),
    others: ({ task_id }) => ({
      list: at('/vidu/ent/v2', 'GET', `/tasks?task_ids=${task_id}`),
      cancel: at('/vidu/ent/v2', 'POST', `/tasks/${task_id}/cancel`),
    }),
    poll: ({ task_id }) => at('/vidu/ent/v2', 'GET', `/tasks/${task_id}/creations`),
    word: ({ body }) => body.state,
    words: words('queueing', 'processing', 'upscaling', 'success', 'failed'),
    link: ({ creations = [] }) => creations[0]?.url,
    used: ({ body }) => body.credits,
  },
];

export const pictureRows: readonly PictureRow[] = [
  {
    ...openAiRow,
    name: 'openai gpt-image',
    create: (prompt) => at('/openai/v1', 'POST', '/images/generations', { model: 'gpt-image-1.5', prompt }),
    used: ({ usage }) => usage?.output_tokens,
  },
  {
    ...openAiRow,
    name: 'openai dall-e',
    create: (prompt) => at('/openai/v1', 'POST', '/images/generations', { model: 'dall-e-3', prompt }),
  },
  {
    ...newApiRow,
    name: 'new-api image',
    pictures: ({ data }) => data,
    create: (prompt) => at(newApi, 'POST', '/images/generations', { model: 'gpt-image-1.5', prompt }),
    used: ({ usage }) => usage?.output_tokens,
  },
  {
    ...arkRow,
    name: 'seedream',
    create: (prompt) =>
      at(ark, 'POST', '/images/generations', { model: 'doubao-seedream-4-5-251128', prompt }),
    pictures: ({ data }) => data,
    used: ({ usage }) => usage?.output_tokens,
  },
  {
    ...dashScopeRow,
    name: 'dashscope image at once',
    create: (text) =>
      at(dashScope, 'POST', '/services/aigc/multimodal-generation/generation', {
        model: 'qwen-image',
        input: { messages: [{ role: 'user', content: [{ text }] }] },
      }),
    pictures: ({ output }) => output.choices,
    used: ({ usage }) => usage?.image_count,
  },
  {
    ...googleRow,
    name: 'google image',
    // A prompt that is blocked has an answer without candidates.
    refused: { ...googleRow.refused, moderation: '200 undefined' },
    create: (text) =>
      at(google, 'POST', '/models/gemini-nano-banana-2.1:generateContent', {
        contents: [{ parts: [{ text }] }],
      }),
    pictures: ({ candidates }) =>
      candidates[0].content.parts.filter((part: Json) => part.inlineData !== undefined),
    used: ({ usageMetadata }) => usageMetadata?.candidatesTokenCount,
  },
  {
    ...hailuoRow,
    name: 'minimax image',
    create: (prompt) => at('/minimax/v1', 'POST', '/image_generation', { model: 'image-01', prompt }),
    pictures: ({ data }) => data.image_urls,
    // What was made is counted, more is never reported.
  },
  {
    ...xaiRow,
    name: 'xai image',
    create: (prompt) => at(xai, 'POST', '/images/generations', { model: 'grok-imagine-image-2.0', prompt }),
    pictures: ({ data }) => data,
    used: ({ usage }) => usage?.cost_in_usd_ticks,
  },
];
