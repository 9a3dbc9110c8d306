import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Desk, Submission } from '../desk.ts';
import type { Call } from '../dialect.ts';
import { areaOf } from '../sizes.ts';
import { check, json, parseJson, WireError } from '../wire.ts';
import type { Reply } from '../wire.ts';
import { base64, googleProblems, invalidArgument } from './google-task.ts';

/** Images of `generateContent`: in the answer itself, one for each call. */

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const;
const part = z.union([
  z.strictObject({ text: z.string().min(1) }),
  z.strictObject({ inlineData: z.strictObject({ mimeType: z.string().startsWith('image/'), data: base64 }) }),
]);
const bodySchema = z.strictObject({
  contents: z
    .array(z.strictObject({ role: z.enum(['user', 'model']).optional(), parts: z.array(part).min(1) }))
    .min(1),
  generationConfig: z
    .strictObject({
      responseModalities: z.array(z.enum(['TEXT', 'IMAGE'])).default(['TEXT', 'IMAGE']),
      imageConfig: z
        .strictObject({
          aspectRatio: z.enum(ratios).default('1:1'),
          imageSize: z.enum(['1K', '2K', '4K']).default('1K'),
        })
        .prefault({}),
      seed: z.int().optional(),
    })
    .prefault({}),
});
type Config = z.infer<typeof bodySchema>['generationConfig'];

/** Words in which a blocked prompt is reported: with status 200, and without candidates. */
export class BlockedPrompt extends WireError {
  reply(): Reply {
    return answer({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: usage(0) }, '');
  }
}

export function createImage(desk: Desk, { request }: Call, model: string): Promise<Reply> {
  const body = check(bodySchema, parseJson(request.body), invalidArgument);
  const parts = body.contents.flatMap((content) => content.parts);
  const prompt = parts.flatMap((each) => ('text' in each ? [each.text] : [])).join('\n');
  return desk.create(request, { model, prompt }, async (submission) => {
    if (!/^gemini-.*(?:image|banana)/.test(submission.model)) throw googleProblems['not-found'];
    await desk.world.paint(submission.faults);
    if (submission.faults.has('failed')) throw googleProblems.internal;
    desk.countCreate(submission);
    return answer(candidates(desk, submission, body.generationConfig), submission.model);
  });
}

/** `item-moderation=RECITATION` names another reason of an answer without an image. */
function candidates({ world }: Desk, { faults, model }: Submission, config: Config): object {
  const { responseModalities, imageConfig } = config;
  const reported = (tokens: number) =>
    faults.has('missing-usage') ? {} : { usageMetadata: usage(Math.round(tokens * faults.usageFactor())) };
  const isRefused = faults.has('item-moderation') || faults.has('moderation-in-task');
  if (isRefused || faults.has('item-error')) {
    const finishReason = isRefused ? (faults.text('item-moderation') ?? 'IMAGE_SAFETY') : 'NO_IMAGE';
    return { candidates: [{ content: {}, finishReason }], ...reported(0) };
  }
  const size = areaOf(Number.parseInt(imageConfig.imageSize, 10) * 1024, imageConfig.aspectRatio);
  const picture = (tint: number) => {
    const medium = world.image(size, { format: 'png', tint, marked: false }, faults);
    return { inlineData: { mimeType: 'image/png', data: world.renderBase64(medium) } };
  };
  const isDrawn = responseModalities.includes('IMAGE') && !faults.has('missing-url');
  // Pro shows its drafts as thoughts.
  const thoughts = [
    { text: 'A first draft.', thought: true },
    { ...picture(1), thought: true },
  ];
  const parts = [
    ...(model.includes('-pro') && isDrawn ? thoughts : []),
    ...(responseModalities.includes('TEXT') || !isDrawn ? [{ text: 'Here is your image.' }] : []),
    ...(isDrawn ? [picture(0)] : []),
  ];
  const tokens = isDrawn ? (imageConfig.imageSize === '4K' ? 2000 : 1120) : 0;
  return { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }], ...reported(tokens) };
}

function usage(output: number): object {
  return { promptTokenCount: 12, candidatesTokenCount: output, totalTokenCount: output + 12 };
}

function answer(content: object, modelVersion: string): Reply {
  return json(200, { ...content, modelVersion, responseId: randomUUID() });
}
