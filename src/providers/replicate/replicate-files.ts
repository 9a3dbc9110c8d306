import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { unreadableError } from '../shared/http-outcome.ts';
import type { Provider, ProviderContext, UploadedFile, UploadedMedia } from '../provider.ts';
import { callReplicate } from './replicate-call.ts';

/** Predictions of the same account refer to an uploaded file by `urls.get`. Source: the vendor's SDK. */

const fileSchema = z.object({
  id: z.string().min(1).max(200),
  urls: z.object({ get: z.url() }),
  expires_at: z.string().optional().catch(undefined),
});

export async function uploadToReplicate(
  { blob, name }: UploadedFile,
  context: ProviderContext,
): Promise<UploadedMedia> {
  const form = new FormData();
  form.append('content', blob, name);
  const answer = await callReplicate({ method: 'POST', path: '/files', form }, context);
  const file = fileSchema.safeParse(answer.json).data;
  if (file === undefined) throw unreadableError(answer, 'it is not a file');
  const expiresAt = Date.parse(file.expires_at ?? '');
  return {
    id: file.id,
    url: file.urls.get,
    ...defined({ expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt }),
  };
}

export const removeReplicateFile: NonNullable<Provider['removeUpload']> = async (id, context) => {
  const path = `/files/${encodeURIComponent(id)}`;
  await callReplicate({ method: 'DELETE', path, isGone: true }, context);
};
