import { z } from 'zod';
import { parseInput } from '../validation.ts';
import { videoBodySchema } from '../videos/video-body.ts';
import type { VideoBody } from '../videos/video-body.ts';
import type { TheirName } from './their-words.ts';

const fromParts = z.object({ body: videoBodySchema.pick({ metadata: true }) });

/** The body of our own create, whose metadata is read as there. Throws GatewayError, which names our fields. */
export function withMetadata(
  body: Omit<VideoBody, 'metadata'>,
  metadata: Readonly<Record<string, unknown>>,
): VideoBody {
  const read = parseInput(fromParts, { params: {}, query: {}, body: { metadata } });
  return { ...body, ...read.body };
}

/** The frames of a dialect's request of flat fields. */
export type FlatFrames = Readonly<Record<'firstFrame' | 'lastFrame', string | undefined>>;

export function flatImages({ firstFrame, lastFrame }: FlatFrames, references: readonly string[] = []) {
  return [
    ...(firstFrame === undefined ? [] : [{ url: firstFrame, role: 'first_frame' as const }]),
    ...(lastFrame === undefined ? [] : [{ url: lastFrame, role: 'last_frame' as const }]),
    ...references.map((url) => ({ url, role: 'reference' as const })),
  ];
}

/** What a dialect calls these. */
export interface FlatNames {
  readonly model: string;
  readonly callback: string;
  /** Before every other name: `input.`, or nothing. */
  readonly prefix: string;
  readonly firstFrame: string;
  readonly lastFrame: string;
  readonly images: string;
  readonly videos: string;
  readonly audios: string;
}

/** `images[1]` → `input.last_frame_image`, `metadata.seed` → `input.seed`. */
export function flatName(names: FlatNames, { firstFrame, lastFrame }: FlatFrames): TheirName {
  const frames = [
    ...(firstFrame === undefined ? [] : [names.firstFrame]),
    ...(lastFrame === undefined ? [] : [names.lastFrame]),
  ];
  return (ours) => {
    if (ours === 'metadata.callback_url') return names.callback;
    const name = ours.replace(/^metadata\./, '');
    if (name === 'model') return names.model;
    const [, kind, index = ''] = /^(images|videos|audios)(?:\[(\d+)\])?$/.exec(name) ?? [];
    if (kind === 'images') return `${names.prefix}${frames[Number(index)] ?? names.images}`;
    if (kind === 'videos' || kind === 'audios') return `${names.prefix}${names[kind]}`;
    return name === '' ? '' : `${names.prefix}${name === 'ratio' ? 'aspect_ratio' : name}`;
  };
}
