import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { check, json, link, pairIn, refusals, taken, word } from '../engine.ts';
import type { FaultSet, Mistake, Problems, Refusal } from '../engine.ts';
import { framesPerSecond } from '../media/clips.ts';

const types: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

export function arkRequestId(now: number): string {
  return `02${Math.floor(now)}${randomBytes(16).toString('hex')}`;
}

export function arkWords({ code, message }: Pick<Refusal, 'code' | 'message'>, now: number) {
  return { code, message: `${message} Request id: ${arkRequestId(now)}` };
}

export const arkError = refusals((refusal, now) => {
  const { status, param } = refusal;
  const error = { ...arkWords(refusal, now), param, type: types[status] ?? 'BadRequest' };
  return json(status, { error }, { 'x-request-id': arkRequestId(now) });
});

export function refuseArk({ field, path, reason, isAbsent }: Mistake) {
  if (isAbsent) {
    const text = `The request failed because it is missing \`${field}\` parameter.`;
    return arkError(400, `MissingParameter.${field}`, text, field);
  }
  const text = `The parameter \`${field}\` specified in the request is not valid: ${path}: ${reason}.`;
  return arkError(400, `InvalidParameter.${field}`, text, field);
}

export function modelNotFound(model: string) {
  const text = `The model or endpoint ${model} does not exist or you do not have access to it.`;
  return arkError(404, 'InvalidEndpointOrModel.NotFound', text);
}

const sensitive = (field: string) => `The ${field} may contain sensitive information.`;

export const arkProblems = {
  unauthorized: arkError(401, 'AuthenticationError', 'The API key in the request is missing or invalid.'),
  forbidden: arkError(403, 'AccountOverdueError', 'Your account has an overdue balance.'),
  'not-found': arkError(404, 'ResourceNotFound', 'The specified resource is not found.'),
  'rate-limited': arkError(429, 'ModelAccountRpmRateLimitExceeded', 'The request exceeds the rate limit.'),
  'quota-exhausted': arkError(429, 'SetLimitExceeded', 'Your account has reached the set inference limit.'),
  moderated: arkError(400, 'InputTextSensitiveContentDetected', sensitive('input text')),
  internal: arkError(500, 'InternalServiceError', 'The service encountered an unexpected internal error.'),
  unavailable: arkError(503, 'ServerOverloaded', 'The service is currently unable to handle more requests.'),
} satisfies Problems;

export const outputModerated = {
  video: arkError(400, 'OutputVideoSensitiveContentDetected', sensitive('output video')),
  image: arkError(400, 'OutputImageSensitiveContentDetected', sensitive('output image')),
};

const ratios = '16:9 4:3 1:1 3:4 9:16 21:9';
/**
 * Pixel sizes by resolution, in the order of the ratios. The first table is for models 1.x, the second for later ones.
 * The sizes determine the bill.
 */
const sizes: readonly Readonly<Record<string, string>>[] = [
  {
    '480p': '864x480 736x544 640x640 544x736 480x864 960x416',
    '720p': '1248x704 1120x832 960x960 832x1120 704x1248 1504x640',
    '1080p': '1920x1088 1664x1248 1440x1440 1248x1664 1088x1920 2176x928',
  },
  {
    '480p': '864x496 752x560 640x640 560x752 496x864 992x432',
    '720p': '1280x720 1112x834 960x960 834x1112 720x1280 1470x630',
    '1080p': '1920x1080 1664x1248 1440x1440 1248x1664 1080x1920 2206x946',
    '4k': '3840x2160 3840x2880 3840x3840 2880x3840 2160x3840 3840x1646',
  },
];

const modelOfEndpoints = 'doubao-seedance-2-0-260128';

export function arkModel(name: string): string | undefined {
  if (/^ep-[\w-]+$/.test(name)) return modelOfEndpoints;
  return /^(?:(?:doubao|dreamina)-)?seedance-\d-\d-[\w-]+$/.test(name) ? name : undefined;
}

