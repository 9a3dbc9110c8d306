import { z } from 'zod';
import { isRecord } from '../../../base/is-record.ts';
import { GatewayError, invalidParameter } from '../../../errors/errors.ts';
import { imageFields, namesOf } from '../../../intake/names.ts';
import type { Table } from '../../../intake/names.ts';
import type { Understood } from '../../../intake/understand.ts';
import { exampleModels } from '../../example-models.ts';
import { understandImage } from '../../images/image-body.ts';
import { refusedWithoutTasks } from '../waiting-image-route.ts';

const messagesMax = 1_000;

const part = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
]);
const message = z.looseObject({
  role: z.string(),
  content: z
    .union([z.string(), z.array(part)])
    .nullable()
    .optional(),
  images: z
    .array(z.object({ image_url: z.object({ url: z.string() }) }))
    .optional()
    .meta({ description: 'Images of an earlier answer.' }),
});

export const chatBody = z
  .looseObject({
    model: z.string().meta({ description: 'A model that generates images.' }),
    messages: z.array(message).max(messagesMax).meta({
      description:
        'The last message of the user is the prompt. Its images, or else those of the latest message that has any, are edited. Nothing else of the conversation is read.',
    }),
    modalities: z.array(z.string()).optional(),
    image_config: z
      .looseObject({ aspect_ratio: z.string().optional(), image_size: z.string().optional() })
      .optional(),
    stream: z
      .boolean()
      .optional()
      .meta({ description: 'If true, all images arrive in one event at the end.' }),
  })
  .meta({
    id: 'ChatCompletionRequest',
    description: 'All other fields are those of `POST /v1/images/generations`.',
    examples: [
      {
        model: exampleModels.image,
        messages: [{ role: 'user', content: 'A red cube' }],
        modalities: ['image', 'text'],
      },
    ],
  });

type Fields = Readonly<Record<string, unknown>>;

/** These fields control how text is generated. Image models do not need them. */
const ofText = new Set([
  'messages',
  'modalities',
  'image_config',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'max_completion_tokens',
  'presence_penalty',
  'frequency_penalty',
]);

/** Reads the conversation as a request for images. Throws GatewayError. */
export function understandChat(body: Fields): Understood {
  const messages = messagesOf(body['messages']);
  const asking = messages.findLastIndex(({ role }) => role === 'user');
  const { text, images: own } = contentOf(messages[asking] ?? {}, asking);
  const earlier = messages.slice(0, Math.max(asking, 0)).map((each, index) => contentOf(each, index).images);
  const images = own.length > 0 ? own : (earlier.findLast((each) => each.length > 0) ?? []);
  const places: Table = Object.fromEntries(images.map(([name]) => [name, { media: 'image' }]));
  const { image_config: config = {} } = body;
  if (!isRecord(config))
    throw invalidParameter('image_config', 'The parameter image_config must be an object.');
  const rest = Object.entries(body).filter(([name]) => !ofText.has(name));
  const sent = { ...Object.fromEntries([...rest, ...prefixed(config), ...images]), messages: text };
  const table = {
    messages: 'prompt',
    'image_config.image_size': 'size',
    'image_config.aspect_ratio': 'aspect_ratio',
  };
  const names = namesOf({ prefix: '', others: 'body' }, refusedWithoutTasks, table, places, imageFields);
  return understandImage(sent, names, { response_format: 'b64_json' });
}

function prefixed(config: Fields): readonly (readonly [string, unknown])[] {
  return Object.entries(config).map(([name, value]) => [`image_config.${name}`, value]);
}

function messagesOf(messages: unknown): readonly Fields[] {
  if (messages === undefined)
    throw new GatewayError('missing_parameter', 'The parameter messages is required.', { param: 'messages' });
  if (!Array.isArray(messages) || messages.length > messagesMax || !messages.every(isRecord))
    throw invalidParameter(
      'messages',
      `The parameter messages must be an array of at most ${messagesMax} objects.`,
    );
  return messages;
}

interface Content {
  readonly text: string;
  /** Pairs of a field name and an image. */
  readonly images: readonly (readonly [string, unknown])[];
}

function contentOf({ content, images: made = [] }: Fields, index: number): Content {
  const name = `messages[${index}]`;
  const earlier = Array.isArray(made)
    ? made.map((item: unknown, at) => [`${name}.images[${at}]`, item] as const)
    : [];
  if (typeof content === 'string') return { text: content, images: earlier };
  if (content === undefined || content === null) return { text: '', images: earlier };
  if (!Array.isArray(content))
    throw invalidParameter(`${name}.content`, `The parameter ${name}.content must be a text or an array.`);
  const parts = content.map((item: unknown, at) => readPart(item, `${name}.content[${at}]`));
  return {
    text: parts.flatMap((each) => each.text ?? []).join('\n'),
    images: [...parts.flatMap((each) => each.image ?? []), ...earlier],
  };
}

interface Part {
  readonly text?: string;
  readonly image?: readonly [readonly [string, unknown]];
}

function readPart(item: unknown, name: string): Part {
  if (isRecord(item) && item['type'] === 'text' && typeof item['text'] === 'string')
    return { text: item['text'] };
  if (isRecord(item) && item['type'] === 'image_url')
    return { image: [[`${name}.image_url`, item['image_url']]] };
  throw invalidParameter(
    `${name}.type`,
    `The parameter ${name}.type must be text (with its text) or image_url.`,
  );
}
