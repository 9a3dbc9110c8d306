import { seenBy } from '../../base/key-scope.ts';
import type { Caller } from '../../access/caller.ts';
import { someNames } from '../../models/consumption.ts';
import { defined } from '../../base/defined.ts';
import type { ModelConfig } from '../../config/gateway-file.ts';
import { GatewayError, invalidParameter } from '../../errors/errors.ts';
import type { ImageInput, ImageRequest, JsonObject, JsonValue } from '../../models/request.ts';
import { fileIdOf } from '../../models/user-file.ts';
import { readDataUrl, readImageFile } from '../../images/reference-image.ts';
import type { ImageRouteDeps, RouteDeps } from '../deps.ts';
import { carries } from '../../intake/carries.ts';
import type { Understood } from '../../intake/understand.ts';
import { applyKeyRules } from '../key-rules.ts';
import { consumedImageFields, readImageBody, type ImageBody } from './image-body.ts';
import type { FileRouteDeps } from '../files/own-file.ts';
import { UploadedFile } from '../../intake/uploaded-file.ts';
import { checkCallback, mediaUrlNotAllowed, notAWebAddress, type AddressChecks } from '../address-checks.ts';

export interface ParsedImage {
  readonly request: ImageRequest;
  readonly named: Readonly<Record<string, string>>;
  readonly strict?: true;
  readonly ignored: readonly string[];
  readonly callbackUrl?: string;
  readonly expiresAfterSeconds?: number;
}

export interface ImageRules extends AddressChecks {
  readonly caller: Caller;
  readonly storedFiles?: Pick<FileRouteDeps, 'linkMedium'>;
  /** Set for create requests, which look for earlier attempts before they resolve links to files. */
  readonly linksLater?: true;
  readonly operation: ImageRequest['operation'];
  readonly model: ModelConfig;
  readonly pixelsMax: number;
  readonly filesMax: number;
}

export interface AskedForImages {
  readonly operation: ImageRequest['operation'];
  readonly asked: Understood;
  readonly caller: Caller;
}

export type ReadImageDeps = AddressChecks &
  Pick<RouteDeps, 'catalogue' | 'storedFiles'> & { readonly images: Pick<ImageRouteDeps, 'limits'> };

/** Throws GatewayError with our own field names. */
export async function readImage(
  { operation, asked, caller }: AskedForImages,
  deps: ReadImageDeps,
  linking: Pick<ImageRules, 'linksLater'> = {},
): Promise<ParsedImage & { readonly body: ImageBody }> {
  const body = readImageBody(asked);
  const model = deps.catalogue.model(body.model, caller);
  const rules = { ...deps, ...deps.images.limits, ...linking, operation, model, caller };
  const { ignored, ...parsed } = await parseImage(body, rules);
  const warnings = [...asked.unread, ...ignored.map(asked.nameOf)];
  const strictness = applyKeyRules({ request: parsed.request, ignored: warnings }, asked, caller);
  return { ...parsed, ...strictness, ignored: warnings, body };
}

export async function parseImage(body: ImageBody, rules: ImageRules): Promise<ParsedImage> {
  if (body.partial_images !== undefined && body.stream !== true)
    throw unsupported(
      'partial_images',
      'Partial images are available only in a stream. Send stream: true as well.',
    );
  const output = checkOutput(body, rules.model);
  const references = listReferences(body, rules);
  const images: ImageInput[] = [];
  for (const { value, param } of references) images.push(await readReference(value, param, rules));
  const mask = body.mask === undefined ? undefined : await readReference(body.mask, 'mask', rules);
  const { callback_url, execution_expires_after, ...metadata } = body.metadata ?? {};
  checkCallback(callback_url, rules);
  const { extra, ...names } = extraOf(body, metadata);
  return {
    request: {
      kind: 'image',
      operation: rules.operation,
      model: body.model,
      prompt: body.prompt,
      ...output,
      images,
      ...defined({ responseFormat: body.response_format, mask }),
      extra: { ...extra, ...defined({ partial_images: body.partial_images }) },
    },
    ...names,
    ...defined({ callbackUrl: callback_url, expiresAfterSeconds: execution_expires_after }),
  };
}

const sizePattern = /^[1-9]\d{0,4}x[1-9]\d{0,4}$/i;

type Output = Pick<ImageRequest, 'n' | 'size' | 'quality'>;