const address = (kind: string) => {
  const pattern = new RegExp(
    `^(?:https?://.|asset://.${kind === 'image' ? '|data:image/[a-z]+;base64,[A-Za-z0-9+/]' : ''})`,
  );
  return z.object({ url: z.string().regex(pattern, 'not a URL or data URL') });
};
const item = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image_url'),
    image_url: address('image'),
    role: z.enum(['first_frame', 'last_frame', 'reference_image']).optional(),
  }),
  z.object({ type: z.literal('video_url'), video_url: address('video'), role: z.literal('reference_video') }),
  z.object({ type: z.literal('audio_url'), audio_url: z.object({ url: z.string() }), role: z.literal('reference_audio') }),
]); // prettier-ignore
const bodySchema = z.object({
  ...taken({ flag: 'camera_fixed watermark' }),
  content: z.array(item).min(1),
  callback_url: link.optional(),
  return_last_frame: z.boolean().default(false),
  service_tier: z.enum(['default', 'flex']).default('default'),
  execution_expires_after: z.int().min(3600).default(172_800),
  priority: z.int().optional(),
  generate_audio: z.boolean().default(true),
  draft: z.boolean().default(false),
  seed: z.int().min(-1).default(-1),
  resolution: word('480p 720p 1080p 4k').optional(),
  ratio: word(`adaptive ${ratios}`).default('adaptive'),
  duration: z.int().default(5),
  frames: z.int().optional(),
  tools: z.array(z.object({ type: z.literal('web_search') })).optional(),
  safety_identifier: z.string().max(64).optional(),
});
type ArkBody = z.infer<typeof bodySchema>;

/**
 * Validates known fields strictly and ignores unknown ones. Also ignores nulls, because the vendor's Python SDK sends
 * null for every field that its caller omits.
 * @throws {WireError} 400, which names the field.
 */
export function readArkBody(body: unknown): ArkBody {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const entries = isObject ? Object.entries(body).filter(([, value]) => value !== null) : [];
  return check(bodySchema, isObject ? Object.fromEntries(entries) : body, refuseArk);
}

export type ArkDetail = ReturnType<typeof settleArk>;

export function settleArk(
  body: ArkBody,
  { model, endpoint }: { readonly model: string; readonly endpoint: string },
  faults: FaultSet,
) {
  const isFirst = model.includes('seedance-1-0');
  const isLarge = model.includes('seedance-1-0-pro');
  const resolution = body.draft ? '480p' : (body.resolution ?? (isLarge ? '1080p' : '720p'));
  const ratio = body.ratio === 'adaptive' ? (faults.text('ratio') ?? '16:9') : body.ratio;
  const asked = body.duration === -1 ? (faults.number('duration') ?? 5) : body.duration;
  const frames = isFirst ? body.frames : undefined;
  const seconds = frames === undefined ? asked : frames / framesPerSecond;
  const place = ratios.split(' ').indexOf(ratio);
  const size = pairIn(sizes[isFirst ? 0 : 1]?.[resolution]?.split(' ')[place] ?? '1280x720');
  const { width, height } = size ?? { width: 1280, height: 720 };
  const read = model.includes('seedance-1-') ? 0 : (faults.number('input-seconds') ?? inputSeconds(body));
  const random = Math.floor(Math.random() * 4_294_967_296);
  return {
    width,
    height,
    seconds,
    endpoint,
    resolution,
    ratio,
    frames,
    // In reality, the vendor bills one more frame than its documented formula yields.
    tokens: Math.floor((width * height * ((frames ?? 24 * seconds + 1) + 24 * read)) / 1024),
    seed: body.seed === -1 ? random : body.seed,
    lastFrame: body.return_last_frame,
    tier: body.service_tier,
    audio: isFirst ? undefined : body.generate_audio,
    draft: isFirst ? undefined : body.draft,
    priority: body.priority ?? (isFirst ? undefined : 0),
    webSearch: body.tools !== undefined && body.tools.length > 0,
    safetyIdentifier: body.safety_identifier,
  };
}

function inputSeconds({ content }: ArkBody): number {
  const urls = content.flatMap((each) => (each.type === 'video_url' ? [each.video_url.url] : []));
  return urls.reduce((sum, url) => {
    const frames = /\/media\/\d+x\d+-(\d+)-\d-\d+\//.exec(url)?.[1];
    return sum + (frames === undefined ? 5 : Number(frames) / framesPerSecond);
  }, 0);
}
