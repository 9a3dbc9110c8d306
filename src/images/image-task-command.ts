import { defined } from '../base/defined.ts';
import { GatewayError } from '../errors/errors.ts';
import type { ImageInput, ImageRequest } from '../models/request.ts';
import type { RoutePlan } from '../routing/catalogue.ts';
import type { CreateTaskCommand } from '../commands/create-task.ts';
import type { Repeat } from '../commands/repeats.ts';
import { filesToData } from './convert.ts';
import type { CreateImagesCommand } from './create-images.ts';

interface ImageTask {
  readonly plan: RoutePlan;
  readonly repeat: Repeat;
  readonly linked: (request: ImageRequest) => Promise<ImageRequest>;
}

export async function imageTaskCommand(
  command: CreateImagesCommand,
  { plan, repeat, linked }: ImageTask,
): Promise<CreateTaskCommand> {
  const { caller, route, sent, callbackUrl, expiresAfterSeconds } = command;
  command.reserve(checkedSize(command.request) * copies);
  const request = await filesToData(command.request);
  return {
    request,
    plan: async () => ({ ...plan, request: await linked(request) }),
    caller,
    route,
    sent,
    repeat,
    ...defined({ callbackUrl, expiresAfterSeconds }),
  };
}

/**
 * The maximum length of the base64 text of all images. The rest of the request has a limit of its own. Both are stored
 * in one document, which MongoDB limits to 16 MiB.
 */
const charactersMax = 12 * 1024 * 1024;
const restBytesMax = 2 * 1024 * 1024;

/** The text is in memory four times: as data, MongoDB document, ciphertext and stored form. */
const copies = 4;

function checkedSize({ images, mask, ...rest }: ImageRequest): number {
  const inputs = [...images, ...(mask === undefined ? [] : [mask])];
  const characters = inputs.map(charactersOf).reduce((sum, length) => sum + length, 0);
  if (characters > charactersMax) {
    throw new GatewayError(
      'request_too_large',
      `Model ${rest.model} accepts at most ${charactersMax} base64 characters across all images. Send the images as URLs instead.`,
      { param: 'image' },
    );
  }
  // Measure the JSON, because one byte of a form can become six bytes of JSON.
  if (Buffer.byteLength(JSON.stringify(rest)) <= restBytesMax) return characters;
  throw new GatewayError(
    'request_too_large',
    `Model ${rest.model} accepts requests of at most ${restBytesMax} bytes as JSON, not counting the images.`,
  );
}

function charactersOf(input: ImageInput): number {
  switch (input.form) {
    case 'url':
      return 0;
    case 'data':
      return input.base64.length;
    case 'file':
      return Math.ceil(input.bytes / 3) * 4;
    default:
      return input satisfies never;
  }
}
