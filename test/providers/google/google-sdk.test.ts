import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { markerOf } from '../../../src/base/ids.ts';
import { google } from '../../../src/providers/google/index.ts';
import { findContradictions, type SdkField, type SdkTypes } from '../../support/sdk-types.ts';
import { canned, fixture, providerContext, submitContext, videoIssue, videoRequest } from '../support.ts';
import { useSimulator } from '../use-simulator.ts';

/** What the adapter sends to Omni must match the interaction types in `@google/genai`. */

const require = createRequire(import.meta.url);
const file = join(dirname(require.resolve('@google/genai')), 'node.d.ts');
const declared = readFileSync(file, 'utf8').replaceAll('\r', '');

function wordsOf(type: string): string {
  const [, alias] =
    new RegExp(`^declare type ${type.replace('$', '\\$')} = ("[^;]*);`, 'm').exec(declared) ?? [];
  return (alias ?? type).replaceAll(/ \| (?:undefined|\(string & \{\}\))/g, '').replaceAll('"', "'");
}

function fieldsOf(type: string): ReadonlyMap<string, SdkField> {
  const [, body = ''] = new RegExp(`^declare type ${type} = \\{\\n([^]*?)^\\};`, 'm').exec(declared) ?? [];
  const lines = body.matchAll(/^ {4}(\w+)(\??): (.+?)(?: \| undefined)?;?$/gm);
  return new Map(
    [...lines].map(([, name = '', mark, said = '']) => {
      const type = said === '{' || ['input', 'model'].includes(name) ? 'unknown' : wordsOf(said);
      return [
        name,
        { optional: mark === '?', type: type.startsWith('ResponseFormat') ? 'VideoResponseFormat_2' : type },
      ];
    }),
  );
}

const types: SdkTypes = new Map(
  [
    'CreateModelInteraction',
    'VideoResponseFormat_2',
    'GenerationConfig_2',
    'VideoConfig',
    'WebhookConfig_2',
  ].map((type) => [type, fieldsOf(type)]),
);
const marker = markerOf({ task: 'task_0123456789ABCDEFGHIJKL', n: 12 });
const video = google.video;

async function sentTo(model: string, request: ReturnType<typeof videoRequest>): Promise<object> {
  const { request: send, sent } = canned({ json: fixture('google/interaction-created') });
  await video?.submit(
    request,
    submitContext({ request: send, model, marker, callbackUrl: 'https://gw.example/cb' }),
  );
  return sent[0]?.json ?? {};
}

const picture = 'data:image/png;base64,QUJD';
const inputs = [
  {},
  { firstFrame: picture },
  { references: [picture] },
  { videos: ['https://i.example/a.mp4'] },
];
const others = [
  {},
  ...['edit', 'extend', 'upscale'].map((task) => ({ extra: { task } })),
  ...['360p', '720p', '1080p', '4k', '4K'].map((resolution) => ({ resolution })),
  ...['16:9', '9:16', '1:1', 'adaptive'].map((ratio) => ({ ratio })),
  ...[3, 5, 10, 15].map((duration) => ({ duration })),
];

it.each(['gemini-omni-1.1-flash', 'gemini-omni-1.2-flash'])(
  '%s gets only what @google/genai declares',
  async (model) => {
    const requests = inputs
      .flatMap((input) => others.map((other) => videoRequest({ ...input, ...other })))
      .filter((request) => video !== undefined && videoIssue(video, request, model) === undefined);
    expect(requests.length).toBeGreaterThan(20);
    const bodies = await Promise.all(requests.map((request) => sentTo(model, request)));
    const wrong = bodies.flatMap((body) => findContradictions(body, 'CreateModelInteraction', types));
    expect([...new Set(wrong)]).toEqual([]);
  },
);

it('the label is of the alphabet that @google/genai names', async () => {
  expect(declared.replaceAll(/\n\s*\* ?/g, ' ')).toContain(
    'Label keys and values can be no longer than 63 characters (Unicode codepoints) and can only contain lowercase letters, numeric characters, underscores, and dashes.',
  );
  const { labels } = { labels: {}, ...(await sentTo('gemini-omni-1.2-flash', videoRequest({}))) };
  expect(Object.values(labels)).toEqual([expect.stringMatching(/^[a-z0-9_-]{1,63}$/)]);
});

const simulator = useSimulator({ renderSeconds: 80 });

it.each(
  ['', '[sim:failed]', '[sim:moderation-in-task]'].flatMap((fault) => [fault, `${fault}[sim:docs-shape]`]),
)('the simulator’s interactions have only fields that @google/genai declares: %s', async (fault) => {
  const answers: unknown[] = [];
  const context = providerContext({
    baseUrl: `${simulator.url}/google/v1beta`,
    model: 'gemini-omni-1.1-flash',
    request: async (asked) => {
      const answer = await simulator.request(asked);
      answers.push(answer.json);
      return answer;
    },
  });
  const submitted = await video?.submit(
    videoRequest({ prompt: `a boat ${fault}` }),
    submitContext({ ...context, marker }),
  );
  simulator.control.advance(100);
  await video?.status(submitted?.operation ?? { id: '' }, context);
  expect(answers).toHaveLength(2);
  for (const interaction of answers) {
    expect(undeclared(interaction, 'Interaction')).toEqual([]);
    const { steps = [], errors = [] } = z
      .object({ steps: z.array(z.unknown()).optional(), errors: z.array(z.unknown()).optional() })
      .parse(interaction);
    expect(steps.flatMap((step) => undeclared(step, 'ModelOutputStep'))).toEqual([]);
    expect(errors.flatMap((error) => undeclared(error, 'ErrorT'))).toEqual([]);
  }
});

function undeclared(value: unknown, type: string): string[] {
  const fields = fieldsOf(type);
  expect(fields.size).toBeGreaterThan(1);
  return Object.keys(z.record(z.string(), z.unknown()).parse(value)).filter((name) => !fields.has(name));
}