function checkOutput({ n = 1, size: asked, quality }: ImageBody, model: ModelConfig): Output {
  // Prices and vendors expect a lower-case `x`.
  const size = asked !== undefined && sizePattern.test(asked) ? asked.toLowerCase() : asked;
  if (n > model.n.max) {
    throw unsupported(
      'n',
      `The parameter n must be an integer from 1 to ${model.n.max} for model ${model.id}.`,
    );
  }
  const words = model.sizes.filter((word) => !sizePattern.test(word));
  if (size !== undefined && !sizePattern.test(size) && !words.includes(size)) {
    const alternatives = words.length === 0 ? '' : `, or one of ${words.join(', ')}`;
    throw invalidParameter(
      'size',
      `The parameter size must be <width>x<height>, such as 1024x1024${alternatives}.`,
    );
  }
  if (quality !== undefined && model.qualities.length > 0 && !model.qualities.includes(quality)) {
    throw unsupported('quality', `quality must be one of ${model.qualities.join(', ')}.`);
  }
  return { n, ...defined({ size, quality }) };
}

interface Reference {
  readonly value: string | UploadedFile;
  readonly param: string;
}

function listReferences({ image }: ImageBody, rules: ImageRules): readonly Reference[] {
  const { model, operation, filesMax } = rules;
  const list = image === undefined ? [] : [image].flat();
  if (list.length === 0 && operation === 'edit') {
    throw new GatewayError('missing_parameter', 'The parameter image is required.', { param: 'image' });
  }
  if (list.length > filesMax) {
    throw invalidParameter(
      'image',
      `The parameter image accepts at most ${filesMax} images, not ${list.length}.`,
    );
  }
  const { max } = model.inputs.images;
  if (list.length > max) {
    const message =
      max === 0 ? 'does not accept images' : `accepts at most ${max} images, not ${list.length}`;
    throw unsupported('image', `Model ${model.id} ${message}.`);
  }
  return list.map((value, index) => ({ value, param: Array.isArray(image) ? `image[${index}]` : 'image' }));
}

const webAddress = /^https?:\/\//i;

async function readReference(
  value: string | UploadedFile,
  param: string,
  { pixelsMax, checkMediaUrl, caller, storedFiles, linksLater }: ImageRules,
): Promise<ImageInput> {
  const id = typeof value === 'string' ? fileIdOf(value) : undefined;
  if (id !== undefined && storedFiles !== undefined) {
    const reference = `asset://${id}`;
    const place = { reach: seenBy(caller), kind: 'image', param } as const;
    const url = linksLater ? reference : await storedFiles.linkMedium(reference, place);
    return { form: 'url', url };
  }
  if (typeof value === 'string' && webAddress.test(value)) {
    const reason = checkMediaUrl(value);
    if (reason === undefined) return { form: 'url', url: value };
    throw mediaUrlNotAllowed(param, reason);
  }
  if (typeof value === 'string' && !/^data:/i.test(value)) {
    throw mediaUrlNotAllowed(param, `${notAWebAddress} Images may also be data URLs or files.`);
  }
  const input =
    typeof value === 'string' ? readDataUrl(value, pixelsMax) : await readImageFile(value, pixelsMax);
  if ('refused' in input) throw invalidParameter(param, `The parameter ${param} ${input.refused}.`);
  return input;
}

/** Fields at the top level override metadata. Fields that the API itself defines are read only at the top level. */
function extraOf(
  body: ImageBody,
  metadata: JsonObject,
): Pick<ParsedImage, 'named' | 'ignored'> & Pick<ImageRequest, 'extra'> {
  const further: JsonObject = Object.fromEntries(
    Object.entries(body).flatMap(([name, value]: [string, unknown]) =>
      !consumedImageFields.has(name) && isJson(value) ? [[name, value] as const] : [],
    ),
  );
  const isRead = (name: string) => !consumedImageFields.has(name) && !Object.hasOwn(further, name);
  const inside = Object.entries(metadata).filter(([name]) => isRead(name));
  const unread = Object.keys(metadata).filter((name) => !isRead(name));
  const lost = unread.find((name) => carries(name, metadata[name]));
  if (lost !== undefined)
    throw invalidParameter(
      `metadata.${lost}`,
      `The parameter ${lost} has no effect in metadata. Send it at the top level of the body.`,
    );
  return {
    extra: { ...Object.fromEntries(inside), ...further },
    named: Object.fromEntries(inside.map(([name]) => [name, `metadata.${name}`])),
    ignored: someNames(unread).map((name) => `metadata.${name}`),
  };
}

function isJson(value: unknown): value is JsonValue {
  return value !== undefined && !(value instanceof UploadedFile);
}

function unsupported(param: string, message: string): GatewayError {
  return new GatewayError('unsupported_parameter', message, { param });
}
