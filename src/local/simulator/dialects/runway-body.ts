import { z } from 'zod';

const uri = z
  .string()
  .max(5_242_880)
  .regex(/^(?:https:\/\/|runway:\/\/|data:[\w.+/-]+;base64,)./, 'Only HTTPS URLs are allowed.');
const text = z.string();
const references = z.array(z.strictObject({ uri, tag: text.optional(), subject: text.optional() })).max(16);
const at = z.number().nonnegative();
const keyframe = z.strictObject({
  uri,
  seconds: at.optional(),
  at: at.optional(),
  range: z.strictObject({ start_seconds: at, end_seconds: at }).optional(),
});
const outputFormats = [
  'mp4', 'prores', 'png_sequence', 'hdr10', 'hlg', 'sdr_rec709_10bit', 'hdr_pq_12bit_master', 'hdr_prores',
  'hdr_png_sequence', 'hdr_exr_sequence', 'hdr_exr_acescg_sequence_1_3', 'hdr_exr_acescg_sequence_2_0', 'png', 'jpeg',
  'webp',
] as const; // prettier-ignore
/** The fields of every path and model, by the vendor's SDK. */
export const runwayBody = z.strictObject({
  model: text.min(1),
  promptText: text.min(1).optional(),
  promptImage: z
    .union([uri, z.array(z.strictObject({ uri, position: z.enum(['first', 'last']).optional() })).min(1)])
    .optional(),
  promptVideo: uri.optional(),
  videoUri: uri.optional(),
  ratio: z
    .string()
    .regex(/^(?:\d+:\d+|adaptive|auto(?:_\w+)?)$/, 'Invalid enum value')
    .optional(),
  resolution: z
    .string()
    .regex(/^\d+[kp]$/i, 'Invalid enum value')
    .optional(),
  targetAspectRatio: z.enum(['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9']).optional(),
  duration: z.union([z.number(), z.literal('auto')]).optional(),
  seed: z.int().min(0).max(4_294_967_295).optional(),
  contentModeration: z.strictObject({ publicFigureThreshold: z.enum(['auto', 'low']).optional() }).optional(),
  negativePrompt: text.optional(),
  audio: z.boolean().optional(),
  references: references.optional(),
  referenceImages: references.optional(),
  referenceVideos: z.array(z.strictObject({ type: z.literal('video').optional(), uri })).optional(),
  referenceAudio: z.array(z.strictObject({ type: z.literal('audio'), uri })).optional(),
  keyframes: z.array(keyframe).max(5).optional(),
  outputFormat: z.enum(outputFormats).optional(),
  proresProfile: text.optional(),
  promptExpansionMode: z.enum(['disabled', 'balanced', 'quality']).optional(),
  mode: z.enum(['reference', 'extend', 'edit']).optional(),
  outputCount: z.int().min(1).max(10).optional(),
  quality: z.enum(['low', 'medium', 'high', 'auto', 'xhigh', 'max']).optional(),
  background: z.enum(['transparent', 'opaque', 'auto']).optional(),
  grounding: z.boolean().optional(),
  edit: z.boolean().optional(),
});
export type RunwayBody = z.infer<typeof runwayBody>;
