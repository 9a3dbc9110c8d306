import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { sendImages, sendJson, startImageUpstream } from '../images/support.ts';
import type { ImageUpstream, UpstreamCall } from '../images/support.ts';

/**
 * An upstream with the document's own interface. It keeps every request, so that tests can check each field that a
 * caller sets. Videos are ready immediately.
 */
export interface SameInterface extends ImageUpstream {
  videoCreate(prompt: string): Promise<Record<string, any>>;
}

const videoPath = '/video.mp4';

export async function startSameInterface(): Promise<SameInterface> {
  const upstream = await startImageUpstream();
  upstream.answer = answerAsDocumented;
  return Object.assign(upstream, {
    async videoCreate(prompt: string) {
      let found: UpstreamCall | undefined;
      await expect
        .poll(() => (found = upstream.calls.find(({ json }) => json['prompt'] === prompt)))
        .toBeDefined();
      return found?.json ?? {};
    },
  });
}

export function answerAsDocumented(call: UpstreamCall, response: ServerResponse): void {
  if (call.path.includes('/images/')) return sendImages(call, response);
  if (call.path === videoPath) return void response.end('a video');
  if (call.headers['content-type'] !== undefined)
    return sendJson(response, 200, { id: 'task_up', task_id: 'task_up', status: 'submitted' });
  // The link must work, because the gateway would retry a broken link for a minute.
  const link = `http://${call.headers.host}${videoPath}`;
  sendJson(response, 200, {
    id: 'task_up',
    object: 'video.generation.task',
    status: 'succeeded',
    data: [{ url: link }],
    video_url: link,
    duration: 5,
    usage: { completion_tokens: 100_000, total_tokens: 100_000 },
  });
}

/**
 * `clip` and `picture` are on the upstream with the same interface. All other models use the simulator in their
 * vendor's own format.
 */
export function contractYaml(sameInterfaceUrl: string): string {
  return `
currency: USD
channels:
  - id: same
    provider: gateway
    base_url: ${sameInterfaceUrl}
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 500, polls_per_second: 500 }
    models: { clip: { upstream: up-clip }, plain: { upstream: up-plain }, picture: { upstream: up-picture } }
  - id: ark
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 500, polls_per_second: 500 }
    models:
      seedance: { upstream: dreamina-seedance-2-0-260128 }
      seedream: { upstream: doubao-seedream-4-0-250828 }
  - id: openai
    provider: openai
    base_url: \${SIMULATOR_URL}/openai/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    models: { gpt-image: { upstream: gpt-image-1.5 }, dall-e: { upstream: dall-e-3 } }
  - id: dashscope
    provider: dashscope
    base_url: \${SIMULATOR_URL}/dashscope/api/v1
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 500, polls_per_second: 500 }
    models: { wan-image: { upstream: wanx2.1-t2i-turbo } }
models:
  - id: clip
    kind: video
    input_types: [text_to_video, first_last_frame, reference]
    resolutions: [720p, 480p, 1080p]
    ratios: ["16:9", "9:16", "1:1"]
    durations: { min: 2, max: 12, default: 5, auto: true }
    inputs: { images: { max: 9 }, videos: { max: 3 }, audios: { max: 3 } }
    expected_seconds: 1
    price: { lines: [{ measure: call, price: "0.10" }] }
  - id: plain
    kind: video
    input_types: [text_to_video]
    resolutions: [720p]
    ratios: ["16:9"]
    durations: { min: 5, max: 5, default: 5 }
    unsupported: { ratio: ignore }
    expected_seconds: 1
    price: { lines: [{ measure: call, price: "0.10" }] }
  - id: seedance
    kind: video
    input_types: [text_to_video, first_last_frame, reference]
    resolutions: [720p, 480p, 1080p]
    ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", adaptive]
    durations: { min: 4, max: 15, default: 5, auto: true }
    inputs: { images: { max: 9 }, videos: { max: 3 }, audios: { max: 3 } }
    expected_seconds: 1
    price:
      lines:
        - { measure: million_tokens, when: { video_input: true }, price: "4.30" }
        - { measure: million_tokens, price: "7.00" }
  - { id: picture, kind: image, sizes: [auto], inputs: { images: { max: 16 } }, n: { max: 10 }, price: { lines: [{ measure: image, price: "0.04" }] } }
  - { id: gpt-image, kind: image, sizes: [auto], inputs: { images: { max: 16 } }, n: { max: 10 }, price: { lines: [{ measure: image, price: "0.04" }] } }
  - { id: dall-e, kind: image, n: { max: 4 }, price: { lines: [{ measure: image, price: "0.08" }] } }
  - { id: seedream, kind: image, sizes: [1K, 2K], inputs: { images: { max: 14 } }, n: { max: 4 }, price: { lines: [{ measure: image, price: "0.03" }] } }
  - { id: wan-image, kind: image, n: { max: 4 }, expected_seconds: 1, price: { lines: [{ measure: image, price: "0.02" }] } }
`;
}
