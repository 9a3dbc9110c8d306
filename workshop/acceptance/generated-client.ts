/** A program that is compiled with the generated types and run as `client.ts URL KEY IMAGE-MODEL VIDEO-MODEL`. */
export const typescriptClient = `import createClient from 'openapi-fetch';
import type { components, paths, webhooks } from './types.d.ts';

type Images = components['schemas']['Images'];
type Create = paths['/v1/videos/generations']['post'];
type Video = Create['requestBody']['content']['application/json'];
type Ended = webhooks['taskEnded']['post']['requestBody']['content']['application/json'];
type Task = paths['/v1/videos/generations/{task_id}']['get']['responses'][200]['content']['application/json'];
type Image = components['schemas']['ImageGenerationRequest'];

// These lines only check what the types allow and reject. They are never called.
export const ended = ({ status, data }: Ended): string => \`\${status} \${data[0]?.url ?? ''}\`;
// @ts-expect-error: only a task that succeeded has a video
export const early = (task: Task): string => task.video_url;
// @ts-expect-error: a misspelt field
export const misspeltVideo: Video = { model: 'm', prompt: 'p', resolutoin: '480p' };
// @ts-expect-error: a misspelt field
export const misspeltImage: Image = { model: 'm', prompt: 'p', qualty: 'high' };
// @ts-expect-error: the prompt is required
export const incomplete: Video = { model: 'm' };

const [baseUrl = '', key = '', model = '', videoModel = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });

const created = await client.POST('/v1/videos/generations', {
  body: { model: videoModel, prompt: 'a paper boat', metadata: '{"seed":7}' },
});
if (created.data === undefined) throw new Error(created.error.error.message);
const params = { path: { task_id: created.data.task_id }, query: { wait: 30 } };
for (;;) {
  const { data: task } = await client.GET('/v1/videos/generations/{task_id}', { params });
  if (task?.status === 'failed') throw new Error(task.error.message);
  if (task?.status !== 'succeeded') continue;
  if (!task.video_url.startsWith('http') || task.duration <= 0) throw new Error('the video has no address');
  break;
}

function imagesOf(answer: { data?: unknown; error?: unknown }): Images {
  const { data } = answer;
  if (typeof data === 'object' && data !== null && 'usage' in data) return data as Images;
  throw new Error(\`no images: \${JSON.stringify(answer.error)}\`);
}

const image = imagesOf(
  await client.POST('/v1/images/generations', { body: { model, prompt: 'a red cube' } }),
);
const source = \`data:image/png;base64,\${image.data[0]?.b64_json ?? ''}\`;
const edit = imagesOf(
  await client.POST('/v1/images/edits', { body: { model, prompt: 'blue', image: source } }),
);
if (edit.usage.input_tokens <= 0) throw new Error('the edit has no input');
const refused = await client.POST('/v1/images/generations', { body: { model: 'nothing', prompt: 'p' } });
if (refused.error?.error.code !== 'model_not_found') throw new Error('the error cannot be read');
process.stdout.write('openapi-fetch: a video, an image, an edit and an error.\\n');
`;
