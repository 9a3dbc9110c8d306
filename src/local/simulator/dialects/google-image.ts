import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Desk, Submission } from '../desk.ts';
import type { Call } from '../dialect.ts';
import type { FaultSet } from '../fault.ts';
import { check, json, parseJson, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';
import { GoogleError, googleProblems, invalid, invalidArgument } from './google-error.ts';
import { googleImageModels, imageSize } from './google-models.ts';
import type { GoogleImageModel } from './google-models.ts';

/** Images of `generateContent`: in the answer itself, one for each call. */

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const;
const bodySchema = z.strictObject({
  contents: z
    .array(
      z.strictObject({
        role: z.enum(['user', 'model']).optional(),
        parts: z
          .array(
            z.union([
              z.strictObject({ text: z.string().min(1) }),
              z.strictObject({
                inlineData: z.strictObject({
                  mimeType: z.string().startsWith('image/'),
                  data: z.string().regex(/^[A-Za-z0-9+/]+=*$/, 'must be base64'),
                }),
              }),
            ]),
          )
          .min(1),
      }),
    )
    .min(1),
  generationConfig: z
    .strictObject({
      responseModalities: z.array(z.enum(['TEXT', 'IMAGE'])).default(['TEXT', 'IMAGE']),
      imageConfig: z
        .strictObject({
          aspectRatio: z.enum(ratios).optional(),
          imageSize: z.enum(['1K', '2K', '4K']).optional(),
        })
        .default({}),
      seed: z.int().optional(),
    })
    .prefault({}),
});
type Body = z.infer<typeof bodySchema>;

/** Words in which a blocked prompt is reported: with status 200, and without candidates. */
export class BlockedPrompt extends WireError {
  reply(): Reply {
    return answer({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: usage(0) }, '');
  }
}

export function createImage(desk: Desk, { request }: Call, model: string): Promise<Reply> {
  const body = check(bodySchema, parseJson(request.body), invalidArgument);
  const parts = body.contents.flatMap((content) => content.parts);
  const prompt = parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');
  return desk.create(request, { model, prompt }, async (submission) => {
    const known = googleImageModels[submission.model];
    if (known === undefined) throw googleProblems['not-found'];
    const images = parts.filter((part) => 'inlineData' in part).length;
    const mistake = findMistake(body, { prompt, images }, known);
    if (mistake !== undefined) throw new GoogleError(invalid, mistake);
    await desk.world.paint(submission.faults);
    if (submission.faults.has('failed')) throw googleProblems.internal;
    desk.countCreate(submission);
    return answer(candidates(desk, submission, { body, known }), submission.model);
  });
}

function findMistake(
  { generationConfig: { imageConfig } }: Body,
  { prompt, images }: { readonly prompt: string; readonly images: number },
  { sizes, imagesMax }: GoogleImageModel,
): string | undefined {
  const size = imageConfig.imageSize ?? '1K';
  if (prompt === '') return 'contents must have a text';
  if (images > imagesMax) return `at most ${imagesMax} images`;
  return sizes.includes(size) ? undefined : `imageSize is not supported: ${size}`;
}

function candidates(
  { world }: Desk,
  { faults }: Submission,
  { body, known }: { readonly body: Body; readonly known: GoogleImageModel },
): object {
  const { responseModalities, imageConfig } = body.generationConfig;
  const { imageSize: size = '1K', aspectRatio = '1:1' } = imageConfig;
  const reason = withoutImage(faults);
  if (reason !== undefined)
    return { candidates: [{ content: {}, finishReason: reason }], ...reportedUsage(0, faults) };
  const words = { text: 'Here is your image.' };
  const picture = (tint: number) => ({
    inlineData: {
      mimeType: 'image/png',
      data: world.renderBase64(
        world.image(imageSize(size, aspectRatio), { format: 'png', tint, marked: false }, faults),
      ),
    },
  });
  const isDrawn = responseModalities.includes('IMAGE') && !faults.has('missing-url');
  const parts = [
    ...(known.thinks && isDrawn
      ? [
          { text: 'A first draft.', thought: true },
          { ...picture(1), thought: true },
        ]
      : []),
    ...(responseModalities.includes('TEXT') || !isDrawn ? [words] : []),
    ...(isDrawn ? [picture(0)] : []),
  ];
  const tokens = isDrawn ? (size === '4K' ? 2000 : 1120) : 0;
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
    ...reportedUsage(tokens, faults),
  };
}

/** `item-moderation=RECITATION` names another reason. */
function withoutImage(faults: FaultSet): string | undefined {
  if (faults.has('item-moderation') || faults.has('moderation-in-task'))
    return faults.text('item-moderation') ?? 'IMAGE_SAFETY';
  return faults.has('item-error') ? 'NO_IMAGE' : undefined;
}

function reportedUsage(tokens: number, faults: FaultSet): object {
  return faults.has('missing-usage')
    ? {}
    : { usageMetadata: usage(Math.round(tokens * faults.usageFactor())) };
}

function usage(output: number): object {
  return { promptTokenCount: 12, candidatesTokenCount: output, totalTokenCount: output + 12 };
}

function answer(content: object, modelVersion: string): Reply {
  return json(200, { ...content, modelVersion, responseId: randomUUID() });
}
