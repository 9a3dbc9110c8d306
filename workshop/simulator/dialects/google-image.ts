import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { areaOf, base64, json, taken, WireError, word, type Call, type Reply } from '../engine.ts';
import { googleError, googleProblems, type GoogleDesk, type GoogleJob } from './google-task.ts';

/** Google's `generateContent` returns one image per call, directly in the response. */

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
      ...taken({ int: 'seed' }),
      responseModalities: z.array(z.enum(['TEXT', 'IMAGE'])).default(['TEXT', 'IMAGE']),
      imageConfig: z
        .strictObject({
          aspectRatio: z.string().default('1:1'),
          imageSize: word('512 1K 2K 4K').default('1K'),
        })
        .prefault({}),
    })
    .prefault({}),
});
type Config = z.infer<typeof bodySchema>['generationConfig'];

/** If a prompt is blocked, the response has status 200 and no candidates. */
class BlockedPrompt extends WireError {
  reply(): Reply {
    return answer({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: usage(0) }, '');
  }
}
const moderated = new BlockedPrompt('');

export function createImage(desk: GoogleDesk, { request }: Call, model: string): Promise<Reply> {
  const { contents, generationConfig: config } = desk.read(bodySchema, request);
  const parts = contents.flatMap((content) => content.parts);
  const prompt = parts.flatMap((each) => ('text' in each ? [each.text] : [])).join('\n');
  return desk.create(request, { model, prompt, moderated }, async (submission) => {
    if (!/^gemini-.*(?:image|banana)/.test(submission.model)) throw googleProblems['not-found'];
    if (submission.faults.has('failed')) throw googleProblems.internal;
    const { imageSize, aspectRatio } = config.imageConfig;
    refuseForeign(config, submission.model);
    const side = imageSize === '512' ? 512 : Number.parseInt(imageSize, 10) * 1024;
    const size = areaOf(side, aspectRatio);
    const about = { api: 'veo', name: '', samples: 0, delivery: 'inline', bucket: undefined } as const;
    const detail = { ...size, ...about, seconds: 0, images: 1, userMetadata: undefined };
    const job = await desk.paint(submission, { id: randomUUID(), detail });
    return answer(candidates(job, config), submission.model);
  });
}

const longRatios: ReadonlySet<string> = new Set(['1:4', '4:1', '1:8', '8:1']);

function refuseForeign({ imageConfig: { imageSize, aspectRatio } }: Config, model: string): void {
  const isLite = model.includes('-lite');
  const isSecond = model.startsWith('gemini-3.1-');
  const isSizeForeign = isLite ? imageSize !== '1K' : imageSize === '512' && !isSecond;
  if (isSizeForeign) throw googleError(400, 'INVALID_ARGUMENT', `image_size ${imageSize} is not supported.`);
  if (longRatios.has(aspectRatio) && !isSecond)
    throw googleError(400, 'INVALID_ARGUMENT', `aspect_ratio ${aspectRatio} is not supported.`);
}

/** `item-moderation=RECITATION` selects a different reason for a response without images. */
function candidates(job: GoogleJob, { responseModalities, imageConfig }: Config): object {
  const { faults, model } = job;
  const counted = (tokens: number) => job.reported(usage(Math.round(job.billed(tokens))));
  const isRefused = faults.has('item-moderation') || faults.has('moderation-in-task');
  if (isRefused || faults.has('item-error')) {
    const finishReason = isRefused ? (faults.text('item-moderation') ?? 'IMAGE_SAFETY') : 'NO_IMAGE';
    return { candidates: [{ content: {}, finishReason }], usageMetadata: counted(0) };
  }
  const picture = (tint: number) => ({ inlineData: { mimeType: 'image/png', data: job.picture({ tint }) } });
  const isDrawn = responseModalities.includes('IMAGE') && !faults.has('missing-url');
  // The Pro model returns drafts as `thought` parts.
  const drafts = [
    { text: 'A first draft.', thought: true },
    { ...picture(1), thought: true },
  ];
  const parts = [
    ...(model.includes('-pro') && isDrawn ? drafts : []),
    ...(responseModalities.includes('TEXT') || !isDrawn ? [{ text: 'Here is your image.' }] : []),
    ...(isDrawn ? [picture(0)] : []),
  ];
  const tokens = isDrawn ? (imageConfig.imageSize === '4K' ? 2000 : 1120) : 0;
  const content = { role: 'model', parts };
  return { candidates: [{ content, finishReason: 'STOP' }], usageMetadata: counted(tokens) };
}

function usage(output: number): object {
  return { promptTokenCount: 12, candidatesTokenCount: output, totalTokenCount: output + 12 };
}

function answer(content: object, modelVersion: string): Reply {
  return json(200, { ...content, modelVersion, responseId: randomUUID() });
}
