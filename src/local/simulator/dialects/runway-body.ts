import { z } from 'zod';

const uri = z.string().min(1);
const text = z.string();
const references = z.array(z.strictObject({ uri, tag: text.optional(), subject: text.optional() })).max(16);
const at = z.number().nonnegative();
const keyframe = z.strictObject({
  uri,
  seconds: at.optional(),
  at: at.optional(),
  range: z.strictObject({ start_seconds: at, end_seconds: at }).optional(),
});
/** The fields of every path and model; which of them one has, runway-models.ts says. */
export const runwayBody = z.strictObject({
  model: text.min(1),
  promptText: text.optional(),
  promptImage: z
    .union([uri, z.array(z.strictObject({ uri, position: z.enum(['first', 'last']).optional() })).min(1)])
    .optional(),
  promptVideo: uri.optional(),
  videoUri: uri.optional(),
  ratio: z
    .union([z.string().regex(/^\d+:\d+$/, 'must be two pixel counts'), z.enum(['auto_1k', 'auto_2k'])])
    .optional(),
  resolution: text.optional(),
  targetAspectRatio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4', '21:9']).optional(),
  duration: z.number().optional(),
  seed: z.int().min(0).max(4_294_967_295).optional(),
  contentModeration: z.strictObject({ publicFigureThreshold: z.enum(['auto', 'low']).optional() }).optional(),
  negativePrompt: text.optional(),
  audio: z.boolean().optional(),
  references: references.optional(),
  referenceImages: references.optional(),
  referenceVideos: z.array(z.strictObject({ type: z.literal('video'), uri })).optional(),
  referenceAudio: z.array(z.strictObject({ type: z.literal('audio'), uri })).optional(),
  keyframes: z.array(keyframe).max(5).optional(),
  outputFormat: text.optional(),
  outputCount: z.union([z.literal(1), z.literal(4)]).optional(),
  quality: text.optional(),
  background: text.optional(),
});
export type RunwayBody = z.infer<typeof runwayBody>;
