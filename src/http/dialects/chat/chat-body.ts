import { z } from 'zod';
import { isRecord } from '../../../base/is-record.ts';
import { invalidParameter } from '../../../errors/errors.ts';
import { imageFields, namesOf } from '../../../intake/names.ts';
import { messagesMax } from '../../../intake/parts.ts';
import type { Understood } from '../../../intake/understand.ts';
import { exampleModels } from '../../example-models.ts';
import { understandImage } from '../../images/image-body.ts';
import { refusedWithoutPartials, refusedWithoutTasks } from '../waiting-image-route.ts';

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
    .meta({ description: 'The images from an earlier response.' }),
});

export const chatBody = z
  .looseObject({
    model: z.string().meta({ description: 'A model that generates images.' }),
    messages: z.array(message).max(messagesMax).meta({
      description:
        'The user’s last message is the prompt. The images to edit come from that message or, if it has none, from the latest message that does. The rest of the conversation is ignored.',
    }),
    modalities: z.array(z.string()).optional(),
    image_config: z
      .looseObject({ aspect_ratio: z.string().optional(), image_size: z.string().optional() })
      .optional(),
    stream: z
      .boolean()
      .optional()
      .meta({ description: 'If true, the response is a stream in which each image is one chunk.' }),
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

const ofText = new Set([
  'modalities',
  'image_config',
  'stream_options',
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'max_completion_tokens',
  'presence_penalty',
  'frequency_penalty',
]);

const names = namesOf(
  { prefix: '', others: 'body' },
  refusedWithoutTasks,
  refusedWithoutPartials,
  {
    messages: { messages: true },
    'image_config.image_size': 'size',
    'image_config.aspect_ratio': 'aspect_ratio',
  },
  imageFields,
);

export function understandChat(body: Fields): Understood {
  const { image_config: config = {} } = body;
  if (!isRecord(config))
    throw invalidParameter('image_config', 'The parameter image_config must be an object.');
  const rest = Object.entries(body).filter(([name]) => !ofText.has(name));
  const settings = Object.entries(config).map(([name, value]) => [`image_config.${name}`, value] as const);
  return understandImage(Object.fromEntries([...rest, ...settings]), names, { response_format: 'b64_json' });
}
